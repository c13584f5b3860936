// Logistic regression with a Gaussian prior by dual coordinate ascent over sparse rows.
//
// The problem is  min  Σ sᵢ log(1 + exp(−mᵢ)) + ‖w‖² / 2v  with the margins mᵢ = ±(oᵢ + b + xᵢ·w), where v is the
// prior variance. The dual has one variable αᵢ in (0, sᵢ) per row, and w = v Σ ±αᵢ xᵢ. A step optimises one αᵢ; with
// αᵢ = sᵢ / (1 + exp(−uᵢ)) it is the root of
//
//     uᵢ + mᵢ + aᵢ (αᵢ − αᵢ_old) = 0,    aᵢ = v ‖xᵢ‖² + vᵦ.
//
// The intercept b is one more weight, with a prior of variance vᵦ whose mean is moved to the current b (method of
// multipliers), so that in the limit b is unpenalised.
#pragma once

#include <cstdint>
#include <span>

#include "weigh/dual_weights.h"
#include "weigh/views.h"
#include "weigh/zeroed_array.h"

namespace weigh {

class LogisticDual {
public:
    // The rows must outlive this object. y is 0 or 1; empty weights mean unit weights, an empty offset means zero.
    LogisticDual(const SparseRows& rows, std::size_t width, std::span<const double> y, std::span<const double> weights,
                 std::span<const double> offset, const DualSettings& settings);

    // Start from the αᵢ that correspond to given scores oᵢ + b + xᵢ·w, with weights w = v Σ ±αᵢ xᵢ.
    void warm_start(std::span<const double> scores, std::span<const double> weights, double bias);

    // Take a step for each of the given rows in order; return an estimate of the duality gap, the sum of the rows'
    // parts just before their own step.
    double run_pass(std::span<const std::int32_t> order);

    // Move the mean of the intercept's prior by `factor` times the distance of the intercept from it.
    void recentre_bias_prior(double factor);

    std::size_t size() const { return rows_.size(); }
    std::size_t width() const { return width_; }
    std::span<const double> weights() const { return {weights_.data(), width_}; }
    double bias() const { return *weights_.bias(); }
    double subproblem_scale() const { return weights_.scale(); }
    // ±αᵢ, and uᵢ = log αᵢ / (sᵢ − αᵢ).
    void signed_alphas(std::span<double> out) const;
    void logits(std::span<double> out) const;

private:
    struct Row {  // one cache line
        std::int64_t begin;
        std::uint32_t size;
        std::int32_t sign;
        double curvature;  // aᵢ, computed at the first step
        double weight, offset;
        double logit, sigma, alpha;  // uᵢ, its logistic value, and αᵢ = sᵢ · sigma
    };
    static_assert(sizeof(Row) == 64);

    template <bool kHasValues>
    double run_steps(std::span<const std::int32_t> order, double* w);
    template <bool kHasValues>
    double step(Row& row, double* w) const;
    template <bool kHasValues>
    double curvature(const Row& row) const;

    SparseRows data_;
    std::size_t width_;
    DualSettings settings_;
    ZeroedArray<Row> rows_;
    DualWeights weights_;
};

}  // namespace weigh
