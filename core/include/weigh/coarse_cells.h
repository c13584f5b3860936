// Counts of numbers in few cells: those of value_grid.h, widened by doubling until there are few enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "weigh/views.h"

namespace weigh {

// The counts of one column. With coarseness s, the cell ±k holds the grid cells ±m with ((m − 1) >> s) + 1 = k; the
// cell 0 holds zero.
struct CoarseCells {
    std::vector<std::int32_t> cells;  // ascending
    std::vector<std::int64_t> counts;
    int coarseness = 0;  // the smallest with at most the given number of cells
};

// Count the numbers of each column in at most `max_cells` ≥ 3 cells; NaN and infinities are skipped.
std::vector<CoarseCells> count_coarse_cells(const StridedMatrix& values, std::size_t max_cells);

}  // namespace weigh
