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
constexpr std::size_t kVectorSize = 16;

// Two-stage table (trie) with a value for every code point. Blocks that were never written share block 0.
template <class Value>
class TwoStageTable {
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

// Call visit(code point) for all in ranges given as gap and length.
template <class Visit>
void for_each_code_point(std::span<const std::uint32_t> ranges, Visit visit) {
    char32_t c = 0;
    for (std::size_t i = 0; i < ranges.size(); i += 2) {
        c += ranges[i];
        for (const char32_t next = c + ranges[i + 1]; c != next; ++c) visit(c);
    }
}

// Call visit(code point, targets) for all runs, and for a list of code point, number of targets, targets.
template <class Visit>
void for_each_mapping(std::span<const tables::Run> runs, std::span<const std::uint32_t> expansions, Visit visit) {
    for (const tables::Run& run : runs) {
        std::uint32_t target = run.target;
        for (std::uint32_t i = 0; i < run.count; ++i, target += static_cast<std::uint32_t>(run.target_step))
            visit(run.first + i * run.step, std::span<const std::uint32_t>(&target, 1));
    }
    for (; !expansions.empty(); expansions = expansions.subspan(2 + expansions[1]))
        visit(expansions[0], expansions.subspan(2, expansions[1]));
}

enum Property : std::uint8_t { kWord = 1, kSpace = 2, kCased = 4, kIgnorable = 8 };

std::uint8_t properties(char32_t c) {
    static const auto all = [] {
        TwoStageTable<std::uint8_t> result;
        for_each_code_point(tables::kWord, [&](char32_t member) { result.at(member) |= kWord; });
        for_each_code_point(tables::kSpace, [&](char32_t member) { result.at(member) |= kSpace; });
        for_each_code_point(tables::kCased, [&](char32_t member) { result.at(member) |= kCased; });
        for_each_code_point(tables::kIgnorable, [&](char32_t member) { result.at(member) |= kIgnorable; });
        return result;
    }();
    return all[c];
}

// Folding of every code point, as spans of a pool of UTF-8.
class FoldingTable {
public:
    // Folding of a two-byte character if it has at most two bytes; `kSlow` if it is longer or depends on the context.
    struct Pair {
        char bytes[2] = {};
        std::uint8_t size = kSlow;
    };
    static constexpr std::uint8_t kSlow = 3;
    static constexpr std::uint32_t kUnchanged = 0, kSigmaEntry = 1;

    explicit FoldingTable(Folding folding) : decomposes_hangul_(folding.strip_accents) {
        if (folding.strip_accents) {
            for_each_code_point(tables::kRemoved, [&](char32_t c) { add(c, {}); });
            for_each_mapping(tables::kStripped, tables::kStrippedExpansions,
                             [&](char32_t c, auto targets) { add(c, targets); });
        }
        if (folding.lower) {
            for_each_mapping(tables::kLower, tables::kLowerExpansions,
                             [&](char32_t c, auto targets) { add(c, targets); });
            entries_.at(kCapitalSigma) = kSigmaEntry;
        }
        for (char32_t c = 0x80; c < 0x800; ++c) pairs_[c] = make_pair(c);
    }

    const Pair& pair(std::size_t c) const { return pairs_[c]; }
    std::uint32_t entry(char32_t c) const { return entries_[c]; }
    bool is_hangul_syllable(char32_t c) const { return decomposes_hangul_ && c - 0xAC00 < 11172; }
    std::string_view text(std::uint32_t entry) const { return {pool_.data() + (entry >> 6), entry & 63}; }

private:
    // A target may itself be folded: what applies to the lower case letter also applies to the capital.
    void add(char32_t c, std::span<const std::uint32_t> targets) {
        static_assert(tables::kMaxFoldedBytes < 64);
        const std::size_t start = pool_.size();
        for (const std::uint32_t target : targets) {
            const std::uint32_t entry = entries_[target];
            if (entry == kUnchanged) append(pool_, target);
            else pool_ += std::string(text(entry));
        }
        entries_.at(c) = static_cast<std::uint32_t>(start << 6 | (pool_.size() - start));
    }

    Pair make_pair(char32_t c) const {
        std::string result(text(entries_[c]));
        if (entries_[c] == kUnchanged) append(result, c);
        if (entries_[c] == kSigmaEntry || result.size() > 2) return {};
        Pair pair{.size = static_cast<std::uint8_t>(result.size())};
        result.copy(pair.bytes, 2);
        return pair;
    }

    bool decomposes_hangul_;
    TwoStageTable<std::uint32_t> entries_;
    // No entry begins at 0, so that none equals `kUnchanged` or `kSigmaEntry`.
    std::string pool_ = "\n";
    std::array<Pair, 0x800> pairs_{};
};

const FoldingTable& folding_table(Folding folding) {
    static const FoldingTable none({false, false}), stripped({false, true}), lower({true, false}), both({true, true});
    if (folding.strip_accents) return folding.lower ? both : stripped;
    return folding.lower ? lower : none;
}

#ifdef __SSE2__
// Copy 16 bytes, with ASCII letters in lower case if `lower`; return a bit mask of the non-ASCII bytes.
inline std::uint32_t copy_16(const char* from, char* to, bool lower) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m128i capital =
        _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8('A' - 1)), _mm_cmplt_epi8(bytes, _mm_set1_epi8('Z' + 1)));
    const __m128i change = _mm_and_si128(capital, _mm_set1_epi8(lower ? 0x20 : 0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_or_si128(bytes, change));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
}
#endif

struct Cursor {
    const char* from;
    char* to;
};

// Copy ASCII characters up to the first non-ASCII byte; there must be room for all.
inline Cursor copy_ascii(Cursor at, const char* end, bool lower) {
#ifdef __SSE2__
    while (end - at.from >= static_cast<std::ptrdiff_t>(kVectorSize)) {
        const std::uint32_t non_ascii = copy_16(at.from, at.to, lower);
        if (non_ascii != 0) return {at.from + std::countr_zero(non_ascii), at.to + std::countr_zero(non_ascii)};
        at = {at.from + kVectorSize, at.to + kVectorSize};
    }
#endif
    for (; at.from != end && !(*at.from & 0x80); ++at.from, ++at.to)
        *at.to = lower ? to_lower_ascii(*at.from) : *at.from;
    return at;
}

// Whether the last character before `at` that is not case-ignorable is cased.
bool follows_cased(const char* begin, const char* at) {
    while (at != begin) {
        const char* start = at - 1;
        while (start != begin && at - start < 4 && non_ascii::is_continuation(*start)) --start;
        const char* next = start;
        const char32_t c = decode(next, at);
        if (next != at) return false;
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

// Fold the character at `at.from` into at most `tables::kMaxFoldedBytes` bytes.
Cursor fold_one(Cursor at, std::string_view text, const FoldingTable& table) {
    const char* const end = text.data() + text.size();
    const char* const start = at.from;
    const char32_t c = non_ascii::decode(at.from, end);
    const std::uint32_t entry = table.entry(c);
    if (entry == FoldingTable::kSigmaEntry) {
        const bool final = follows_cased(text.data(), start) && !precedes_cased(at.from, end);
        return {at.from, encode(at.to, final ? kFinalSigma : kSigma)};
    }
    if (entry != FoldingTable::kUnchanged)
        return {at.from, at.to + table.text(entry).copy(at.to, tables::kMaxFoldedBytes)};
    if (!table.is_hangul_syllable(c)) return {at.from, encode(at.to, c)};
    const char32_t syllable = c - 0xAC00;
    at.to = encode(at.to, 0x1100 + syllable / 588);
    at.to = encode(at.to, 0x1161 + syllable % 588 / 28);
    if (syllable % 28 != 0) at.to = encode(at.to, 0x11A7 + syllable % 28);
    return at;
}

template <class Unit>
void append_units(std::string& out, const Unit* from, std::size_t size) {
    std::size_t capacity = size;
    for (std::size_t i = 0; i < size; ++i) capacity += (from[i] >= 0x80) + (from[i] >= 0x800) + (from[i] >= 0x10000u);
    const std::size_t before = out.size();
    out.resize(before + capacity);
    char* to = out.data() + before;
    // Fast path for ASCII, eight units at a time, which compilers vectorise.
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

bool non_ascii::is_word(char32_t c) { return properties(c) & kWord; }
bool non_ascii::is_space(char32_t c) { return properties(c) & kSpace; }

void append(std::string& out, char32_t c) {
    char bytes[4];
    out.append(bytes, static_cast<std::size_t>(encode(bytes, c) - bytes));
}

void append_latin1(std::string& out, const unsigned char* from, std::size_t size) {
    std::size_t non_ascii = 0;
    for (std::size_t i = 0; i < size; ++i) non_ascii += from[i] >> 7;
    const auto* const bytes = reinterpret_cast<const char*>(from);
    if (non_ascii == 0) {
        out.append(bytes, size);
        return;
    }
    const std::size_t before = out.size();
    out.resize(before + size + non_ascii);
    Cursor at{bytes, out.data() + before};
    while ((at = copy_ascii(at, bytes + size, false)).from != bytes + size)
        at = {at.from + 1, encode(at.to, static_cast<unsigned char>(*at.from))};
}

void append_ucs2(std::string& out, const std::uint16_t* from, std::size_t size) { append_units(out, from, size); }

void append_ucs4(std::string& out, const std::uint32_t* from, std::size_t size) { append_units(out, from, size); }

void fold(std::string_view text, Folding folding, std::string& out) {
    // Invariant: there is room for the rest of the text unchanged, plus one character that expands.
    const char* const end = text.data() + text.size();
    out.resize(text.size() + tables::kMaxFoldedBytes);
    Cursor at = copy_ascii({text.data(), out.data()}, end, folding.lower);
    const FoldingTable* const table = at.from == end ? nullptr : &folding_table(folding);
    while (at.from != end) {
        const auto first = static_cast<unsigned char>(*at.from);
        if (first < 0x80) {
            at = copy_ascii(at, end, folding.lower);
            continue;
        }
        if (first >= 0xC2 && first < 0xE0 && end - at.from > 1 && non_ascii::is_continuation(at.from[1])) {
            const FoldingTable::Pair& pair = table->pair((first & 0x1Fu) << 6 | (at.from[1] & 0x3Fu));
            std::memcpy(at.to, pair.bytes, 2);
            if (pair.size != FoldingTable::kSlow) {
                at = {at.from + 2, at.to + pair.size};
                continue;
            }
        }
        at = fold_one(at, text, *table);
        const auto used = static_cast<std::size_t>(at.to - out.data());
        const std::size_t needed = used + static_cast<std::size_t>(end - at.from) + tables::kMaxFoldedBytes;
        if (needed > out.size()) {
            out.resize(needed + needed / 2);
            at.to = out.data() + used;
        }
    }
    out.resize(static_cast<std::size_t>(at.to - out.data()));
}

}  // namespace weigh::unicode
