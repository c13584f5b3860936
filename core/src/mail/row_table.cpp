#include "weigh/mail/row_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace weigh::mail {

namespace {

constexpr std::size_t kSlotsPerBlock = BlockLoader::kBlockSize / sizeof(Slot);

int shift_for(std::size_t capacity) { return 64 - std::countr_zero(capacity); }

}  // namespace

RowTable::RowTable(ZeroedArray<Slot>&& slots, std::size_t used, std::unique_ptr<BlockLoader> loader)
    : slots_(std::move(slots)), loader_(std::move(loader)), used_(used), shift_(shift_for(slots_.size())) {}

std::size_t RowTable::capacity_for(std::size_t keys) {
    return std::max(kMinCapacity, std::bit_ceil((5 * keys + 2) / 3));
}

std::size_t RowTable::home_index(std::uint64_t key) const { return fibonacci_hash(key) >> shift_; }

Slot* RowTable::find_slot(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1, first = home_index(key);
    for (std::size_t step = 0; step <= mask; ++step) {
        const std::size_t at = (first + step) & mask;
        if (loader_ && (step == 0 || at % kSlotsPerBlock == 0)) loader_->load(at * sizeof(Slot));
        Slot& slot = slots_[at];
        if (slot.key == key || slot.key == 0) return &slot;
    }
    return nullptr;
}

// The table exceeds the caches, so prefetch slots ahead of use.
template <class Function>
void RowTable::for_each_key(const Keys& keys, Function function) const {
    constexpr std::size_t kAhead = 24;
    for (std::size_t at = 0; at < std::min(kAhead, keys.size()); ++at)
        __builtin_prefetch(&slots_[home_index(keys[at])]);
    for (std::size_t at = 0; at < keys.size(); ++at) {
        if (at + kAhead < keys.size()) __builtin_prefetch(&slots_[home_index(keys[at + kAhead])]);
        function(keys[at]);
    }
}

void RowTable::find(const HashedFeatures& features, Row& absent, std::vector<Row*>& rows) const {
    rows.clear();
    for (std::size_t view = 0; view < kViews; ++view)
        for_each_key(features[view], [&](std::uint64_t key) {
            Slot* slot = find_slot(key);
            rows.push_back(slot && slot->key != 0 ? &slot->row : &absent);
        });
}

void RowTable::find_or_add(const HashedFeatures& features, std::vector<Row*>& rows) {
    const std::size_t needed = capacity_for(used_ + features.size());
    if (needed > slots_.size()) grow(needed);
    // Only a damaged file can have more keys than declared.
    while (!add(features, rows)) grow(2 * slots_.size());
}

bool RowTable::add(const HashedFeatures& features, std::vector<Row*>& rows) {
    rows.clear();
    bool fits = true;
    for (std::size_t view = 0; view < kViews; ++view)
        for_each_key(features[view], [&](std::uint64_t key) {
            Slot* slot = find_slot(key);
            fits = fits && slot;
            if (!fits) return;
            used_ += slot->key == 0;
            slot->key = key;
            rows.push_back(&slot->row);
        });
    return fits;
}

std::span<const Slot> RowTable::all() const {
    if (loader_) loader_->load_all();
    return {slots_.data(), slots_.size()};
}

void RowTable::grow(std::size_t capacity) {
    RowTable larger(capacity);
    for (const Slot& slot : all())
        if (slot.key != 0 && !slot.row.is_empty()) {
            Slot* target = larger.find_slot(slot.key);
            larger.used_ += target->key == 0;
            *target = slot;
        }
    *this = std::move(larger);
}

// The slots are almost sorted by `fibonacci_hash`, except within runs of adjacent slots, and for keys that wrapped
// around at the end of the table.
std::vector<Slot> RowTable::sorted() const {
    const auto before = [](const Slot& a, const Slot& b) { return fibonacci_hash(a.key) < fibonacci_hash(b.key); };
    std::vector<Slot> found, wrapped;
    found.reserve(used_);
    std::ptrdiff_t begin = 0;  // start of the current run of adjacent slots
    const auto sort_last = [&] {
        if (std::ssize(found) > begin + 1) std::sort(found.begin() + begin, found.end(), before);
        begin = std::ssize(found);
    };
    const std::span<const Slot> slots = all();
    for (std::size_t at = 0; at < slots.size(); ++at) {
        const Slot& slot = slots[at];
        if (slot.key == 0) sort_last();
        else if (!slot.row.is_empty()) (home_index(slot.key) > at ? wrapped : found).push_back(slot);
    }
    found.insert(found.end(), wrapped.begin(), wrapped.end());
    sort_last();
    // Only a damaged file has misplaced slots.
    if (!std::is_sorted(found.begin(), found.end(), before)) std::sort(found.begin(), found.end(), before);
    return found;
}

void write_table(std::span<const Slot> sorted, std::size_t capacity, char* out) {
    const auto put = [&](std::size_t position, const Slot& slot) {
        std::memcpy(out + position * sizeof(Slot), &slot, sizeof(Slot));
    };
    const int shift = shift_for(capacity);
    std::size_t at = 0, position = 0;
    for (; at < sorted.size() && position < capacity; ++at) {
        const std::size_t home = fibonacci_hash(sorted[at].key) >> shift;
        while (position < home) put(position++, {});
        put(position++, sorted[at]);
    }
    while (position < capacity) put(position++, {});
    // Wrap around at the end of the table.
    for (position = 0; at < sorted.size(); ++position)
        if (load_word(out + position * sizeof(Slot)) == 0) put(position, sorted[at++]);
}

}  // namespace weigh::mail
