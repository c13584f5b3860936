#include "weigh/value_grid.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace weigh {
namespace {

constexpr int kDroppedBits = 42;  // of the 52 bits of the fraction
constexpr std::size_t kFirstSlots = 512;
constexpr std::int32_t kSkipped = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kRangePerRow = 4;  // counts of a range for each row, at most

// Numbers the cells in the order of their first occurrence, by open addressing.
class CellIndexer {
public:
    CellIndexer() : slots_(kFirstSlots) {}

    std::size_t index(std::int32_t cell) {
        if (cell == last_.cell && last_.index >= 0) return static_cast<std::size_t>(last_.index);  // often repeated
        Slot* slot = find(cell);
        if (slot->index < 0) {
            if (2 * cells_.size() >= slots_.size()) {
                grow();
                slot = find(cell);
            }
            *slot = {cell, static_cast<std::int32_t>(cells_.size())};
            cells_.push_back(cell);
        }
        last_ = *slot;
        return static_cast<std::size_t>(slot->index);
    }

    const std::vector<std::int32_t>& cells() const { return cells_; }

private:
    struct Slot {
        std::int32_t cell = 0;
        std::int32_t index = -1;  // −1 if the slot is empty
    };

    Slot* find(std::int32_t cell) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = (static_cast<std::uint32_t>(cell) * std::uint64_t{0x9E3779B97F4A7C15} >> 32) & mask;
        while (slots_[at].index >= 0 && slots_[at].cell != cell) at = (at + 1) & mask;
        return &slots_[at];
    }

    void grow() {
        slots_.assign(2 * slots_.size(), Slot{});
        for (std::size_t i = 0; i < cells_.size(); ++i) *find(cells_[i]) = {cells_[i], static_cast<std::int32_t>(i)};
    }

    std::vector<Slot> slots_;
    std::vector<std::int32_t> cells_;
    Slot last_;
};

// The counts of some rows of a cell-major table, in their given order; `cell_of(k)` is the cell of row k.
template <class CellOf>
CellCounts select_cells(const std::vector<std::size_t>& order, const std::vector<double>& counts, std::size_t classes,
                        CellOf cell_of) {
    CellCounts selected{std::vector<std::int32_t>(order.size()), std::vector<double>(classes * order.size())};
    for (std::size_t k = 0; k < order.size(); ++k) {
        selected.cells[k] = cell_of(order[k]);
        for (std::size_t c = 0; c < classes; ++c)
            selected.counts[c * order.size() + k] = counts[order[k] * classes + c];
    }
    return selected;
}

// The range of the cells of numbers of one sign; empty if `first` is above `last`.
struct CellRange {
    std::int32_t first = kSkipped, last = -kSkipped;

    void include(std::int32_t cell) {
        first = std::min(first, cell);
        last = std::max(last, cell);
    }

    std::int64_t size() const { return std::max<std::int64_t>(std::int64_t{last} - first + 1, 0); }
};

// Numbers every cell in the ranges of the negative and the positive numbers, and zero between them.
struct RangeIndex {
    CellRange negative, positive;

    std::int64_t size() const { return negative.size() + 1 + positive.size(); }

    std::size_t index(std::int32_t cell) const {
        const std::int64_t zero = negative.size();
        if (cell == 0) return static_cast<std::size_t>(zero);
        return static_cast<std::size_t>(cell < 0 ? cell - negative.first : zero + 1 + cell - positive.first);
    }

    std::int32_t cell(std::size_t index) const {
        const auto at = static_cast<std::int64_t>(index), zero = negative.size();
        if (at == zero) return 0;
        return static_cast<std::int32_t>(at < zero ? negative.first + at : positive.first + at - zero - 1);
    }
};

// Counts in an array with one row for every cell in the range of the numbers: numbers of similar size, such as ages and
// prices, have few.
template <class Weight>
CellCounts count_range(std::span<const std::int32_t> cells, const RangeIndex& range, Codes classes,
                       std::size_t n_classes, Weight weight) {
    const auto n_cells = static_cast<std::size_t>(range.size());
    std::vector<double> counts(n_cells * n_classes);
    std::vector<std::uint8_t> is_used(n_cells);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i] == kSkipped) continue;
        const std::size_t k = range.index(cells[i]);
        is_used[k] = 1;
        counts[k * n_classes + static_cast<std::size_t>(classes[i])] += weight(i);
    }
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < n_cells; ++k)
        if (is_used[k]) order.push_back(k);
    return select_cells(order, counts, n_classes, [&](std::size_t k) { return range.cell(k); });
}

template <class Weight>
CellCounts count_sparse(std::span<const std::int32_t> cells, Codes classes, std::size_t n_classes, Weight weight) {
    CellIndexer indexer;
    std::vector<double> counts;  // one row per cell
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i] == kSkipped) continue;
        const std::size_t k = indexer.index(cells[i]);
        if ((k + 1) * n_classes > counts.size()) counts.resize((k + 1) * n_classes);
        counts[k * n_classes + static_cast<std::size_t>(classes[i])] += weight(i);
    }
    const auto& found = indexer.cells();
    std::vector<std::size_t> order(found.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return found[a] < found[b]; });
    return select_cells(order, counts, n_classes, [&](std::size_t k) { return found[k]; });
}

template <class Weight>
CellCounts count_rows(std::span<const std::int32_t> cells, Codes classes, std::size_t n_classes, Weight weight) {
    RangeIndex range;
    for (const std::int32_t cell : cells)
        if (cell != 0 && cell != kSkipped) (cell < 0 ? range.negative : range.positive).include(cell);
    // A range with far more cells than rows takes longer to clear than looking up the cells.
    if (range.size() * static_cast<std::int64_t>(n_classes) <= kRangePerRow * std::ssize(cells))
        return count_range(cells, range, classes, n_classes, weight);
    return count_sparse(cells, classes, n_classes, weight);
}

}  // namespace

std::int32_t grid_cell(double value) {
    if (value == 0.0) return 0;  // −0 too
    const auto magnitude = std::bit_cast<std::uint64_t>(std::abs(value)) >> kDroppedBits;
    const auto cell = static_cast<std::int32_t>(magnitude) + 1;
    return value < 0.0 ? -cell : cell;
}

CellCounts count_cells(Codes classes, std::size_t n_classes, Strided<double> values, std::span<const double> weights) {
    std::vector<std::int32_t> cells(values.size);
    for (std::size_t i = 0; i < values.size; ++i)
        cells[i] = classes[i] < 0 || !std::isfinite(values[i]) ? kSkipped : grid_cell(values[i]);
    if (weights.empty()) return count_rows(cells, classes, n_classes, [](std::size_t) { return 1.0; });
    return count_rows(cells, classes, n_classes, [weights](std::size_t i) { return weights[i]; });
}

CellUnion unite_cells(std::span<const std::int32_t> first, std::span<const std::int32_t> second) {
    CellUnion both{{}, std::vector<std::size_t>(first.size()), std::vector<std::size_t>(second.size())};
    both.cells.reserve(first.size() + second.size());
    std::size_t a = 0, b = 0;
    while (a < first.size() || b < second.size()) {
        const bool takes_first = b == second.size() || (a < first.size() && first[a] <= second[b]);
        const std::int32_t cell = takes_first ? first[a] : second[b];
        if (takes_first) both.first[a++] = both.cells.size();
        if (b < second.size() && second[b] == cell) both.second[b++] = both.cells.size();
        both.cells.push_back(cell);
    }
    return both;
}

}  // namespace weigh
