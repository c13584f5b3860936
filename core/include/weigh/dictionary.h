// Codes of texts: a hash table that knows short texts by their bytes alone.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace weigh {

// The bits of two little-endian words that the first so many bytes fill.
inline constexpr auto kMasks = [] {
    std::array<std::array<std::uint64_t, 2>, 17> masks{};
    for (std::size_t size = 0; size < masks.size(); ++size)
        for (std::size_t byte = 0; byte < size; ++byte)
            masks[size][byte / 8] |= std::uint64_t{0xFF} << (8 * (byte % 8));
    return masks;
}();

class Dictionary {
public:
    static constexpr std::int32_t kNew = -2;

    Dictionary() : slots_(64) {}

    // The code of a text, to be set by the caller when it is `kNew`. The reference holds until the
    // next call. `roomy` says that 16 bytes may be read from the text's beginning on.
    std::int32_t& code(std::string_view text, bool roomy) {
        if (2 * used_ >= slots_.size()) grow();
        const Key key = text.size() <= kShort ? short_key(text, roomy) : long_key(text);
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = key.hash & mask;; at = (at + 1) & mask) {
            Slot& slot = slots_[at];
            if (slot.code == kFree) return fill(slot, key, text);
            if (slot.size == text.size() && slot.low == key.low && holds(slot, key, text)) return slot.code;
        }
    }

private:
    static constexpr std::int32_t kFree = -3;
    static constexpr std::size_t kShort = kMasks.size() - 1;

    // Short texts: their bytes. Long ones: `low` is their hash, `high` their place among the bytes.
    struct Slot {
        std::uint64_t low = 0, high = 0;
        std::size_t size = 0;
        std::int32_t code = kFree;
    };

    struct Key {
        std::uint64_t low = 0, high = 0;
        std::size_t hash = 0;
    };

    // Both halves of a 128-bit product: texts that differ in one late letter must part ways too.
    static std::size_t mix(std::uint64_t low, std::uint64_t high) {
        __extension__ typedef unsigned __int128 Wide;
        const Wide product = static_cast<Wide>(low ^ 0x9E3779B97F4A7C15ULL) * (high ^ 0xC2B2AE3D27D4EB4FULL);
        return static_cast<std::size_t>(product) ^ static_cast<std::size_t>(product >> 64);
    }

    static Key short_key(std::string_view text, bool roomy) {
        std::array<std::uint64_t, 2> words{};
        if (roomy && std::endian::native == std::endian::little) {
            std::memcpy(words.data(), text.data(), kShort);
            words[0] &= kMasks[text.size()][0];
            words[1] &= kMasks[text.size()][1];
        } else if (!text.empty()) {
            std::memcpy(words.data(), text.data(), text.size());
        }
        return {words[0], words[1], mix(words[0], words[1])};
    }

    static Key long_key(std::string_view text) {
        std::uint64_t hash = text.size(), word = 0;
        for (std::size_t at = 0; at < text.size(); at += 8) {
            // The last word overlaps the one before.
            std::memcpy(&word, text.data() + std::min(at, text.size() - 8), 8);
            hash = std::rotl(hash ^ word, 23) * 0x9E3779B97F4A7C15ULL;
        }
        return {hash, 0, mix(hash, 0)};
    }

    bool holds(const Slot& slot, const Key& key, std::string_view text) const {
        if (text.size() <= kShort) return slot.high == key.high;
        return std::memcmp(bytes_.data() + slot.high, text.data(), text.size()) == 0;
    }

    std::int32_t& fill(Slot& slot, const Key& key, std::string_view text) {
        ++used_;
        slot = {key.low, key.high, text.size(), kNew};
        if (text.size() > kShort) {
            slot.high = bytes_.size();
            bytes_.append(text);
        }
        return slot.code;
    }

    void grow() {
        std::vector<Slot> old(slots_.size() * 4);
        old.swap(slots_);
        const std::size_t mask = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.code == kFree) continue;
            std::size_t at = mix(slot.low, slot.size <= kShort ? slot.high : 0) & mask;
            while (slots_[at].code != kFree) at = (at + 1) & mask;
            slots_[at] = slot;
        }
    }

    std::vector<Slot> slots_;
    std::string bytes_;  // the long texts
    std::size_t used_ = 0;
};

}  // namespace weigh
