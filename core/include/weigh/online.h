// The perceptron, one pass at a time: look at an example, and change the weights if it was wrong.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "weigh/views.h"

namespace weigh {

// A labelled row of features; no values means one each.
struct Example {
    const std::int32_t* indices = nullptr;
    const double* values = nullptr;
    std::uint32_t size = 0;
    std::int32_t label = 0;
    double weight = 1;
};

// The examples of sparse rows, which must outlive them; an empty weights span means one each.
void append(std::vector<Example>& examples, const SparseRows& rows, Codes labels, std::span<const double> weights);

// What the second half of the table adds up, so that an average can be had from it at the end.
enum class Mean { none, examples, updates };

struct OnlineSettings {
    double rate = 1;
    double margin = 0;          // an example that is right by less is learned too
    bool relative = false;      // the margin is given in lengths of the weights: the column's own if they
                                // are separate, else of all together
    bool separate = false;      // every class against the rest, instead of all against each other
    bool bias = true;
    Mean mean = Mean::none;
    std::size_t columns = 1;    // classes; one for two classes, whose scores are each other's negative
};

// The weights and all that is known of the run, kept by the caller between passes.
//
// Row 0 of the table is the bias, row f + 1 is feature f. A row holds `columns` weights and, with a
// mean, as many sums u: Σ (ticks before the update) · change. The mean of the weights over all ticks
// T is w − u / T. A tick is an example, or an update (of that column, if classes are separate).
struct OnlineState {
    std::span<double> table;
    std::span<std::int64_t> updates;  // of every column
    std::int64_t examples = 0;
    std::span<double> lengths2;  // ‖w‖² of every column without the bias; kept for relative margins only
    bool measures = true;        // whether the lengths of the rows are looked at
    double radius2 = 0;          // the largest ‖x‖² so far, the bias's one included
};

struct PassResult {
    std::int64_t mistakes = 0;
    std::int64_t updates = 0;
    double least = std::numeric_limits<double>::infinity();  // the smallest score for the truth against the rest
};

// A change of the weights: + amount · x for one column, − amount · x for another (if any).
struct Update {
    std::int64_t example = 0;  // its place in the order of the pass
    std::int32_t plus = -1, minus = -1;
    double amount = 0;
};

// Learn from the examples in the given order; `record`, if any, receives every update.
PassResult online_pass(std::span<const Example> examples, std::span<const std::int64_t> order,
                       const OnlineSettings& settings, OnlineState& state, std::vector<Update>* record);

// The weights of some rows of a table: with a mean T w − u, where T is each column's number of ticks. For
// whole numbers that is exact, and so are sums of it: ties stay ties.
void kept_weights(std::span<const double> table, const OnlineSettings& settings, std::span<const std::int64_t> rows,
                  std::span<const std::int64_t> ticks, std::span<double> kept);

}  // namespace weigh
