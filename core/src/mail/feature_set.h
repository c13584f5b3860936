// Set of the features of one view of a message.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "weigh/mail/features.h"
#include "weigh/mail/keyed_hash.h"

namespace weigh::mail {

class FeatureSet {
public:
    // The view is part of the hash key, so that a name means different features in different views.
    FeatureSet(View view, std::uint64_t salt)
        : view_(view), hash_(salt, mix(salt, static_cast<std::uint64_t>(view))), slots_(kInitialSlots) {}

    // If `names` is not null, it receives the features.
    void begin(std::vector<Feature>* names) {
        names_ = names;
        keys_.clear();
        if (slots_.size() > kInitialSlots) slots_.resize(kInitialSlots);
        std::fill(slots_.begin(), slots_.end(), 0);
    }

    void add(std::string_view name) {
        const std::uint64_t hash = hash_(name), key = hash != 0 ? hash : 1;  // zero marks a free slot
        std::uint64_t& slot = slots_[find_slot(key)];
        if (slot == key || is_full()) return;
        slot = key;
        keys_.push_back(key);
        if (names_ != nullptr) names_->push_back({view_, std::string(name), key});
        if (2 * keys_.size() > slots_.size()) grow();
    }

    bool is_full() const { return keys_.size() >= kMaxFeatures; }

    std::size_t size() const { return keys_.size(); }

    // The sorted keys. Keys are uniformly distributed, so that a bucket sort by their leading bits is almost
    // complete.
    std::span<const std::uint64_t> sorted() {
        const auto bits = static_cast<int>(std::bit_width(keys_.size()));
        starts_.assign((std::size_t{1} << bits) + 1, 0);
        const auto bucket = [&](std::uint64_t key) {
            return bits == 0 ? 0 : static_cast<std::size_t>(key >> (64 - bits));
        };
        for (const std::uint64_t key : keys_) ++starts_[bucket(key) + 1];
        for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
        sorted_.resize(keys_.size());
        for (const std::uint64_t key : keys_) sorted_[starts_[bucket(key)]++] = key;
        const auto at = [&](std::size_t position) { return sorted_.begin() + static_cast<std::ptrdiff_t>(position); };
        std::size_t begin = 0;
        for (const std::uint32_t end : starts_) {
            if (end > begin + 1) std::sort(at(begin), at(end));
            begin = end;
        }
        return sorted_;
    }

private:
    static constexpr std::size_t kInitialSlots = 4096;

    std::size_t find_slot(std::uint64_t key) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = key & mask;
        while (slots_[at] != 0 && slots_[at] != key) at = (at + 1) & mask;
        return at;
    }

    void grow() {
        slots_.assign(2 * slots_.size(), 0);
        for (const std::uint64_t key : keys_) slots_[find_slot(key)] = key;
    }

    View view_;
    KeyedHash hash_;
    std::vector<std::uint64_t> keys_, slots_, sorted_;
    std::vector<std::uint32_t> starts_;
    std::vector<Feature>* names_ = nullptr;
};

}  // namespace weigh::mail
