// Logistic regression by stochastic gradient descent, with explicit or implicit steps.
//
// The objective over weights w and biases b, for examples (x, y) with weights s, is
//
//     Σ s · loss(y, b + w·x) + ½ l2 Σ w²,    loss = log(1 + eᶻ) − y z,  or log Σ eᶻᵏ − z_y for several classes.
//
// Let r = y − g(z) be the residual of an example, where g is the logistic function; for several classes, r is the unit
// vector of the label minus the softmax of the scores. The penalty is divided evenly among n rows.
//
// The explicit step is w ← w + ε (s r x − l2 w / n), b ← b + ε s r, with ε = rate and r at the current weights.
//
// The implicit step uses r at the weights after the step, so that it never overshoots its example, whatever ε and x.
// Every feature has its own count N of examples with a non-zero value, and its own step size
//
//     ε = rate / (m √N),    m the mean of s x² over them: the result does not depend on the units of a feature.
//
// The penalty of a feature is divided among the examples that have it, of which N n / t are expected after t steps:
//
//     w ← (w + ε s r x) / (1 + ε μ),    μ = l2 t / (n N);    the bias is an unpenalised feature of ones.
//
// This minimises s · loss + Σ ½ μ w² + Σ (w − w_old)² / 2ε, and costs one scalar equation per class:
// z = a + c r(z), a = Σ w x / (1 + ε μ), c = s Σ ε x² / (1 + ε μ).
#pragma once

#include <cstdint>
#include <span>

#include "weigh/examples.h"

namespace weigh {

struct SgdSettings {
    double rate = 1;
    double l2 = 0;
    bool bias = true;
    std::size_t columns = 1;  // classes; a single column for binary problems, whose two scores are opposite
};

// The number n of rows that share the penalty. It grows with every example unless the examples are repeated.
struct PenaltyRows {
    std::int64_t count = 0;
    bool grows = false;
};

// Row 0 of the table holds the biases, row f + 1 feature f, with `columns` values each. The weights of features are
// `scale` times their values, so that the penalty shrinks all of them with one multiplication.
struct SgdState {
    std::span<double> table;
    double scale = 1;
};

// Rows as above, with the cells N, Σ s x², `columns` weights and as many sums u = Σ (A before the step) · change,
// where A = 1 + 2 + 3 + … over the steps. The average of the weights, later ones weighted more, is w − u / A.
struct ImplicitSgdState {
    std::span<double> table;
    std::int64_t steps = 0;
};

// Run one pass over the examples in the given order; return Σ s · loss, each evaluated before its step.
double sgd_pass(std::span<const Example> examples, std::span<const std::int64_t> order, const SgdSettings& settings,
                PenaltyRows penalty_rows, SgdState& state);
double implicit_sgd_pass(std::span<const Example> examples, std::span<const std::int64_t> order,
                         const SgdSettings& settings, PenaltyRows penalty_rows, ImplicitSgdState& state);

}  // namespace weigh
