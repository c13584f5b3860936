// Counts of numbers on a grid that does not depend on the data, so that counts of any parts of a table add up.
//
// The grid has 1024 cells between neighbouring powers of two: a cell is a sign, an exponent and the first 10 bits of the
// fraction. Whole numbers up to 2047 have cells of their own; larger ones share theirs with numbers that agree in
// three digits. Cells are numbered in the order of their numbers: 0 is zero, and −k mirrors k.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "weigh/views.h"

namespace weigh {

struct CellCounts {
    std::vector<std::int32_t> cells;  // ascending
    std::vector<double> counts;       // row-major: one row per class, one column per cell
};

constexpr int kDroppedBits = 42;  // of the 52 bits of the fraction

// The cell of a finite number.
inline std::int32_t grid_cell(double value) {
    if (value == 0.0) return 0;  // −0 too
    const auto magnitude = std::bit_cast<std::uint64_t>(std::abs(value)) >> kDroppedBits;
    const auto cell = static_cast<std::int32_t>(magnitude) + 1;
    return value < 0.0 ? -cell : cell;
}

// Count the numbers of each class by cell, or sum their weights. Rows with a negative class and values that are NaN or
// infinite are skipped; an empty `weights` span means unit weights.
CellCounts count_cells(Codes classes, std::size_t n_classes, Strided<double> values, std::span<const double> weights);

// Counts with ascending cells, row-major with one row per class.
template <class Count>
struct CellTable {
    std::span<const std::int32_t> cells;
    std::span<const Count> counts;
};

// Where the cells of two tables are in the ascending union of their cells.
struct CellUnion {
    std::vector<std::int32_t> cells;
    std::vector<std::size_t> first, second;
};

CellUnion unite_cells(std::span<const std::int32_t> first, std::span<const std::int32_t> second);

// The sum of the counts of two tables, or their difference, over a union of their cells.
template <class Count>
std::vector<Count> add_cells(const CellTable<Count>& first, const CellTable<Count>& second, bool subtracts,
                             const CellUnion& both, std::size_t n_classes) {
    const std::size_t n_cells = both.cells.size();
    std::vector<Count> sums(n_classes * n_cells);
    for (std::size_t c = 0; c < n_classes; ++c) {
        Count* row = sums.data() + c * n_cells;
        const Count* a = first.counts.data() + c * both.first.size();
        const Count* b = second.counts.data() + c * both.second.size();
        for (std::size_t k = 0; k < both.first.size(); ++k) row[both.first[k]] = a[k];
        for (std::size_t k = 0; k < both.second.size(); ++k) row[both.second[k]] += subtracts ? -b[k] : b[k];
    }
    return sums;
}

}  // namespace weigh
