// Which bytes of a text belong to words, 64 at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weigh/unicode.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace weigh {

// Goes through a text window by window. 64 bytes behind the text must be readable, and be no part
// of a word.
class WordMasks {
public:
    static constexpr std::size_t kWindow = 64;

    explicit WordMasks(std::string_view text) : text_(text) {}

    // One bit per byte from `base` on; windows must be asked for in order.
    std::uint64_t at(std::size_t base) {
        std::uint64_t words = 0, others = 0;
        look(text_.data() + base, words, others);
        if ((others | carried_) == 0) return words;
        return words | wide(base, others);
    }

private:
#ifdef __SSE2__
    // Bits of ASCII letters, digits and underscores, and of bytes beyond ASCII.
    static void look(const char* from, std::uint64_t& words, std::uint64_t& others) {
        const auto within = [](__m128i bytes, char first, char last) {
            // Shifted so that the range begins at the smallest signed value, one comparison tells.
            const __m128i moved = _mm_sub_epi8(bytes, _mm_set1_epi8(static_cast<char>(first + 128)));
            return _mm_cmplt_epi8(moved, _mm_set1_epi8(static_cast<char>(last - first + 1 - 128)));
        };
        for (int part = 0; part < 4; ++part) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16 * part));
            const __m128i letters = within(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 'z');
            const __m128i rest = _mm_or_si128(within(bytes, '0', '9'), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')));
            words |= bits(_mm_or_si128(letters, rest)) << (16 * part);
            others |= bits(bytes) << (16 * part);
        }
    }

    static std::uint64_t bits(__m128i bytes) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(bytes)));
    }
#else
    static void look(const char* from, std::uint64_t& words, std::uint64_t& others) {
        for (std::size_t i = 0; i < kWindow; ++i) {
            const auto byte = static_cast<unsigned char>(from[i]);
            words |= std::uint64_t{byte < 128 && unicode::is_word(byte)} << i;
            others |= std::uint64_t{byte >= 128} << i;
        }
    }
#endif

    // The bits of characters beyond ASCII, of which the last may reach into the next window.
    std::uint64_t wide(std::size_t base, std::uint64_t others) {
        std::uint64_t words = carried_ & bits_below(reach_);
        std::size_t at = reach_;
        carried_ = reach_ = 0;
        while (at < kWindow && (others >> at) != 0) {
            at += static_cast<std::size_t>(__builtin_ctzll(others >> at));
            const char* here = text_.data() + base + at;
            const char* next = here;
            const bool is_word = unicode::is_word(unicode::decode(next, text_.data() + text_.size()));
            const std::size_t end = at + static_cast<std::size_t>(next - here);
            if (is_word) words |= bits_below(end) & ~bits_below(at);
            if (end > kWindow) {
                reach_ = end - kWindow;
                carried_ = is_word ? ~std::uint64_t{0} : 0;
            }
            at = end;
        }
        return words;
    }

    static std::uint64_t bits_below(std::size_t count) {
        return count >= kWindow ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    }

    std::string_view text_;
    std::size_t reach_ = 0;      // bytes of this window that belong to a character of the last one
    std::uint64_t carried_ = 0;  // all ones if that character is part of a word
};

}  // namespace weigh
