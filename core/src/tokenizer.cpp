#include "weigh/tokenizer.h"

#include <algorithm>
#include <bit>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace weigh {
namespace {

// Finds word characters, 64 bytes at a time. The 64 bytes after the text must be readable and must not be word
// characters.
class WordMasks {
public:
    static constexpr std::size_t kWindow = 64;

    explicit WordMasks(std::string_view text) : text_(text) {}

    // One bit per byte from `base` on; windows must be requested in order.
    std::uint64_t at(std::size_t base) {
        std::uint64_t words = 0, others = 0;
        classify(text_.data() + base, words, others);
        if ((others | overlap_mask_) == 0) return words;
        return words | classify_non_ascii(base, others);
    }

private:
#ifdef __SSE2__
    // Bits of ASCII word characters, and of non-ASCII bytes.
    static void classify(const char* from, std::uint64_t& words, std::uint64_t& others) {
        const auto in_range = [](__m128i bytes, char first, char last) {
            // Shift the range to the smallest signed value, so that one comparison is enough.
            const __m128i moved = _mm_sub_epi8(bytes, _mm_set1_epi8(static_cast<char>(first + 128)));
            return _mm_cmplt_epi8(moved, _mm_set1_epi8(static_cast<char>(last - first + 1 - 128)));
        };
        for (int part = 0; part < 4; ++part) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16 * part));
            const __m128i letters = in_range(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 'z');
            const __m128i rest = _mm_or_si128(in_range(bytes, '0', '9'), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')));
            words |= bits(_mm_or_si128(letters, rest)) << (16 * part);
            others |= bits(bytes) << (16 * part);
        }
    }

    static std::uint64_t bits(__m128i bytes) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(bytes)));
    }
#else
    static void classify(const char* from, std::uint64_t& words, std::uint64_t& others) {
        for (std::size_t i = 0; i < kWindow; ++i) {
            const auto byte = static_cast<unsigned char>(from[i]);
            words |= std::uint64_t{byte < 128 && unicode::is_word(byte)} << i;
            others |= std::uint64_t{byte >= 128} << i;
        }
    }
#endif

    // The bits of non-ASCII characters; the last one may extend into the next window.
    std::uint64_t classify_non_ascii(std::size_t base, std::uint64_t others) {
        std::uint64_t words = overlap_mask_ & bits_below(overlap_);
        std::size_t at = overlap_;
        overlap_mask_ = overlap_ = 0;
        while (at < kWindow && (others >> at) != 0) {
            at += static_cast<std::size_t>(__builtin_ctzll(others >> at));
            const char* here = text_.data() + base + at;
            const char* next = here;
            const bool is_word = unicode::is_word(unicode::decode(next, text_.data() + text_.size()));
            const std::size_t end = at + static_cast<std::size_t>(next - here);
            if (is_word) words |= bits_below(end) & ~bits_below(at);
            if (end > kWindow) {
                overlap_ = end - kWindow;
                overlap_mask_ = is_word ? ~std::uint64_t{0} : 0;
            }
            at = end;
        }
        return words;
    }

    static std::uint64_t bits_below(std::size_t count) {
        return count >= kWindow ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    }

    std::string_view text_;
    std::size_t overlap_ = 0;         // bytes of this window that belong to the last character of the previous one
    std::uint64_t overlap_mask_ = 0;  // all ones if that character is a word character
};

// The top bit of every byte, set in non-ASCII bytes.
constexpr std::uint64_t kWideBits = 0x8080808080808080ULL;

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

std::size_t characters_in(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

}  // namespace

std::string_view to_utf8(const Text& text, std::string& scratch) {
    if (text.encoding == Encoding::utf8) return {static_cast<const char*>(text.data), text.size};
    scratch.clear();
    switch (text.encoding) {
        case Encoding::latin1:
            unicode::append_latin1(scratch, static_cast<const unsigned char*>(text.data), text.size);
            break;
        case Encoding::ucs2:
            unicode::append_ucs2(scratch, static_cast<const std::uint16_t*>(text.data), text.size);
            break;
        default: unicode::append_ucs4(scratch, static_cast<const std::uint32_t*>(text.data), text.size);
    }
    return scratch;
}

Tokenizer::Tokenizer(TokenSettings settings) : settings_(std::move(settings)) {
    for (const auto& word : settings_.stop_words) stop_words_.code(word, false) = 0;
}

void Tokenizer::for_each_token(const Documents& documents, std::size_t row, const Consume& consume) {
    consume_ = &consume;
    if (documents.is_tokenized()) {
        emit_listed(documents, row);
    } else if (const Text& text = documents.texts[row]; !text.is_missing()) {
        unicode::fold(to_utf8(text, encoded_), settings_.folding, folded_);
        const std::size_t size = folded_.size();
        folded_.append(WordMasks::kWindow, '\0');
        const std::string_view folded(folded_.data(), size);
        switch (settings_.unit) {
            case Unit::words: split_words(folded); break;
            case Unit::characters: split_characters(folded); break;
            case Unit::characters_within_words: split_characters_within_words(folded); break;
        }
    }
    flush();
    joined_.clear();
    for (std::string* scratch : {&encoded_, &folded_, &spaced_, &joined_})
        if (scratch->capacity() > kMaxScratch) std::string().swap(*scratch);
}

void Tokenizer::emit_listed(const Documents& documents, std::size_t row) {
    const auto begin = static_cast<std::size_t>(documents.indptr[row]);
    const auto end = static_cast<std::size_t>(documents.indptr[row + 1]);
    for (std::size_t at = begin; at < end; ++at) {
        const double value = documents.values.empty() ? 1.0 : documents.values[at];
        if (value == 0) continue;
        std::string_view text = to_utf8(documents.texts[at], encoded_);
        if (documents.texts[at].encoding != Encoding::utf8) {
            reserve_joined(text.size());
            const std::size_t begin = joined_.size();
            text = std::string_view(joined_.append(text)).substr(begin);
        }
        emit(key_of(text, false), text, value);
    }
}

void Tokenizer::split_words(std::string_view text) {
    WordMasks masks(text);
    recent_.clear();
    std::size_t begin = 0;
    std::uint64_t before = 0;  // 1 if the previous window ends with a word character
    for (std::size_t base = 0; base <= text.size(); base += WordMasks::kWindow) {
        const std::uint64_t words = masks.at(base);
        std::uint64_t edges = words ^ ((words << 1) | before);
        bool inside = before != 0;
        for (; edges != 0; edges &= edges - 1, inside = !inside) {
            const std::size_t at = base + static_cast<std::size_t>(std::countr_zero(edges));
            if (inside) emit_word({text.data() + begin, at - begin});
            else begin = at;
        }
        before = words >> 63;
    }
}

void Tokenizer::emit_word(std::string_view word) {
    if (word.size() < settings_.min_length) return;
    const Key key = key_of(word, true);
    // A character has at most four bytes; for short words the key shows whether there are non-ASCII bytes.
    if (word.size() < 4 * settings_.min_length && (word.size() > kMaxShortText || (key.low | key.high) & kWideBits) &&
        characters_in(word) < settings_.min_length)
        return;
    if (stop_words_.size() != 0 && stop_words_.find(key, word) != Dictionary::kNew) return;
    if (settings_.min_n == 1) emit(key, word);
    if (settings_.max_n > 1) emit_word_ngrams(word);
}

// Emit the word n-grams that end with this word.
void Tokenizer::emit_word_ngrams(std::string_view word) {
    recent_.push_back(word);
    if (recent_.size() > settings_.max_n) recent_.erase(recent_.begin());
    for (std::size_t n = std::max<std::size_t>(settings_.min_n, 2); n <= recent_.size(); ++n) {
        std::size_t size = n - 1;
        for (auto word_at = recent_.end() - static_cast<std::ptrdiff_t>(n); word_at != recent_.end(); ++word_at)
            size += word_at->size();
        reserve_joined(size);
        const std::size_t begin = joined_.size();
        for (auto word_at = recent_.end() - static_cast<std::ptrdiff_t>(n); word_at != recent_.end(); ++word_at) {
            if (joined_.size() != begin) joined_.push_back(' ');
            joined_.append(*word_at);
        }
        const std::string_view ngram = std::string_view(joined_).substr(begin);
        emit(key_of(ngram, false), ngram);
    }
}

void Tokenizer::split_characters(std::string_view text) {
    spaced_.clear();
    bool was_space = false;
    for (const char *at = text.data(), *end = at + text.size(); at != end;) {
        const char* here = at;
        const bool is_space = unicode::is_space(unicode::decode(at, end));
        if (!is_space || !was_space) {
            spaced_.append(here, at);
        } else {
            // Collapse white space to a single space.
            while (!starts_character(spaced_.back())) spaced_.pop_back();
            spaced_.back() = ' ';
        }
        was_space = is_space;
    }
    emit_character_ngrams(spaced_);
}

void Tokenizer::split_characters_within_words(std::string_view text) {
    for (const char *at = text.data(), *end = at + text.size(); at != end;) {
        const char *begin = at, *stop = at;
        while (at != end && !unicode::is_space(unicode::decode(at, end))) stop = at;
        if (stop == begin) continue;
        reserve_joined(static_cast<std::size_t>(stop - begin) + 2);
        const std::size_t from = joined_.size();
        joined_.push_back(' ');
        joined_.append(begin, stop);
        joined_.push_back(' ');
        emit_character_ngrams(std::string_view(joined_).substr(from));
    }
}

void Tokenizer::emit_character_ngrams(std::string_view text) {
    starts_.clear();
    const bool in_range = settings_.unit == Unit::characters_within_words;
    std::size_t characters = 0;
    for (std::size_t at = 0; at < text.size();) {
        starts_.push_back(at);
        if (starts_.size() > settings_.max_n) starts_.erase(starts_.begin());
        ++characters;
        do ++at;
        while (at < text.size() && !starts_character(text[at]));
        for (std::size_t n = settings_.min_n; n <= starts_.size(); ++n) {
            const std::size_t begin = starts_[starts_.size() - n];
            const std::string_view ngram = text.substr(begin, at - begin);
            emit(key_of(ngram, text.size() - begin >= kMaxShortText), ngram);
        }
    }
    // A word shorter than the smallest n-gram is emitted as a whole.
    if (in_range && characters < settings_.min_n) emit(key_of(text, false), text);
}

void Tokenizer::emit(const Key& key, std::string_view text, double value) {
    batch_[filled_++] = {key, text, value};
    if (filled_ == kBatch) flush();
}

void Tokenizer::flush() {
    if (filled_ != 0) (*consume_)(std::span<const Token>(batch_.data(), filled_));
    filled_ = 0;
}

// Tokens in the batch may point into `joined_`, so flush before it is reallocated.
void Tokenizer::reserve_joined(std::size_t size) {
    if (joined_.size() + size <= joined_.capacity()) return;
    flush();
    joined_.clear();
    joined_.reserve(std::max<std::size_t>(2 * size, kMaxScratch / 16));
}

}  // namespace weigh
