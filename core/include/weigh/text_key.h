// 128-bit keys and 64-bit hashes of texts.
//
// The hash is part of the model file format: a text must hash to the same bucket on every machine and in every
// version.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace weigh {

inline constexpr std::size_t kMaxShortText = 16;

// Short texts: their bytes in little-endian order. Long texts: `low` is their hash, `high` is zero.
struct Key {
    std::uint64_t low = 0, high = 0;
    std::uint64_t hash = 0;
};

// Masks for the first `size` bytes of two little-endian words.
inline constexpr auto kByteMasks = [] {
    std::array<std::array<std::uint64_t, 2>, kMaxShortText + 1> masks{};
    for (std::size_t size = 0; size < masks.size(); ++size)
        for (std::size_t byte = 0; byte < size; ++byte)
            masks[size][byte / 8] |= std::uint64_t{0xFF} << (8 * (byte % 8));
    return masks;
}();

// Fold a 128-bit product, so that texts that differ only in a late byte have different hashes too.
inline std::uint64_t mix(std::uint64_t low, std::uint64_t high) {
    __extension__ typedef unsigned __int128 Wide;
    const Wide product = static_cast<Wide>(low ^ 0x9E3779B97F4A7C15ULL) * (high ^ 0xC2B2AE3D27D4EB4FULL);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// The 64-bit finalizer of MurmurHash3: a bijection that scatters consecutive integers.
inline std::uint64_t mix(std::uint64_t key) {
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdULL;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53ULL;
    return key ^ (key >> 33);
}

inline std::uint64_t load_word(const char* from, std::size_t size = 8) {
    std::uint64_t word = 0;
    if constexpr (std::endian::native == std::endian::little) {
        std::memcpy(&word, from, size);
    } else {
        for (std::size_t byte = 0; byte < size; ++byte)
            word |= std::uint64_t{static_cast<unsigned char>(from[byte])} << (8 * byte);
    }
    return word;
}

inline Key long_key(std::string_view text) {
    std::uint64_t hash = text.size();
    for (std::size_t at = 0; at < text.size(); at += 8) {
        // The last word overlaps the previous one.
        const std::uint64_t word = load_word(text.data() + std::min(at, text.size() - 8));
        hash = std::rotl(hash ^ word, 23) * 0x9E3779B97F4A7C15ULL;
    }
    return {hash, 0, mix(hash, 0)};
}

// `is_padded` means that 16 bytes can be read from the beginning of the text.
inline Key key_of(std::string_view text, bool is_padded) {
    if (text.size() > kMaxShortText) return long_key(text);
    std::uint64_t low = 0, high = 0;
    if (is_padded) {
        low = load_word(text.data()) & kByteMasks[text.size()][0];
        high = load_word(text.data() + 8) & kByteMasks[text.size()][1];
    } else if (!text.empty()) {
        low = load_word(text.data(), std::min<std::size_t>(text.size(), 8));
        if (text.size() > 8) high = load_word(text.data() + 8, text.size() - 8);
    }
    return {low, high, mix(low, high)};
}

}  // namespace weigh
