#include "weigh/mail/slots.h"

#include <algorithm>
#include <bit>

namespace weigh::mail {

namespace {

int shift_for(std::size_t capacity) { return 64 - std::countr_zero(capacity); }

// The slot of a key, or the free one where it belongs; null if there is neither.
Slot* search(std::span<Slot> slots, std::size_t home, std::uint64_t key) {
    const std::size_t mask = slots.size() - 1;
    for (std::size_t step = 0; step <= mask; ++step) {
        Slot& slot = slots[(home + step) & mask];
        if (slot.key == key || slot.key == 0) return &slot;
    }
    return nullptr;
}

}  // namespace

Slots::Slots(Mapping&& file, std::size_t begin, std::size_t capacity, std::size_t used)
    : file_(std::move(file)),
      slots_(reinterpret_cast<Slot*>(file_.data() + begin), capacity),
      used_(used),
      shift_(shift_for(capacity)) {}

std::size_t Slots::capacity_for(std::size_t keys) { return std::max(kLeast, std::bit_ceil((5 * keys + 2) / 3)); }

std::size_t Slots::home(std::uint64_t key) const { return spread(key) >> shift_; }

Slot* Slots::place(std::uint64_t key) const { return search(slots_, home(key), key); }

// The table is larger than any cache: slots are asked for long before they are waited for.
template <class Function>
void Slots::each(const Keys& keys, Function function) const {
    constexpr std::size_t kAhead = 24;
    for (std::size_t at = 0; at < std::min(kAhead, keys.size()); ++at) __builtin_prefetch(&slots_[home(keys[at])]);
    for (std::size_t at = 0; at < keys.size(); ++at) {
        if (at + kAhead < keys.size()) __builtin_prefetch(&slots_[home(keys[at + kAhead])]);
        function(keys[at]);
    }
}

void Slots::find(const Print& print, Row& absent, std::vector<Row*>& rows) const {
    rows.clear();
    for (std::size_t view = 0; view < kViews; ++view)
        each(print[view], [&](std::uint64_t key) {
            Slot* slot = place(key);
            rows.push_back(slot && slot->key != 0 ? &slot->row : &absent);
        });
}

void Slots::find_or_add(const Print& print, std::vector<Row*>& rows) {
    const std::size_t needed = capacity_for(used_ + print.size());
    if (needed > slots_.size()) grow(needed);
    // Only a damaged file can be fuller than it says.
    while (!add(print, rows)) grow(2 * slots_.size());
}

bool Slots::add(const Print& print, std::vector<Row*>& rows) {
    rows.clear();
    bool fits = true;
    for (std::size_t view = 0; view < kViews; ++view)
        each(print[view], [&](std::uint64_t key) {
            Slot* slot = place(key);
            fits = fits && slot;
            if (!fits) return;
            used_ += slot->key == 0;
            slot->key = key;
            rows.push_back(&slot->row);
        });
    return fits;
}

void Slots::take(Zeroed<Slot>&& own) {
    own_ = std::move(own);
    slots_ = {own_.data(), own_.size()};
    shift_ = shift_for(own_.size());
}

void Slots::grow(std::size_t capacity) {
    Slots larger(capacity);
    for (const Slot& slot : slots_)
        if (slot.key != 0 && !slot.row.is_empty()) {
            Slot* place = larger.place(slot.key);
            larger.used_ += place->key == 0;
            *place = slot;
        }
    *this = std::move(larger);
}

std::vector<Slot> canonical(std::span<const Slot> slots) {
    std::vector<Slot> kept;
    std::copy_if(slots.begin(), slots.end(), std::back_inserter(kept),
                 [](const Slot& slot) { return slot.key != 0 && !slot.row.is_empty(); });
    std::sort(kept.begin(), kept.end(), [](const Slot& a, const Slot& b) { return spread(a.key) < spread(b.key); });
    std::vector<Slot> table(Slots::capacity_for(kept.size()));
    const int shift = shift_for(table.size());
    for (const Slot& slot : kept) *search(table, spread(slot.key) >> shift, slot.key) = slot;
    return table;
}

}  // namespace weigh::mail
