// Adding evidence to scores: scores is row-major, one row per data row, one column per class.
//
// Missing values (a negative code, NaN) add nothing. Tables of weights are value-major: the
// weights of one value for all classes lie side by side.
#pragma once

#include "weigh/views.h"

namespace weigh {

// scores[i] += table[codes[i]]
void score_codes(Codes codes, std::span<const double> table, std::size_t classes, std::span<double> scores);

// scores[i] += values[i] · weights
void score_linear(Strided<double> values, std::span<const double> weights, std::span<double> scores);

// scores[i] += Σ value · table[index] over the row's entries
void score_sparse(const SparseRows& rows, std::span<const double> table, std::size_t classes, std::span<double> scores);

// scores[i] += constant − ½ ((values[i] − mean) · steepness)², centred so that no digits are lost;
// for distances beyond 1e150 the penalty grows as their logarithm, so that it stays finite
void score_gaussian(Strided<double> values, std::span<const double> mean, std::span<const double> steepness,
                    std::span<const double> constant, std::span<double> scores);

}  // namespace weigh
