// Logistic regression by stochastic gradient: look at an example, and take a step towards its label.
//
// What is minimised over the weights w and the biases b is, over the examples (x, y) and their weights s,
//
//     Σ s · loss(y, b + w·x) + ½ l2 Σ w²,    loss = log(1 + eᶻ) − y z,  or log Σ eᶻᵏ − z_y of several classes.
//
// Let r = y − g(z) be what an example lacks: g is the logistic function, of several classes r is the label's unit
// vector less the softmax of the scores. Of n rows each carries its share of the penalty.
//
// The plain step is w ← w + ε (s r x − l2 w / n), b ← b + ε s r, with ε = rate and r at the weights before it.
//
// The safe step is implicit: r is that of the weights after it, so that it never goes beyond its example, whatever ε
// and x. Every column j has its own clock N, the number of its examples so far (zeros are none), and its own length
//
//     ε = rate / (m √N),    m the mean of s x² over them: in other units of a column the weights do the same.
//
// The penalty of a column is shared by the examples that have it, of which there are N n / t after t steps:
//
//     w ← (w + ε s r x) / (1 + ε μ),    μ = l2 t / (n N);    the bias is a column of ones without penalty.
//
// That minimises s · loss + Σ ½ μ w² + the squares of the ways gone / 2ε, and costs one equation in one unknown per
// class: z = a + c r(z), a = Σ w x / (1 + ε μ), c = s Σ ε x² / (1 + ε μ).
#pragma once

#include <cstdint>
#include <span>

#include "weigh/online.h"

namespace weigh {

struct GradientSettings {
    double rate = 1;
    double l2 = 0;
    bool bias = true;
    std::size_t columns = 1;  // classes; one for two classes, whose scores are each other's negative
};

// How many rows share the penalty. Examples that are seen again are none of them anew.
struct Sharing {
    std::int64_t rows = 0;
    bool grows = false;
};

// Row 0 of the table is the bias, row f + 1 is feature f, `columns` values each. The weights of features are
// `scale` times their values, so that a penalty shrinks all of them by one multiplication.
struct PlainState {
    std::span<double> table;
    double scale = 1;
};

// Rows as above: N, Σ s x², `columns` weights and as many sums u of (A before the step) · change. A is the sum of
// 1, 2, 3 … over the steps: the mean of the weights, later ones counting more, is w − u / A.
struct SafeState {
    std::span<double> table;
    std::int64_t steps = 0;
};

// Learn from the examples in the given order; return Σ s · loss, each of them before its step.
double plain_gradient(std::span<const Example> examples, std::span<const std::int64_t> order,
                      const GradientSettings& settings, Sharing sharing, PlainState& state);
double safe_gradient(std::span<const Example> examples, std::span<const std::int64_t> order,
                     const GradientSettings& settings, Sharing sharing, SafeState& state);

}  // namespace weigh
