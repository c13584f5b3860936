#include "weigh/value_grid.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace weigh {
namespace {

constexpr std::size_t kFirstSlots = 512;
constexpr std::int32_t kSkipped = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kRangePerRow = 8;  // cells of a range for each row, at most

struct IndexedCell {
    std::int32_t cell;
    std::size_t index;
};

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

    // The cells in ascending order, and the index of each.
    std::vector<IndexedCell> sorted() const {
        std::vector<IndexedCell> found(cells_.size());
        for (std::size_t k = 0; k < cells_.size(); ++k) found[k] = {cells_[k], k};
        std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.cell < b.cell; });
        return found;
    }

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

// The range of the cells of numbers of one sign; empty if `first` is above `last`.
struct CellRange {
    std::int32_t first = kSkipped, last = -kSkipped;

    void include(std::int32_t cell) {
        first = std::min(first, cell);
        last = std::max(last, cell);
    }

    std::int64_t size() const { return std::max<std::int64_t>(std::int64_t{last} - first + 1, 0); }
};

// Numbers the cells in the order of their first occurrence, by an array over their range: numbers of similar size, such
// as ages and prices, have a short one.
class RangeIndexer {
public:
    RangeIndexer(CellRange negative, CellRange positive)
        : negative_(negative), positive_(positive), zero_(negative.size()),
          indices_(static_cast<std::size_t>(zero_ + 1 + positive.size()), -1) {}

    std::size_t index(std::int32_t cell) {
        const std::int64_t place = cell == 0  ? zero_
                                   : cell < 0 ? std::int64_t{cell} - negative_.first
                                              : zero_ + 1 + cell - positive_.first;
        std::int32_t& index = indices_[static_cast<std::size_t>(place)];
        if (index < 0) index = n_cells_++;
        return static_cast<std::size_t>(index);
    }

    std::vector<IndexedCell> sorted() const {
        std::vector<IndexedCell> found;
        found.reserve(static_cast<std::size_t>(n_cells_));
        for (std::size_t place = 0; place < indices_.size(); ++place)
            if (indices_[place] >= 0)
                found.push_back({cell_at(static_cast<std::int64_t>(place)), static_cast<std::size_t>(indices_[place])});
        return found;
    }

private:
    std::int32_t cell_at(std::int64_t place) const {
        if (place == zero_) return 0;
        return static_cast<std::int32_t>(place < zero_ ? negative_.first + place : positive_.first + place - zero_ - 1);
    }

    CellRange negative_, positive_;
    std::int64_t zero_;
    std::vector<std::int32_t> indices_;  // −1 if the cell has not occurred
    std::int32_t n_cells_ = 0;
};

template <class Indexer, class Weight>
CellCounts count_indexed(std::span<const std::int32_t> cells, Indexer indexer, Codes classes, std::size_t n_classes,
                         Weight weight) {
    std::vector<double> counts;  // one row per cell
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i] == kSkipped) continue;
        const std::size_t k = indexer.index(cells[i]);
        if ((k + 1) * n_classes > counts.size()) counts.resize((k + 1) * n_classes);
        counts[k * n_classes + static_cast<std::size_t>(classes[i])] += weight(i);
    }
    const auto order = indexer.sorted();
    CellCounts sorted{std::vector<std::int32_t>(order.size()), std::vector<double>(n_classes * order.size())};
    for (std::size_t k = 0; k < order.size(); ++k) {
        sorted.cells[k] = order[k].cell;
        for (std::size_t c = 0; c < n_classes; ++c)
            sorted.counts[c * order.size() + k] = counts[order[k].index * n_classes + c];
    }
    return sorted;
}

template <class Weight>
CellCounts count_rows(std::span<const std::int32_t> cells, Codes classes, std::size_t n_classes, Weight weight) {
    CellRange negative, positive;
    for (const std::int32_t cell : cells)
        if (cell != 0 && cell != kSkipped) (cell < 0 ? negative : positive).include(cell);
    // A range with far more cells than rows takes longer to clear than looking up the cells.
    if (negative.size() + positive.size() <= kRangePerRow * std::ssize(cells))
        return count_indexed(cells, RangeIndexer(negative, positive), classes, n_classes, weight);
    return count_indexed(cells, CellIndexer(), classes, n_classes, weight);
}

}  // namespace

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
