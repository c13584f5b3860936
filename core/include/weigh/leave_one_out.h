// Scores of training rows under the model without each row: its own values are subtracted from the counts or moments.
//
// Only the estimates of a row's own class change, up to rare exceptions. Where subtraction would lose precision, or an
// exception applies, the row is marked as irregular and nothing is added to its scores; the caller computes it exactly.
// Every row has a class in [0, classes) and a non-negative weight that its class contains.
#pragma once

#include "weigh/views.h"

namespace weigh {

// The rows that are left out one at a time, and the mask of irregular rows to fill in.
struct LeftOut {
    Codes classes;
    std::span<const double> weights;
    std::span<std::uint8_t> irregular;
};

// Moments of the values of each class and, last, of all values. `variance` is NaN for a class without values.
struct ClassMoments {
    std::span<const double> known, mean, mean_residual, variance;
};

// Add the log density of each value without its row, with the variance of each class but at least min_ratio times that
// of all values.
void leave_out_gaussian(Strided<double> values, const LeftOut& rows, const ClassMoments& moments, double min_ratio,
                        std::span<double> scores);

// The same with one variance for all classes: `variance` is pooled over the classes, or, with `is_given`, a constant
// that does not depend on the rows.
void leave_out_shared_gaussian(Strided<double> values, const LeftOut& rows, const ClassMoments& moments,
                               double min_ratio, double variance, bool is_given, std::span<double> scores);

// Smoothed counts of words. `counts` is class-major, `logs` [words, classes] the weights log((count + pseudo) / total)
// with all rows. A word whose total count without the row is below `min_count` leaves the vocabulary; 0 keeps all.
template <class Count>
struct SmoothedCounts {
    std::span<const Count> counts;
    std::span<const double> word_totals, pseudo, class_totals, logs;
    double min_count;
};

// Add Σ value × log-probability of each word without its row.
// Instantiated for std::uint8_t, std::uint16_t, std::uint32_t and std::int64_t.
template <class Count>
void leave_out_words(const SparseRows& entries, const LeftOut& rows, const SmoothedCounts<Count>& words,
                     std::span<double> scores);

// scores[i][c] += Σ table[index][c] over the row's entries, with `own_table` instead of `table` for the row's class.
void score_own_class(const SparseRows& entries, Codes classes, std::span<const double> table,
                     std::span<const double> own_table, std::size_t n_classes, std::span<double> scores);

}  // namespace weigh
