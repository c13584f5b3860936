// Finding the next of a few characters, 64 bytes at a time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace weigh::csv {

// Goes through the positions of any of three characters.
class Scanner {
public:
    Scanner(std::string_view data, char a, char b, char c) : data_(data), wanted_{a, b, c} { look(0); }

    // The next position, or the end of the data.
    std::size_t next() {
        while (hits_ == 0) {
            if (data_.size() - base_ <= kWindow) return data_.size();
            look(base_ + kWindow);
        }
        const auto first = static_cast<std::size_t>(std::countr_zero(hits_));
        hits_ &= hits_ - 1;
        return base_ + first;
    }

    // Pass over the positions before `at`, which is not before the last one.
    void skip(std::size_t at) {
        if (at - base_ < kWindow) hits_ &= ~std::uint64_t{0} << (at - base_);
        else look(at);
    }

private:
    static constexpr std::size_t kWindow = 64;

    void look(std::size_t base) {
        base_ = base;
        if (data_.size() - base >= kWindow) {
            hits_ = matches(data_.data() + base);
            return;
        }
        std::array<char, kWindow> tail{};
        const std::size_t rest = data_.size() - base;
        if (rest != 0) std::memcpy(tail.data(), data_.data() + base, rest);
        hits_ = matches(tail.data()) & ((std::uint64_t{1} << rest) - 1);
    }

#ifdef __SSE2__
    std::uint64_t matches(const char* from) const {
        const __m128i a = _mm_set1_epi8(wanted_[0]), b = _mm_set1_epi8(wanted_[1]), c = _mm_set1_epi8(wanted_[2]);
        std::uint64_t found = 0;
        for (int part = 0; part < 4; ++part) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16 * part));
            const __m128i any = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, a), _mm_cmpeq_epi8(bytes, b)),
                                             _mm_cmpeq_epi8(bytes, c));
            found |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(any))) << (16 * part);
        }
        return found;
    }
#else
    std::uint64_t matches(const char* from) const {
        std::uint64_t found = 0;
        for (std::size_t i = 0; i < kWindow; ++i)
            found |= std::uint64_t{from[i] == wanted_[0] || from[i] == wanted_[1] || from[i] == wanted_[2]} << i;
        return found;
    }
#endif

    std::string_view data_;
    std::array<char, 3> wanted_;
    std::size_t base_ = 0;
    std::uint64_t hits_ = 0;
};

inline bool ends_line(char c) { return c == '\n' || c == '\r'; }

// The position behind a quoted field's closing quote, or npos if it is never closed; `open` is the
// opening quote's position.
inline std::size_t behind_quotes(std::string_view data, std::size_t open) {
    for (std::size_t at = open + 1;; at += 2) {
        at = data.find('"', at);
        if (at == std::string_view::npos) return at;
        if (at + 1 == data.size() || data[at + 1] != '"') return at + 1;
    }
}

}  // namespace weigh::csv
