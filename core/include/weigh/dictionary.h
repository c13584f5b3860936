// Codes of texts: a hash table that knows short texts by their bytes alone.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "weigh/key.h"
#include "weigh/zeroed.h"

namespace weigh {

class Dictionary {
public:
    static constexpr std::int32_t kNew = -2;

    Dictionary() : slots_(64) {}

    // The code of a text, to be set by the caller when it is `kNew`. The reference holds until the
    // next call. `roomy` says that 16 bytes may be read from the text's beginning on.
    std::int32_t& code(std::string_view text, bool roomy) { return code(key_of(text, roomy), text); }

    std::int32_t& code(const Key& key, std::string_view text) {
        if (2 * used_ >= slots_.size()) grow();
        Slot& slot = slots_[place(key, text)];
        return slot.is_free() ? fill(slot, key, text) : slot.code;
    }

    // The code of a text, or `kNew` if it has none.
    std::int32_t find(const Key& key, std::string_view text) const {
        const Slot& slot = slots_[place(key, text)];
        return slot.is_free() ? kNew : slot.code;
    }

    // Bring the memory that a look-up will read nearer.
    void prefetch(const Key& key) const { __builtin_prefetch(&slots_[key.hash & (slots_.size() - 1)]); }

    // Make room for so many texts, so that adding them moves nothing.
    void reserve(std::size_t texts) {
        while (2 * texts >= slots_.size()) grow();
    }

    std::size_t size() const { return used_; }

    // Call visit(text, code) for every text, in no order.
    template <class Visit>
    void each(Visit visit) const {
        for (const Slot& slot : slots_) {
            if (slot.is_free()) continue;
            if (slot.size() > kShortText) {
                visit(std::string_view(bytes_).substr(slot.high, slot.size()), slot.code);
                continue;
            }
            char letters[kShortText];
            for (std::size_t byte = 0; byte < kShortText; ++byte)
                letters[byte] = static_cast<char>((byte < 8 ? slot.low : slot.high) >> (8 * (byte % 8)));
            visit(std::string_view(letters, slot.size()), slot.code);
        }
    }

private:
    static constexpr std::size_t kFewSlots = 1 << 16;

    // Short texts: their bytes. Long ones: `low` is their hash, `high` their place among the bytes.
    // All zero: free.
    struct Slot {
        std::uint64_t low, high;
        std::uint32_t size_and_one;
        std::int32_t code;

        bool is_free() const { return size_and_one == 0; }
        std::size_t size() const { return size_and_one - 1; }
    };

    // Where a text is, or the free slot where it belongs.
    std::size_t place(const Key& key, std::string_view text) const {
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = key.hash & mask;; at = (at + 1) & mask) {
            const Slot& slot = slots_[at];
            if (slot.is_free() || (slot.low == key.low && slot.size() == text.size() && holds(slot, key, text)))
                return at;
        }
    }

    bool holds(const Slot& slot, const Key& key, std::string_view text) const {
        if (text.size() <= kShortText) return slot.high == key.high;
        return std::memcmp(bytes_.data() + slot.high, text.data(), text.size()) == 0;
    }

    std::int32_t& fill(Slot& slot, const Key& key, std::string_view text) {
        ++used_;
        slot = {key.low, key.high, static_cast<std::uint32_t>(text.size() + 1), kNew};
        if (text.size() > kShortText) {
            slot.high = bytes_.size();
            bytes_.append(text);
        }
        return slot.code;
    }

    void grow() {
        Zeroed<Slot> old(slots_.size() * (slots_.size() < kFewSlots ? 4 : 2));
        old.swap(slots_);
        const std::size_t mask = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.is_free()) continue;
            std::size_t at = mix(slot.low, slot.size() <= kShortText ? slot.high : 0) & mask;
            while (!slots_[at].is_free()) at = (at + 1) & mask;
            slots_[at] = slot;
        }
    }

    Zeroed<Slot> slots_;
    std::string bytes_;  // the long texts
    std::size_t used_ = 0;
};

}  // namespace weigh
