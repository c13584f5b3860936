#include <algorithm>
#include <cmath>
#include <vector>

#include "weigh/examples.h"
#include "weigh/implicit_update.h"
#include "weigh/sgd.h"

namespace weigh {
namespace {

constexpr std::size_t kHeaderCells = 2;  // cells of a row before its weights: N and Σ s x²

// kSingleColumn: specialised for binary problems, the case that must be fast.
template <bool kSingleColumn>
class ImplicitSgdPass {
public:
    ImplicitSgdPass(const SgdSettings& settings, PenaltyRows penalty_rows, ImplicitSgdState& state)
        : settings_(settings),
          penalty_rows_(penalty_rows),
          state_(state),
          columns_(kSingleColumn ? 1 : settings.columns),
          stride_(kHeaderCells + 2 * columns_),
          table_(state.table.data()),
          old_scores_(columns_),
          scores_(columns_),
          residuals_(columns_) {}

    void learn(const Example& example, const Example& next) {
        penalty_rows_.count += penalty_rows_.grows;
        const auto t = static_cast<double>(state_.steps);
        penalty_ = settings_.l2 * (t + 1) / static_cast<double>(penalty_rows_.count);
        step_sum_ = t * (t + 1) / 2;
        example.values ? prepare<true>(example, next) : prepare<false>(example, next);
        solve_update(static_cast<std::size_t>(example.label), example.weight);
        apply_steps(example.weight);
        ++state_.steps;
    }

    double loss() const { return loss_; }

private:
    // The step of one feature: its row of the table, x ε / (1 + ε μ), and 1 / (1 + ε μ).
    struct FeatureStep {
        double* row;
        double gain, shrinkage;
    };

    // Sums over the features of an example. With several columns, the scores are in the vectors instead.
    struct Sums {
        double c = 0, old_score = 0, score = 0;
    };

    double* row_of(std::int32_t feature) const { return table_ + (static_cast<std::size_t>(feature) + 1) * stride(); }

    std::size_t stride() const { return kSingleColumn ? kHeaderCells + 2 : stride_; }

    // Compute the steps of all features, the scores before the step, and a and c of the scalar equation.
    template <bool kHasValues>
    void prepare(const Example& example, const Example& next) {
        if (steps_.size() <= example.size) steps_.resize(2 * example.size + 1);
        FeatureStep* step = steps_.data();
        Sums sums;
        if constexpr (!kSingleColumn) {
            std::fill(old_scores_.begin(), old_scores_.end(), 0.0);
            std::fill(scores_.begin(), scores_.end(), 0.0);
        }
        if (settings_.bias) step = prepare(step, table_, 1.0, example.weight, 0.0, sums);
        for (std::uint32_t j = 0; j < example.size; ++j) {
            __builtin_prefetch(row_of(index_ahead(example, next, j)), 1);
            const double x = kHasValues ? example.values[j] : 1.0;
            if (!kHasValues || x != 0)
                step = prepare(step, row_of(example.indices[j]), x, example.weight, penalty_, sums);
        }
        n_steps_ = static_cast<std::size_t>(step - steps_.data());
        c_ = sums.c * example.weight;
        if constexpr (kSingleColumn) old_scores_[0] = sums.old_score, scores_[0] = sums.score;
    }

    FeatureStep* prepare(FeatureStep* step, double* row, double x, double weight, double penalty, Sums& sums) {
        const double n_examples = row[0] += 1, squares = row[1] += weight * x * x;
        if (!(squares > 0)) return step;  // x² underflowed to zero
        // ε = rate √N / Σ s x² and μ = penalty / N, with a single division.
        const double scaled_rate = settings_.rate * std::sqrt(n_examples), scaled_squares = squares * n_examples;
        const double inverse = 1 / (scaled_squares + scaled_rate * penalty);
        const double shrinkage = scaled_squares * inverse, gain = scaled_rate * n_examples * inverse * x;
        sums.c += gain * x;
        if constexpr (kSingleColumn) {
            const double score = x * row[kHeaderCells];
            sums.old_score += score;
            sums.score += score * shrinkage;
        } else {
            const double* __restrict weights = row + kHeaderCells;
            double* __restrict old_score = old_scores_.data();
            double* __restrict scores = scores_.data();
            for (std::size_t k = 0; k < columns_; ++k) {
                old_score[k] += x * weights[k];
                scores[k] += x * shrinkage * weights[k];
            }
        }
        *step = {row, gain, shrinkage};
        return step + 1;
    }

    // Add the loss, and solve for the residuals after the step.
    void solve_update(std::size_t label, double weight) {
        if constexpr (kSingleColumn) {
            const double sign = label ? 1.0 : -1.0;
            loss_ += weight * softplus(-sign * old_scores_[0]);
            residuals_[0] = sign * solve_binary_update(sign * scores_[0], c_);
        } else {
            loss_ += weight * (softmax(old_scores_, residuals_) - old_scores_[label]);
            solve_multiclass_update(scores_, label, c_, residuals_);
        }
    }

    void apply_steps(double weight) {
        for (double& residual : residuals_) residual *= weight;
        const std::size_t columns = kSingleColumn ? 1 : columns_;
        const double step_sum = step_sum_;
        const double* __restrict residuals = residuals_.data();
        for (std::size_t j = 0; j < n_steps_; ++j) {
            const FeatureStep step = steps_[j];
            double* __restrict weights = step.row + kHeaderCells;
            double* __restrict sums = weights + columns;
            for (std::size_t k = 0; k < columns; ++k) {
                const double old = weights[k], now = old * step.shrinkage + residuals[k] * step.gain;
                weights[k] = now;
                sums[k] += step_sum * (now - old);
            }
        }
    }

    const SgdSettings& settings_;
    PenaltyRows penalty_rows_;
    ImplicitSgdState& state_;
    std::size_t columns_, stride_;
    double* table_;
    std::vector<FeatureStep> steps_;
    std::size_t n_steps_ = 0;
    std::vector<double> old_scores_, scores_, residuals_;
    double penalty_ = 0, step_sum_ = 0, c_ = 0, loss_ = 0;
};

}  // namespace

double implicit_sgd_pass(std::span<const Example> examples, std::span<const std::int64_t> order,
                         const SgdSettings& settings, PenaltyRows penalty_rows, ImplicitSgdState& state) {
    const auto run = [&](auto pass) {
        for_each_example(examples, order,
                         [&](const Example& example, const Example& next, std::size_t) { pass.learn(example, next); });
        return pass.loss();
    };
    if (settings.columns == 1) return run(ImplicitSgdPass<true>(settings, penalty_rows, state));
    return run(ImplicitSgdPass<false>(settings, penalty_rows, state));
}

}  // namespace weigh
