// Rows of two 32-bit cells, found by their keys: a table with open addressing.
//
// A slot with the key zero is free. The table is a power of two long and at most three fifths full. Its
// memory is its own, or a file's until it grows; what a file holds is not trusted, so no search goes on
// for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "weigh/mail/mapping.h"
#include "weigh/mail/print.h"
#include "weigh/zeroed_array.h"

namespace weigh::mail {

// What a learner keeps of a feature; both cells zero: nothing.
struct Row {
    std::uint32_t first = 0, second = 0;

    bool is_empty() const { return (first | second) == 0; }
};

struct Slot {
    std::uint64_t key = 0;
    Row row;
};
static_assert(sizeof(Slot) == 16);

class Slots {
public:
    static constexpr std::size_t kLeast = 16;

    Slots() : Slots(kLeast) {}
    explicit Slots(std::size_t capacity) { take(ZeroedArray<Slot>(capacity)); }
    // The slots of a file, `used` of them taken; the capacity is a power of two and fits the file.
    Slots(Mapping&& file, std::size_t begin, std::size_t capacity, std::size_t used);

    // The shortest table for so many keys.
    static std::size_t capacity_for(std::size_t keys);

    std::span<const Slot> all() const { return slots_; }
    // Those with something in them, in the order of `spread`.
    std::vector<Slot> ordered() const;

    // The rows of the keys, in their order; `absent` stands for those that are not there.
    void find(const Print& print, Row& absent, std::vector<Row*>& rows) const;
    // The same, with new empty rows for those that are not there.
    void find_or_add(const Print& print, std::vector<Row*>& rows);
    // The slot of a key, or the free one where it belongs; null if there is neither.
    Slot* place(std::uint64_t key) const;

private:
    void take(ZeroedArray<Slot>&& own);
    void grow(std::size_t capacity);
    std::size_t home(std::uint64_t key) const;
    template <class Function>
    void each(const Keys& keys, Function function) const;
    bool add(const Print& print, std::vector<Row*>& rows);

    ZeroedArray<Slot> own_;
    Mapping file_;
    std::span<Slot> slots_;
    std::size_t used_ = 0;
    int shift_ = 0;
};

// Where a key belongs: the leading bits of this.
inline std::uint64_t spread(std::uint64_t key) { return key * 0x9E3779B97F4A7C15ULL; }

// Write slots in their order into a table of so many, each into its place: equal rows make equal bytes,
// whatever was there before.
void lay_out(std::span<const Slot> ordered, std::size_t capacity, char* out);

}  // namespace weigh::mail
