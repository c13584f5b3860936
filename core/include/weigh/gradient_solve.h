// Losses of scores, and the equations of an implicit step.
#pragma once

#include <span>

namespace weigh {

// log(1 + eᵘ).
double softplus(double u);

// Put the softmax of scores into shares; return the logarithm of Σ eᶻ.
double soften(std::span<const double> scores, std::span<double> shares);

// The share 1 / (1 + eᵘ) at the solution of u = a + c / (1 + eᵘ), c ≥ 0.
double implicit_two(double a, double c);

// What the label lacks at the solution of z = a + c · lacks, lacks = e_label − softmax(z), c ≥ 0.
void implicit_many(std::span<const double> a, std::size_t label, double c, std::span<double> lacks);

}  // namespace weigh
