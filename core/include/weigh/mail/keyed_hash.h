// SipHash-1-3: a keyed hash that is unpredictable without the key.
//
// One round per eight bytes and three final rounds; the last word has the length in its top byte. (Aumasson and
// Bernstein, "SipHash: a fast short-input PRF", 2012; with fewer rounds, as in hash tables.)
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weigh/text_key.h"

namespace weigh::mail {

class KeyedHash {
public:
    KeyedHash(std::uint64_t low, std::uint64_t high) : low_(low), high_(high) {}

    std::uint64_t operator()(std::string_view text) const {
        State state{low_ ^ 0x736F6D6570736575ULL, high_ ^ 0x646F72616E646F6DULL, low_ ^ 0x6C7967656E657261ULL,
                    high_ ^ 0x7465646279746573ULL};
        std::size_t at = 0;
        for (; at + 8 <= text.size(); at += 8) state.take(load_word(text.data() + at));
        state.take(rest(text, at) | std::uint64_t{text.size()} << 56);
        state.c ^= 0xFF;
        for (int round = 0; round < 3; ++round) state.mix();
        return state.a ^ state.b ^ state.c ^ state.d;
    }

private:
    // The last 0 to 7 bytes, loaded with fixed-size, possibly overlapping loads, which avoids a memcpy call per text.
    static std::uint64_t rest(std::string_view text, std::size_t at) {
        const std::size_t left = text.size() - at;
        if (left == 0) return 0;
        const char* from = text.data() + at;
        if (at > 0) return load_word(from + left - 8) >> (64 - 8 * left);
        if (left >= 4) return load_word(from, 4) | load_word(from + left - 4, 4) << (8 * (left - 4));
        return load_word(from, 1) | load_word(from + left / 2, 1) << (8 * (left / 2)) |
               load_word(from + left - 1, 1) << (8 * (left - 1));
    }

    struct State {
        std::uint64_t a, b, c, d;

        void take(std::uint64_t word) {
            d ^= word;
            mix();
            a ^= word;
        }

        void mix() {
            a += b;
            c += d;
            b = std::rotl(b, 13) ^ a;
            d = std::rotl(d, 16) ^ c;
            a = std::rotl(a, 32) + d;
            c += b;
            d = std::rotl(d, 21) ^ a;
            b = std::rotl(b, 17) ^ c;
            c = std::rotl(c, 32);
        }
    };

    std::uint64_t low_, high_;
};

}  // namespace weigh::mail
