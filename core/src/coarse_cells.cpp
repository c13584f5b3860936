#include "weigh/coarse_cells.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <span>

#include "weigh/value_grid.h"

namespace weigh {
namespace {

constexpr std::size_t kTileColumns = 8;  // of doubles in a cache line
constexpr std::size_t kTileRows = 256;   // whose cache lines stay in the cache until all columns are read
constexpr std::int64_t kCachedSlots = 2048;
constexpr std::int64_t kTableSlots = 1 << 16;
constexpr std::int64_t kSlotsPerRow = 4;  // of a table that is faster than a map
constexpr std::uint64_t kInfinity = 0x7FF0000000000000;
constexpr std::uint64_t kSign = std::uint64_t{1} << 31;
constexpr std::uint32_t kMagnitude = kSign - 1;

// Write the key of each number: the magnitude of its cell and, as the highest bit, its sign; 0 for zero and for numbers
// that are skipped. Returns how many are skipped. There are no branches on the signs, which nobody can predict.
std::int64_t write_keys(Strided<double> values, std::uint32_t* keys) {
    std::int64_t n_skipped = 0;
    for (std::size_t i = 0; i < values.size; ++i) {
        const auto bits = std::bit_cast<std::uint64_t>(values[i]), magnitude = bits & ~(kSign << 32);
        const auto key = (magnitude >> kDroppedBits) + 1 + (bits >> 32 & kSign);
        const bool is_skipped = magnitude >= kInfinity;
        keys[i] = magnitude == 0 || is_skipped ? 0 : static_cast<std::uint32_t>(key);
        n_skipped += is_skipped;
    }
    return n_skipped;
}

// The keys of a column and the range of their magnitudes less 1; `first` is above `last` if all are 0.
struct Column {
    std::span<const std::uint32_t> keys;
    std::int64_t n_skipped;
    std::uint32_t first = kMagnitude, last = 0;

    Column(std::span<const std::uint32_t> cells, std::int64_t skipped) : keys(cells), n_skipped(skipped) {
        std::uint32_t largest = 0;
        for (const std::uint32_t key : keys) {
            first = std::min(first, ((key & kMagnitude) - 1) & kMagnitude);  // the largest number for 0
            largest = std::max(largest, key & kMagnitude);
        }
        last = std::max(largest, 1U) - 1;
    }

    std::int64_t slots(int coarseness) const {
        return first > last ? 0 : (last >> coarseness) - (first >> coarseness) + 1;
    }
};

void append(CoarseCells& counted, std::int64_t cell, std::int64_t count) {
    if (count == 0) return;
    counted.cells.push_back(static_cast<std::int32_t>(cell));
    counted.counts.push_back(count);
}

// Count in a slot for 0, one for each magnitude of the positive numbers, and one for each of the negative ones.
CoarseCells count_in_table(const Column& column, int coarseness) {
    const std::int64_t n = column.slots(coarseness), start = column.first >> coarseness;
    std::vector<std::int64_t> table(static_cast<std::size_t>(2 * n + 1));
    const std::int64_t offsets[] = {1 - start, 1 - start + n};
    for (const std::uint32_t key : column.keys) {
        const std::int64_t step = ((key & kMagnitude) - 1) >> coarseness;
        const std::int64_t slot = key == 0 ? 0 : step + offsets[key >> 31];
        ++table[static_cast<std::size_t>(slot)];
    }
    CoarseCells counted{{}, {}, coarseness};
    for (std::int64_t k = n; k > 0; --k) append(counted, -(start + k), table[static_cast<std::size_t>(n + k)]);
    append(counted, 0, table[0] - column.n_skipped);
    for (std::int64_t k = 1; k <= n; ++k) append(counted, start + k, table[static_cast<std::size_t>(k)]);
    return counted;
}

CoarseCells count_in_map(const Column& column) {
    std::map<std::int64_t, std::int64_t> counts{{0, -column.n_skipped}};
    for (const std::uint32_t key : column.keys) {
        const std::int64_t magnitude = key & kMagnitude;
        ++counts[key & kSign ? -magnitude : magnitude];
    }
    CoarseCells counted;
    for (const auto& [cell, count] : counts) append(counted, cell, count);
    return counted;
}

void double_widths(CoarseCells& counted) {
    std::size_t n = 0;
    for (std::size_t k = 0; k < counted.cells.size(); ++k) {
        const std::int32_t cell = counted.cells[k];
        const std::int32_t merged = cell > 0 ? (cell + 1) / 2 : (cell - 1) / 2;
        const std::int64_t count = counted.counts[k];
        if (n > 0 && counted.cells[n - 1] == merged) {
            counted.counts[n - 1] += count;
        } else {
            counted.cells[n] = merged;
            counted.counts[n++] = count;
        }
    }
    counted.cells.resize(n);
    counted.counts.resize(n);
    ++counted.coarseness;
}

CoarseCells count_column(const Column& column, std::size_t max_cells) {
    // A table that stays in the cache usually has more cells than are wanted, so that one pass is enough.
    int coarseness = 0;
    while (2 * column.slots(coarseness) > kCachedSlots) ++coarseness;
    CoarseCells counted = count_in_table(column, coarseness);
    if (coarseness > 0 && counted.cells.size() <= max_cells) {
        const bool is_short = 2 * column.slots(0) <= kTableSlots + kSlotsPerRow * std::ssize(column.keys);
        counted = is_short ? count_in_table(column, 0) : count_in_map(column);
    }
    while (counted.cells.size() > max_cells) double_widths(counted);
    return counted;
}

}  // namespace

std::vector<CoarseCells> count_coarse_cells(const StridedMatrix& values, std::size_t max_cells) {
    std::vector<CoarseCells> found(values.columns);
    std::vector<std::uint32_t> keys(values.rows * std::min(kTileColumns, values.columns));
    for (std::size_t first = 0; first < values.columns; first += kTileColumns) {
        const std::size_t width = std::min(kTileColumns, values.columns - first);
        std::array<std::int64_t, kTileColumns> skipped{};
        for (std::size_t start = 0; start < values.rows; start += kTileRows) {
            const std::size_t n = std::min(kTileRows, values.rows - start);
            for (std::size_t j = 0; j < width; ++j) {
                const double* data = values.data + static_cast<std::ptrdiff_t>(start) * values.row_stride +
                                     static_cast<std::ptrdiff_t>(first + j) * values.column_stride;
                skipped[j] += write_keys({data, n, values.row_stride}, keys.data() + j * values.rows + start);
            }
        }
        for (std::size_t j = 0; j < width; ++j)
            found[first + j] = count_column({{keys.data() + j * values.rows, values.rows}, skipped[j]}, max_cells);
    }
    return found;
}

}  // namespace weigh
