// Names for hash buckets, independent of the order of the input: the shortest token wins, on ties the one with the
// smallest hash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weigh/text_key.h"

namespace weigh {

class BucketNames {
public:
    static constexpr std::uint64_t kNoRank = 0;

    explicit BucketNames(std::size_t buckets) : offsets_(buckets, kNoOffset) {}

    // Priority of a token as the name of its bucket; `kNoRank` for tokens that cannot be names.
    static std::uint64_t rank(std::uint64_t hash, std::size_t size) {
        return size == 0 || size > kMaxLength ? kNoRank
                                              : ((kMaxLength + 1 - size) << kHashBits) | (~hash >> (64 - kHashBits));
    }

    void set(std::size_t bucket, std::string_view name) {
        std::uint32_t& offset = offsets_[bucket];
        // A better name is never longer, so it fits in the old one's place.
        if (offset == kNoOffset) {
            offset = static_cast<std::uint32_t>(bytes_.size());
            bytes_.push_back('\0');
            bytes_.append(name);
        }
        bytes_[offset] = static_cast<char>(name.size());
        name.copy(bytes_.data() + offset + 1, name.size());
    }

    std::string_view operator[](std::size_t bucket) const {
        const std::uint32_t offset = offsets_[bucket];
        if (offset == kNoOffset) return {};
        return {bytes_.data() + offset + 1, static_cast<unsigned char>(bytes_[offset])};
    }

private:
    static constexpr std::uint64_t kMaxLength = 63;
    static constexpr int kHashBits = 57;
    static constexpr std::uint32_t kNoOffset = 0xFFFFFFFF;

    std::vector<std::uint32_t> offsets_;
    std::string bytes_;  // length byte and bytes of each name
};

}  // namespace weigh
