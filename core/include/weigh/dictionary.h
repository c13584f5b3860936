// Open-addressing hash table from texts to codes. Short texts are stored inside the slots.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "weigh/text_key.h"
#include "weigh/zeroed_array.h"

namespace weigh {

class Dictionary {
public:
    static constexpr std::int32_t kNew = -2;

    Dictionary() : slots_(64) {}

    // The code of a text, to be set by the caller if it is `kNew`. The reference is valid until the next call.
    // `is_padded` means that 16 bytes can be read from the beginning of the text.
    std::int32_t& code(std::string_view text, bool is_padded) { return code(key_of(text, is_padded), text); }

    std::int32_t& code(const Key& key, std::string_view text) {
        if (2 * used_ >= slots_.size()) grow();
        Slot& slot = slots_[find_slot(key, text)];
        return slot.is_free() ? insert(slot, key, text) : slot.code;
    }

    // The code of a text, or `kNew` if it is not present.
    std::int32_t find(const Key& key, std::string_view text) const {
        const Slot& slot = slots_[find_slot(key, text)];
        return slot.is_free() ? kNew : slot.code;
    }

    // Prefetch the slot that a lookup of the key reads first.
    void prefetch(const Key& key) const { __builtin_prefetch(&slots_[key.hash & (slots_.size() - 1)]); }

    // Reserve space for a number of texts, so that adding them does not rehash.
    void reserve(std::size_t texts) {
        while (2 * texts >= slots_.size()) grow();
    }

    std::size_t size() const { return used_; }

    // Call visit(text, code) for every text, in unspecified order.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const Slot& slot : slots_) {
            if (slot.is_free()) continue;
            if (slot.size() > kMaxShortText) {
                visit(std::string_view(bytes_).substr(slot.high, slot.size()), slot.code);
                continue;
            }
            char characters[kMaxShortText];
            for (std::size_t byte = 0; byte < kMaxShortText; ++byte)
                characters[byte] = static_cast<char>((byte < 8 ? slot.low : slot.high) >> (8 * (byte % 8)));
            visit(std::string_view(characters, slot.size()), slot.code);
        }
    }

private:
    static constexpr std::size_t kFastGrowthSlots = 1 << 16;

    // Short texts: their bytes. Long texts: `low` is their hash, `high` their offset in `bytes_`. All zero means
    // free.
    struct Slot {
        std::uint64_t low, high;
        std::uint32_t size_plus_one;
        std::int32_t code;

        bool is_free() const { return size_plus_one == 0; }
        std::size_t size() const { return size_plus_one - 1; }
    };

    // The slot of a text, or the free slot where it belongs (linear probing).
    std::size_t find_slot(const Key& key, std::string_view text) const {
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = key.hash & mask;; at = (at + 1) & mask) {
            const Slot& slot = slots_[at];
            if (slot.is_free() || (slot.low == key.low && slot.size() == text.size() && matches(slot, key, text)))
                return at;
        }
    }

    bool matches(const Slot& slot, const Key& key, std::string_view text) const {
        if (text.size() <= kMaxShortText) return slot.high == key.high;
        return std::memcmp(bytes_.data() + slot.high, text.data(), text.size()) == 0;
    }

    std::int32_t& insert(Slot& slot, const Key& key, std::string_view text) {
        ++used_;
        slot = {key.low, key.high, static_cast<std::uint32_t>(text.size() + 1), kNew};
        if (text.size() > kMaxShortText) {
            slot.high = bytes_.size();
            bytes_.append(text);
        }
        return slot.code;
    }

    void grow() {
        ZeroedArray<Slot> old(slots_.size() * (slots_.size() < kFastGrowthSlots ? 4 : 2));
        old.swap(slots_);
        const std::size_t mask = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.is_free()) continue;
            std::size_t at = mix(slot.low, slot.size() <= kMaxShortText ? slot.high : 0) & mask;
            while (!slots_[at].is_free()) at = (at + 1) & mask;
            slots_[at] = slot;
        }
    }

    ZeroedArray<Slot> slots_;
    std::string bytes_;  // long texts, concatenated
    std::size_t used_ = 0;
};

}  // namespace weigh
