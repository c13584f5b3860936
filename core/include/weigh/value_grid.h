// Counts of numbers on a grid that does not depend on the data, so that counts of any parts of a table add up.
//
// The grid has 1024 cells between neighbouring powers of two: a cell is a sign, an exponent and the first 10 bits of the
// fraction. Whole numbers up to 2047 have cells of their own; larger ones share theirs with numbers that agree in
// three digits. Cells are numbered in the order of their numbers: 0 is zero, and −k mirrors k.
#pragma once

#include <vector>

#include "weigh/views.h"

namespace weigh {

struct CellCounts {
    std::vector<std::int32_t> cells;  // ascending
    std::vector<double> counts;       // row-major: one row per class, one column per cell
};

// The cell of a finite number.
std::int32_t grid_cell(double value);

// Count the numbers of each class by cell, or sum their weights. Rows with a negative class and values that are NaN or
// infinite are skipped; an empty `weights` span means unit weights.
CellCounts count_cells(Codes classes, std::size_t n_classes, Strided<double> values, std::span<const double> weights);

}  // namespace weigh
