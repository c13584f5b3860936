// Count tables [class, value], and smoothed log probabilities of counts.
//
// Tables are row-major, one row per class. Without weights the counts are integers and exact; with weights they are
// doubles. Rows with a negative class or code are skipped.
#pragma once

#include "weigh/views.h"

namespace weigh {

// table[class][code] += 1
void count_codes(Codes classes, Codes codes, std::size_t width, std::span<std::int64_t> table);

// table[class][code] += weight
void count_codes(Codes classes, Codes codes, std::span<const double> weights, std::size_t width,
                 std::span<double> table);

// table[class][index] += weight × value; an empty `weights` span means unit weights.
void count_sparse(Codes classes, const SparseRows& rows, std::span<const double> weights, std::size_t width,
                  std::span<double> table);

// logs[k][c] = log((counts[c][k] + pseudocount) / totals[c]): the counts are class-major, the logs word-major.
// Instantiated for std::uint8_t, std::uint16_t, std::uint32_t and std::int64_t.
template <class Count>
void smoothed_log_probabilities(std::span<const Count> counts, double pseudocount, std::span<const double> totals,
                                double* logs);

}  // namespace weigh
