// Logistic losses, and the scalar equations of an implicit gradient step.
#pragma once

#include <span>

namespace weigh {

// log(1 + eᵘ), without overflow.
double softplus(double u);

// Write the softmax of the scores; return log Σ eᶻ.
double softmax(std::span<const double> scores, std::span<double> probabilities);

// Solve u = a + c / (1 + eᵘ) for c ≥ 0; return the residual 1 / (1 + eᵘ).
double solve_binary_update(double a, double c);

// Solve z = a + c · r(z) for c ≥ 0, where r(z) = e_label − softmax(z); write the residuals r.
void solve_multiclass_update(std::span<const double> a, std::size_t label, double c, std::span<double> residuals);

}  // namespace weigh
