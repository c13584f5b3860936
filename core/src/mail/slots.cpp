#include "weigh/mail/slots.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace weigh::mail {

namespace {

int shift_for(std::size_t capacity) { return 64 - std::countr_zero(capacity); }

}  // namespace

Slots::Slots(Mapping&& file, std::size_t begin, std::size_t capacity, std::size_t used)
    : file_(std::move(file)),
      slots_(reinterpret_cast<Slot*>(file_.data() + begin), capacity),
      used_(used),
      shift_(shift_for(capacity)) {}

std::size_t Slots::capacity_for(std::size_t keys) { return std::max(kLeast, std::bit_ceil((5 * keys + 2) / 3)); }

std::size_t Slots::home(std::uint64_t key) const { return spread(key) >> shift_; }

Slot* Slots::place(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1, first = home(key);
    for (std::size_t step = 0; step <= mask; ++step) {
        Slot& slot = slots_[(first + step) & mask];
        if (slot.key == key || slot.key == 0) return &slot;
    }
    return nullptr;
}

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

void Slots::take(ZeroedArray<Slot>&& own) {
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

// Slots lie in the order of `spread` already, but for those next to each other, and those that found the end
// of the table full and went on at its beginning.
std::vector<Slot> Slots::ordered() const {
    const auto before = [](const Slot& a, const Slot& b) { return spread(a.key) < spread(b.key); };
    std::vector<Slot> found, wrapped;
    found.reserve(used_);
    std::ptrdiff_t begin = 0;  // of the slots that are next to each other
    const auto sort_last = [&] {
        if (std::ssize(found) > begin + 1) std::sort(found.begin() + begin, found.end(), before);
        begin = std::ssize(found);
    };
    for (std::size_t at = 0; at < slots_.size(); ++at) {
        const Slot& slot = slots_[at];
        if (slot.key == 0) sort_last();
        else if (!slot.row.is_empty()) (home(slot.key) > at ? wrapped : found).push_back(slot);
    }
    found.insert(found.end(), wrapped.begin(), wrapped.end());
    sort_last();
    // Only a damaged file has slots where they do not belong.
    if (!std::is_sorted(found.begin(), found.end(), before)) std::sort(found.begin(), found.end(), before);
    return found;
}

void lay_out(std::span<const Slot> ordered, std::size_t capacity, char* out) {
    const auto put = [&](std::size_t place, const Slot& slot) {
        std::memcpy(out + place * sizeof(Slot), &slot, sizeof(Slot));
    };
    const int shift = shift_for(capacity);
    std::size_t at = 0, place = 0;
    for (; at < ordered.size() && place < capacity; ++at) {
        const std::size_t home = spread(ordered[at].key) >> shift;
        while (place < home) put(place++, {});
        put(place++, ordered[at]);
    }
    while (place < capacity) put(place++, {});
    // What finds the end full goes on at the beginning.
    for (place = 0; at < ordered.size(); ++place)
        if (load_word(out + place * sizeof(Slot)) == 0) put(place, ordered[at++]);
}

}  // namespace weigh::mail
