// Perceptron training, one pass at a time, and prediction by the voted perceptron.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "weigh/examples.h"

namespace weigh {

// What the averaged weights are an average over.
enum class Average { none, examples, updates };

struct PerceptronSettings {
    double rate = 1;
    double margin = 0;             // update also on correct examples whose margin is below this
    bool relative_margin = false;  // the margin is relative to ‖w‖: of its column with one-vs-rest, else of all columns
    bool one_vs_rest = false;      // train every class against the rest instead of all classes jointly
    bool has_intercept = true;
    Average average = Average::none;
    std::size_t columns = 1;  // classes; a single column for binary problems, whose two scores are opposite
};

// Training state, which the caller keeps between passes.
//
// Row 0 of the table holds the intercepts, row f + 1 the weights of feature f. A row has `columns` weights and, for
// averaging, as many sums u = Σ (step before the update) · change. The average of the weights over all T steps is
// w − u / T. A step is an example, or an update (per column with one-vs-rest).
struct PerceptronState {
    std::span<double> table;
    std::span<std::int64_t> updates;  // per column
    std::int64_t examples = 0;
    std::span<double> squared_norms;  // ‖w‖² per column without the intercept; maintained for relative margins only
    bool track_radius = true;         // whether to compute radius2
    double radius2 = 0;  // R² of Novikoff's mistake bound: largest ‖x‖² so far, plus 1 if there is an intercept
};

struct PassResult {
    std::int64_t mistakes = 0;
    std::int64_t updates = 0;
    // Smallest margin, each before its own update: the signed score (binary, one-vs-rest) or true score − best other
    // score (joint).
    double min_margin = std::numeric_limits<double>::infinity();
};

// One update: + amount · x in column `plus`, − amount · x in column `minus`; −1 means none.
struct Update {
    std::int64_t position = 0;  // of the example, in the order of the pass
    std::int32_t plus = -1, minus = -1;
    double amount = 0;
};

// Run one pass over the examples in the given order. Updates are appended to `record` unless it is null.
PassResult perceptron_pass(std::span<const Example> examples, std::span<const std::int64_t> order,
                           const PerceptronSettings& settings, PerceptronState& state, std::vector<Update>* record);

// Write the final weights of some rows of a table: w, or with averaging T·w̄ = T w − u, where T is the number of steps
// of the column; the caller divides by T. For integer inputs T·w̄ is exact, so that ties between classes stay ties.
void final_weights(std::span<const double> table, const PerceptronSettings& settings,
                   std::span<const std::int64_t> rows, std::span<const std::int64_t> steps, std::span<double> out);

// The updates of a training run that started from zero weights: update k adds amounts[k] · row k to column plus[k]
// and subtracts it from column minus[k]; −1 means none. The weights before the first update survived
// survival_counts[0] examples, those after update k survived survival_counts[k + 1].
struct UpdateHistory {
    SparseRows rows;
    std::span<const std::int32_t> plus, minus;
    std::span<const double> amounts;
    std::span<const std::int64_t> survival_counts;
    bool has_intercept = true;
    bool one_vs_rest = false;
    std::size_t columns = 1;
};

// Predict with the voted perceptron (Freund and Schapire, 1999): votes[i, c] += the survival counts of all weight
// vectors that predict c for row i. With one column, or one-vs-rest, a score ≥ 0 counts +, a negative one −; otherwise
// the vote goes to the highest score, the first one on ties. Both sets of rows have features below `width`.
void add_perceptron_votes(const UpdateHistory& history, const SparseRows& rows, std::size_t width,
                          std::span<double> votes);

}  // namespace weigh
