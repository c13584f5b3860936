// Logistic regression with a normal prior by coordinate ascent on its dual, over sparse rows.
//
// The problem is  min  Σ sᵢ log(1 + exp(−mᵢ)) + ‖w‖² / 2v  with the margins mᵢ = ±(oᵢ + b + xᵢ·w), where v is
// the spread of the prior. Its dual has a number αᵢ in (0, sᵢ) per row, and w = v Σ ±αᵢ xᵢ. A step takes one row
// and finds its best αᵢ; written as αᵢ = sᵢ / (1 + exp(−uᵢ)), that is the root of
//
//     uᵢ + mᵢ + aᵢ (αᵢ − αᵢ before) = 0,    aᵢ = v ‖xᵢ‖² + vᵦ.
//
// The bias b is one more weight, with a prior of spread vᵦ whose centre moves to where b is (the method of
// multipliers), so that in the end nothing holds it.
//
// Several threads each take some of the rows and a copy of w in which their own steps count `share` times, as
// if the others did the same; then all steps are added. That is sure to ascend if share is at least
// |Σ Δ|² / Σ |Δ|², which never exceeds the number of threads and is measured.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "weigh/views.h"
#include "weigh/zeroed.h"

namespace weigh {

struct DualSettings {
    double spread = 1;       // v
    double bias_spread = 0;  // vᵦ; zero: there is no bias
    std::size_t rounds = 1;  // how often per pass threads tell each other
    std::size_t threads = 1;
};

class LogisticDual {
public:
    // The rows must outlive this; y is zero or one, empty weights mean one each, an empty offset nothing.
    LogisticDual(const SparseRows& rows, std::size_t width, std::span<const double> y, std::span<const double> weights,
                 std::span<const double> offset, const DualSettings& settings);

    // Begin at the αᵢ that suit some scores oᵢ + b + xᵢ·w, whose weights are v Σ ±αᵢ xᵢ.
    void begin(std::span<const double> scores, std::span<const double> weights, double bias);

    // Take a step for some rows, in the given order; return about how far apart the problem and its dual were.
    double pass(std::span<const std::int32_t> order);

    // Move the centre of the bias's prior by so many times what the bias is away from it.
    void recentre(double times);

    std::size_t size() const { return rows_.size(); }
    std::size_t width() const { return width_; }
    std::span<const double> weights() const { return {weights_.data(), width_}; }
    double bias() const { return weights_[width_]; }
    double share() const { return share_; }
    // ±αᵢ, and log αᵢ / (sᵢ − αᵢ).
    void signed_alphas(std::span<double> out) const;
    void logits(std::span<double> out) const;

private:
    struct Row {  // as long as a line of the cache
        std::int64_t begin;
        std::uint32_t size;
        std::int32_t sign;
        double square;  // aᵢ, found at the first step
        double weight, offset;
        double logit, share, alpha;  // uᵢ, and αᵢ = sᵢ · share
    };
    static_assert(sizeof(Row) == 64);

    template <bool kValued>
    double steps(std::span<const std::int32_t> order, double* w);
    template <bool kValued>
    double step(Row& row, double* w) const;
    template <bool kValued>
    double square(const Row& row) const;
    void join();

    SparseRows data_;
    std::size_t width_;
    DualSettings settings_;
    Zeroed<Row> rows_;
    Zeroed<double> weights_;             // the bias is the last one
    std::vector<Zeroed<double>> copies_;  // of every thread, if there are several
    double share_;
    double least_apart_ = std::numeric_limits<double>::infinity();
    bool cautious_ = false;  // the share stays the largest that can be needed
};

}  // namespace weigh
