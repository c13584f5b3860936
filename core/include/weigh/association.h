// Association of discrete columns within classes: conditional mutual information, and ranks of numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weigh/views.h"

namespace weigh {

// Rows of discrete columns: `codes` is column-major, −1 where a value is missing; codes of column j are below levels[j].
struct DiscreteRows {
    std::span<const std::int32_t> codes;
    std::span<const std::int32_t> levels;
    std::span<const std::int32_t> classes;  // from 0 to n_classes − 1
    std::size_t n_classes;
    std::span<const double> weights;

    std::size_t rows() const { return classes.size(); }
    std::size_t columns() const { return levels.size(); }
};

// Sums over the classes, for each pair of columns (a, b), as row-major matrices: n I(a, b), n H(a) where both are
// known, the degrees of freedom, and n, the weight of the rows where both are known.
struct Association {
    std::vector<double> information, entropy, freedom, known;
};

Association measure_association(const DiscreteRows& rows);

// For each column, the logarithm of the number of ways to arrange its values within the classes.
std::vector<double> log_arrangements(const DiscreteRows& rows);

struct RankedNumber {
    std::vector<std::int32_t> bins;
    std::vector<double> ranks;  // between −1/2 and 1/2, equal for equal numbers; NaN where there is none
};

// The rank of each number among the known numbers of its class, and its bin: up to `n_bins` with about as many rows
// each, of at least `min_bin_rows`. NaN is missing, and a single number of a class has no rank.
RankedNumber rank_within_classes(Strided<double> values, std::span<const std::int32_t> classes, std::size_t n_classes,
                                 std::size_t n_bins, std::size_t min_bin_rows);

}  // namespace weigh
