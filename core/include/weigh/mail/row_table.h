// Open-addressing hash table from feature keys to rows of two 32-bit cells.
//
// Key zero marks a free slot. The capacity is a power of two, and the load factor is at most 3/5. The slots may
// be read from a file on demand until the table grows. File contents are not trusted, so that every search is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "weigh/mail/block_loader.h"
#include "weigh/mail/hashed_features.h"
#include "weigh/zeroed_array.h"

namespace weigh::mail {

// The state of a feature; all zero means none.
struct Row {
    std::uint32_t first = 0, second = 0;

    bool is_empty() const { return (first | second) == 0; }
};

struct Slot {
    std::uint64_t key = 0;
    Row row;
};
static_assert(sizeof(Slot) == 16);

class RowTable {
public:
    static constexpr std::size_t kMinCapacity = 16;

    RowTable() : RowTable(kMinCapacity) {}
    explicit RowTable(std::size_t capacity) : RowTable(ZeroedArray<Slot>(capacity), 0, nullptr) {}
    // Use slots whose number is a power of two and of which `used` are occupied. A loader fills them on demand, so that
    // everything below may throw what it throws.
    RowTable(ZeroedArray<Slot>&& slots, std::size_t used, std::unique_ptr<BlockLoader> loader);

    // The smallest capacity for a number of keys.
    static std::size_t capacity_for(std::size_t keys);

    std::span<const Slot> all() const;
    // Occupied, non-empty slots sorted by `fibonacci_hash`.
    std::vector<Slot> sorted() const;

    // The rows of the keys in order; `absent` stands for missing keys.
    void find(const HashedFeatures& features, Row& absent, std::vector<Row*>& rows) const;
    // The same, adding empty rows for missing keys.
    void find_or_add(const HashedFeatures& features, std::vector<Row*>& rows);
    // The slot of a key, or the free slot where it belongs; null if the table is full.
    Slot* find_slot(std::uint64_t key) const;

private:
    void grow(std::size_t capacity);
    std::size_t home_index(std::uint64_t key) const;
    template <class Function>
    void for_each_key(const Keys& keys, Function function) const;
    bool add(const HashedFeatures& features, std::vector<Row*>& rows);

    ZeroedArray<Slot> slots_;
    std::unique_ptr<BlockLoader> loader_;
    std::size_t used_ = 0;
    int shift_ = 0;
};

// Fibonacci hashing: the leading bits are the home slot of a key.
inline std::uint64_t fibonacci_hash(std::uint64_t key) { return key * 0x9E3779B97F4A7C15ULL; }

// Write sorted slots as a table of the given capacity. Equal rows give equal bytes, whatever the history.
void write_table(std::span<const Slot> sorted, std::size_t capacity, char* out);

}  // namespace weigh::mail
