// Adds the contributions of features to scores [rows, classes].
//
// Missing values (a negative code, NaN) contribute nothing. Weight tables are value-major: the weights of one value
// for all classes are contiguous.
#pragma once

#include "weigh/views.h"

namespace weigh {

// scores[i] += table[codes[i]]
void score_codes(Codes codes, std::span<const double> table, std::size_t classes, std::span<double> scores);

// scores[i] += values[i] · weights
void score_linear(Strided<double> values, std::span<const double> weights, std::span<double> scores);

// scores[i] += Σ value · table[index] over the row's entries
void score_sparse(const SparseRows& rows, std::span<const double> table, std::size_t classes, std::span<double> scores);

// scores[i] += constant − ½ ((values[i] − mean) · inverse_std)², computed in centred form to avoid cancellation. The
// mean is mean + mean_residual: if the values vary little compared with their size, rounding the mean to a double would
// move it by much of a standard deviation. Beyond 1e150 standard deviations the penalty grows logarithmically, so that
// it stays finite.
void score_gaussian(Strided<double> values, std::span<const double> mean, std::span<const double> mean_residual,
                    std::span<const double> inverse_std, std::span<const double> constant, std::span<double> scores);

}  // namespace weigh
