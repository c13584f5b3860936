#include "weigh/value_grid.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace weigh {
namespace {

constexpr int kDroppedBits = 42;  // of the 52 bits of the fraction
constexpr std::size_t kFirstSlots = 512;

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

CellCounts sort_cells(const std::vector<std::int32_t>& cells, const std::vector<double>& counts, std::size_t classes) {
    std::vector<std::size_t> order(cells.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return cells[a] < cells[b]; });
    CellCounts sorted{std::vector<std::int32_t>(cells.size()), std::vector<double>(classes * cells.size())};
    for (std::size_t k = 0; k < order.size(); ++k) {
        sorted.cells[k] = cells[order[k]];
        for (std::size_t c = 0; c < classes; ++c)
            sorted.counts[c * order.size() + k] = counts[order[k] * classes + c];
    }
    return sorted;
}

}  // namespace

std::int32_t grid_cell(double value) {
    if (value == 0.0) return 0;  // −0 too
    const auto magnitude = std::bit_cast<std::uint64_t>(std::abs(value)) >> kDroppedBits;
    const auto cell = static_cast<std::int32_t>(magnitude) + 1;
    return value < 0.0 ? -cell : cell;
}

CellCounts count_cells(Codes classes, std::size_t n_classes, Strided<double> values, std::span<const double> weights) {
    CellIndexer indexer;
    std::vector<double> counts;  // one row per cell
    for (std::size_t i = 0; i < values.size; ++i) {
        if (classes[i] < 0 || !std::isfinite(values[i])) continue;
        const std::size_t k = indexer.index(grid_cell(values[i]));
        if ((k + 1) * n_classes > counts.size()) counts.resize((k + 1) * n_classes);
        counts[k * n_classes + static_cast<std::size_t>(classes[i])] += weights.empty() ? 1.0 : weights[i];
    }
    return sort_cells(indexer.cells(), counts, n_classes);
}

}  // namespace weigh
