#include "weigh/unicode.h"

#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "unicode_tables.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace weigh::unicode {
namespace {

static_assert(std::string_view(kVersion) == tables::kVersion);

constexpr char32_t kEnd = 0x110000, kCapitalSigma = 0x3A3, kSigma = 0x3C3, kFinalSigma = 0x3C2;
constexpr std::size_t kStride = 16;

// A value for every code point. The blocks that were never written to are one.
template <class Value>
class Stages {
public:
    Value operator[](char32_t c) const {
        return c < kEnd ? values_[std::size_t{blocks_[c >> kBits]} << kBits | (c & kMask)] : Value{};
    }

    Value& at(char32_t c) {
        std::uint16_t& block = blocks_[c >> kBits];
        if (block == 0) {
            block = static_cast<std::uint16_t>(values_.size() >> kBits);
            values_.resize(values_.size() + (std::size_t{1} << kBits));
        }
        return values_[std::size_t{block} << kBits | (c & kMask)];
    }

private:
    static constexpr int kBits = 7;
    static constexpr char32_t kMask = (1 << kBits) - 1;

    std::array<std::uint16_t, (kEnd >> kBits)> blocks_{};
    std::vector<Value> values_ = std::vector<Value>(std::size_t{1} << kBits);
};

// Call visit(code point) for all in stretches of gap and length.
template <class Visit>
void each(std::span<const std::uint32_t> stretches, Visit visit) {
    char32_t c = 0;
    for (std::size_t i = 0; i < stretches.size(); i += 2) {
        c += stretches[i];
        for (const char32_t behind = c + stretches[i + 1]; c != behind; ++c) visit(c);
    }
}

// Call visit(code point, targets) for all in runs, and in a list of code point, number of targets, targets.
template <class Visit>
void each(std::span<const tables::Run> runs, std::span<const std::uint32_t> several, Visit visit) {
    for (const tables::Run& run : runs) {
        std::uint32_t target = run.target;
        for (std::uint32_t i = 0; i < run.count; ++i, target += static_cast<std::uint32_t>(run.target_step))
            visit(run.first + i * run.step, std::span<const std::uint32_t>(&target, 1));
    }
    for (; !several.empty(); several = several.subspan(2 + several[1]))
        visit(several[0], several.subspan(2, several[1]));
}

enum Property : std::uint8_t { kWord = 1, kSpace = 2, kCased = 4, kIgnorable = 8 };

std::uint8_t properties(char32_t c) {
    static const auto all = [] {
        Stages<std::uint8_t> result;
        each(tables::kWord, [&](char32_t member) { result.at(member) |= kWord; });
        each(tables::kSpace, [&](char32_t member) { result.at(member) |= kSpace; });
        each(tables::kCased, [&](char32_t member) { result.at(member) |= kCased; });
        each(tables::kIgnorable, [&](char32_t member) { result.at(member) |= kIgnorable; });
        return result;
    }();
    return all[c];
}

// What every code point becomes, as pieces of UTF-8.
class Pieces {
public:
    // What two bytes become, if that is at most two; what is longer, or asks for its neighbours, is `kSlow`.
    struct Pair {
        char bytes[2] = {};
        std::uint8_t size = kSlow;
    };
    static constexpr std::uint8_t kSlow = 3;
    static constexpr std::uint32_t kUnchanged = 0, kSigmaPiece = 1;

    explicit Pieces(Folding folding) : hangul_(folding.strip_accents) {
        if (folding.strip_accents) {
            each(tables::kGone, [&](char32_t c) { add(c, {}); });
            each(tables::kBare, tables::kBareSeveral, [&](char32_t c, auto targets) { add(c, targets); });
        }
        if (folding.lower) {
            each(tables::kLower, tables::kLowerSeveral, [&](char32_t c, auto targets) { add(c, targets); });
            where_.at(kCapitalSigma) = kSigmaPiece;
        }
        for (char32_t c = 0x80; c < 0x800; ++c) pairs_[c] = pair(c);
    }

    const Pair& pair_at(std::size_t c) const { return pairs_[c]; }
    std::uint32_t where(char32_t c) const { return where_[c]; }
    bool splits(char32_t c) const { return hangul_ && c - 0xAC00 < 11172; }
    std::string_view text(std::uint32_t where) const { return {pool_.data() + (where >> 6), where & 63}; }

private:
    // A target may have a piece itself: what becomes of the small letter becomes of the capital too.
    void add(char32_t c, std::span<const std::uint32_t> targets) {
        static_assert(tables::kLongest < 64);
        const std::size_t start = pool_.size();
        for (const std::uint32_t target : targets) {
            const std::uint32_t piece = where_[target];
            if (piece == kUnchanged) append(pool_, target);
            else pool_ += std::string(text(piece));
        }
        where_.at(c) = static_cast<std::uint32_t>(start << 6 | (pool_.size() - start));
    }

    Pair pair(char32_t c) const {
        std::string result(text(where_[c]));
        if (where_[c] == kUnchanged) append(result, c);
        if (where_[c] == kSigmaPiece || result.size() > 2) return {};
        Pair pair{.size = static_cast<std::uint8_t>(result.size())};
        result.copy(pair.bytes, 2);
        return pair;
    }

    bool hangul_;
    Stages<std::uint32_t> where_;
    // No piece begins at 0, so that none looks like `kUnchanged` or `kSigmaPiece`.
    std::string pool_ = "\n";
    std::array<Pair, 0x800> pairs_{};
};

const Pieces& pieces(Folding folding) {
    static const Pieces none({false, false}), bare({false, true}), lower({true, false}), both({true, true});
    if (folding.strip_accents) return folding.lower ? both : bare;
    return folding.lower ? lower : none;
}

#ifdef __SSE2__
// Copy 16 bytes, ASCII capitals as small letters if `lower`; a bit is set for every byte that is not ASCII.
inline std::uint32_t copy_stride(const char* from, char* to, bool lower) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m128i capital =
        _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8('A' - 1)), _mm_cmplt_epi8(bytes, _mm_set1_epi8('Z' + 1)));
    const __m128i change = _mm_and_si128(capital, _mm_set1_epi8(lower ? 0x20 : 0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_or_si128(bytes, change));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
}
#endif

struct Place {
    const char* from;
    char* to;
};

// Copy ASCII up to the first byte that is none; there is room for all up to the end.
inline Place copy_ascii(Place at, const char* end, bool lower) {
#ifdef __SSE2__
    while (end - at.from >= static_cast<std::ptrdiff_t>(kStride)) {
        const std::uint32_t wide = copy_stride(at.from, at.to, lower);
        if (wide != 0) return {at.from + std::countr_zero(wide), at.to + std::countr_zero(wide)};
        at = {at.from + kStride, at.to + kStride};
    }
#endif
    for (; at.from != end && !(*at.from & 0x80); ++at.from, ++at.to) *at.to = lower ? small(*at.from) : *at.from;
    return at;
}

// Whether the first character before `at` that is not case-ignorable is cased.
bool follows_cased(const char* begin, const char* at) {
    while (at != begin) {
        const char* start = at - 1;
        while (start != begin && at - start < 4 && wide::continues(*start)) --start;
        const char* behind = start;
        const char32_t c = decode(behind, at);
        if (behind != at) return false;
        if (!(properties(c) & kIgnorable)) return properties(c) & kCased;
        at = start;
    }
    return false;
}

bool precedes_cased(const char* at, const char* end) {
    while (at != end) {
        const char32_t c = decode(at, end);
        if (!(properties(c) & kIgnorable)) return properties(c) & kCased;
    }
    return false;
}

// Fold the character at `at.from`; it becomes at most `tables::kLongest` bytes.
Place fold_one(Place at, std::string_view text, const Pieces& pieces) {
    const char* const end = text.data() + text.size();
    const char* const start = at.from;
    const char32_t c = wide::decode(at.from, end);
    const std::uint32_t piece = pieces.where(c);
    if (piece == Pieces::kSigmaPiece) {
        const bool final = follows_cased(text.data(), start) && !precedes_cased(at.from, end);
        return {at.from, encode(at.to, final ? kFinalSigma : kSigma)};
    }
    if (piece != Pieces::kUnchanged) return {at.from, at.to + pieces.text(piece).copy(at.to, tables::kLongest)};
    if (!pieces.splits(c)) return {at.from, encode(at.to, c)};
    const char32_t syllable = c - 0xAC00;
    at.to = encode(at.to, 0x1100 + syllable / 588);
    at.to = encode(at.to, 0x1161 + syllable % 588 / 28);
    if (syllable % 28 != 0) at.to = encode(at.to, 0x11A7 + syllable % 28);
    return at;
}

template <class Unit>
void append_units(std::string& out, const Unit* from, std::size_t size) {
    std::size_t room = size;
    for (std::size_t i = 0; i < size; ++i) room += (from[i] >= 0x80) + (from[i] >= 0x800) + (from[i] >= 0x10000u);
    const std::size_t before = out.size();
    out.resize(before + room);
    char* to = out.data() + before;
    // Most texts are ASCII for long stretches: eight units at a time, which compilers make one step.
    constexpr std::size_t kStep = 8;
    std::size_t i = 0;
    for (; i + kStep <= size; i += kStep) {
        Unit any = 0;
        for (std::size_t k = 0; k < kStep; ++k) any = static_cast<Unit>(any | from[i + k]);
        if (any < 0x80) {
            for (std::size_t k = 0; k < kStep; ++k) to[k] = static_cast<char>(from[i + k]);
            to += kStep;
        } else {
            for (std::size_t k = 0; k < kStep; ++k) to = encode(to, from[i + k]);
        }
    }
    for (; i < size; ++i) to = encode(to, from[i]);
    out.resize(static_cast<std::size_t>(to - out.data()));
}

}  // namespace

bool wide::is_word(char32_t c) { return properties(c) & kWord; }
bool wide::is_space(char32_t c) { return properties(c) & kSpace; }

void append(std::string& out, char32_t c) {
    char bytes[4];
    out.append(bytes, static_cast<std::size_t>(encode(bytes, c) - bytes));
}

void append_latin1(std::string& out, const unsigned char* from, std::size_t size) {
    std::size_t wide = 0;
    for (std::size_t i = 0; i < size; ++i) wide += from[i] >> 7;
    const auto* const bytes = reinterpret_cast<const char*>(from);
    if (wide == 0) {
        out.append(bytes, size);
        return;
    }
    const std::size_t before = out.size();
    out.resize(before + size + wide);
    Place at{bytes, out.data() + before};
    while ((at = copy_ascii(at, bytes + size, false)).from != bytes + size)
        at = {at.from + 1, encode(at.to, static_cast<unsigned char>(*at.from))};
}

void append_ucs2(std::string& out, const std::uint16_t* from, std::size_t size) { append_units(out, from, size); }

void append_ucs4(std::string& out, const std::uint32_t* from, std::size_t size) { append_units(out, from, size); }

void fold(std::string_view text, Folding folding, std::string& out) {
    // There is always room for the rest of the text at its own length and one character that grows.
    const char* const end = text.data() + text.size();
    out.resize(text.size() + tables::kLongest);
    Place at = copy_ascii({text.data(), out.data()}, end, folding.lower);
    const Pieces* const table = at.from == end ? nullptr : &pieces(folding);
    while (at.from != end) {
        const auto first = static_cast<unsigned char>(*at.from);
        if (first < 0x80) {
            at = copy_ascii(at, end, folding.lower);
            continue;
        }
        if (first >= 0xC2 && first < 0xE0 && end - at.from > 1 && wide::continues(at.from[1])) {
            const Pieces::Pair& pair = table->pair_at((first & 0x1Fu) << 6 | (at.from[1] & 0x3Fu));
            std::memcpy(at.to, pair.bytes, 2);
            if (pair.size != Pieces::kSlow) {
                at = {at.from + 2, at.to + pair.size};
                continue;
            }
        }
        at = fold_one(at, text, *table);
        const auto used = static_cast<std::size_t>(at.to - out.data());
        const std::size_t needed = used + static_cast<std::size_t>(end - at.from) + tables::kLongest;
        if (needed > out.size()) {
            out.resize(needed + needed / 2);
            at.to = out.data() + used;
        }
    }
    out.resize(static_cast<std::size_t>(at.to - out.data()));
}

}  // namespace weigh::unicode
