// Softmax regression with a Gaussian prior by dual coordinate ascent over sparse rows.
//
// The problem is  min  Σ sᵢ (log Σₖ exp zᵢₖ − zᵢ,yᵢ) + ‖W‖² / 2v  with the scores zᵢ = oᵢ + b + Wᵀxᵢ, where v is the
// prior variance. The dual has the probabilities pᵢ of all classes as variables of a row, and W = v Σ sᵢ xᵢ (yᵢ − pᵢ)ᵀ with
// one-hot yᵢ. A step optimises the pᵢ of one row: it minimises over the simplex
//
//     Σₖ pₖ log pₖ − zₖ pₖ + ½ c (pₖ − pₖ_old)²,    c = sᵢ (v ‖xᵢ‖² + vᵦ).
//
// The row's part of the duality gap is sᵢ KL(pᵢ ‖ softmax zᵢ). The intercepts are one more row of W, with a prior of
// variance vᵦ whose mean is moved (method of multipliers), so that in the limit they are unpenalised.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weigh/dual_weights.h"
#include "weigh/views.h"
#include "weigh/zeroed_array.h"

namespace weigh {

class SoftmaxDual {
public:
    // The rows and the offset [rows, classes] must outlive this object. y holds class indices; empty weights mean unit
    // weights, an empty offset means zero.
    SoftmaxDual(const SparseRows& rows, std::size_t width, std::size_t classes, Codes y,
                std::span<const double> weights, std::span<const double> offset, const DualSettings& settings);

    // Start from given probabilities [rows, classes], with weights W = v Σ sᵢ xᵢ (yᵢ − pᵢ)ᵀ [width, classes].
    void warm_start(std::span<const double> probabilities, std::span<const double> weights,
                    std::span<const double> bias);

    // Take a step for each of the given rows in order; return the sum of the rows' parts of the duality gap just before
    // their own step.
    double run_pass(std::span<const std::int32_t> order);

    // Move the mean of the intercepts' prior by `factor` times their distance from it.
    void recentre_bias_prior(double factor);

    std::size_t size() const { return rows_.size(); }
    std::size_t width() const { return width_; }
    std::size_t classes() const { return classes_; }
    double subproblem_scale() const { return weights_.scale(); }
    // W [width, classes], the intercepts [classes], the probabilities [rows, classes], and the rows' parts of the gap
    // before their last steps.
    void weights(std::span<double> out) const;
    void bias(std::span<double> out) const;
    void probabilities(std::span<double> out) const;
    void gaps(std::span<double> out) const;

private:
    struct Row {
        std::int64_t begin;
        std::uint32_t size;
        std::int32_t label;
        double weight;
        double curvature;  // c, computed at the first step
        double gap;        // part of the duality gap before the last step
    };
    struct Scratch;

    double step(std::size_t i, double* w, Scratch& scratch);
    double curvature(const Row& row) const;
    double* probabilities_of(std::size_t i) const { return probabilities_.data() + i * classes_; }
    double* logarithms_of(std::size_t i) const { return logarithms_.data() + i * classes_; }

    SparseRows data_;
    std::span<const double> offset_;
    std::size_t width_, classes_;
    std::size_t stride_;  // of a row of weights: the classes, filled up to whole vectors
    DualSettings settings_;
    ZeroedArray<Row> rows_;
    ZeroedArray<double> probabilities_, logarithms_;  // [rows, classes]; the logarithm stays finite if p is zero
    DualWeights weights_;
};

}  // namespace weigh
