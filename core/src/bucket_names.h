// Names for buckets, by a rule that no order of the texts can change: the shortest token wins, and
// among equally short ones that of the smallest hash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weigh/key.h"

namespace weigh {

class BucketNames {
public:
    static constexpr std::uint64_t kNone = 0;

    explicit BucketNames(std::size_t buckets) : places_(buckets, kNowhere) {}

    // The greater, the better a token's claim; none has the rank `kNone`.
    static std::uint64_t rank(std::uint64_t hash, std::size_t size) {
        return size == 0 || size > kLongest ? kNone
                                            : ((kLongest + 1 - size) << kHashBits) | (~hash >> (64 - kHashBits));
    }

    void put(std::size_t bucket, std::string_view name) {
        std::uint32_t& place = places_[bucket];
        // A better name is never longer: it fits where the old one was.
        if (place == kNowhere) {
            place = static_cast<std::uint32_t>(letters_.size());
            letters_.push_back('\0');
            letters_.append(name);
        }
        letters_[place] = static_cast<char>(name.size());
        name.copy(letters_.data() + place + 1, name.size());
    }

    std::string_view operator[](std::size_t bucket) const {
        const std::uint32_t place = places_[bucket];
        if (place == kNowhere) return {};
        return {letters_.data() + place + 1, static_cast<unsigned char>(letters_[place])};
    }

private:
    static constexpr std::uint64_t kLongest = 63;
    static constexpr int kHashBits = 57;
    static constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

    std::vector<std::uint32_t> places_;
    std::string letters_;  // of each name its size, then itself
};

}  // namespace weigh
