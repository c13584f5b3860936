// Votes: every hypothesis of a perceptron's run decides on every row, and counts as long as it lived.
#pragma once

#include <cstdint>
#include <span>

#include "weigh/views.h"

namespace weigh {

// A run from zero weights: update k adds amounts[k] times the row k to column plus[k] and takes it
// from column minus[k] (a negative one is none). The hypothesis before the first update lived for
// lives[0] examples, the one after update k for lives[k + 1].
struct Run {
    SparseRows rows;
    std::span<const std::int32_t> plus, minus;
    std::span<const double> amounts;
    std::span<const std::int64_t> lives;
    bool bias = true;
    bool separate = false;
    std::size_t columns = 1;
};

// votes[i, c] += the lives of all hypotheses that decide for c on row i. With one column, or separate
// ones, a score of zero or more counts for and others against; else the first of the greatest scores has the vote.
// Rows and run have the same features, below `width`.
void replay(const Run& run, const SparseRows& rows, std::size_t width, std::span<double> votes);

}  // namespace weigh
