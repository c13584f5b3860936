// 64-bit checksums of the ledger file, which detect damage but not forgery.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weigh/text_key.h"

namespace weigh::mail {

inline std::uint64_t mix_into(std::uint64_t checksum, std::uint64_t low, std::uint64_t high) {
    return std::rotl(checksum, 17) ^ mix(low ^ checksum, high);
}

// Continue a checksum with more bytes.
inline std::uint64_t update_checksum(std::string_view bytes, std::uint64_t checksum) {
    const auto word = [&](std::size_t at) {
        return at < bytes.size() ? load_word(bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at)) : 0;
    };
    checksum ^= bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += 16) checksum = mix_into(checksum, word(at), word(at + 8));
    return checksum;
}

// The checksum of a block whose size is a multiple of 64 bytes. Four independent lanes hide the latency of the
// multiplications.
inline std::uint64_t block_checksum(std::string_view block, std::uint64_t number) {
    std::array<std::uint64_t, 4> lanes{number, number, number, number};
    for (const char* at = block.data(); at < block.data() + block.size(); at += 64)
        for (std::size_t lane = 0; lane < lanes.size(); ++lane)
            lanes[lane] = mix_into(lanes[lane], load_word(at + 16 * lane), load_word(at + 16 * lane + 8));
    return mix_into(mix_into(block.size(), lanes[0], lanes[1]), lanes[2], lanes[3]);
}

}  // namespace weigh::mail
