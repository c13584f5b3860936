#include "weigh/sgd.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "weigh/examples.h"
#include "weigh/implicit_update.h"

namespace weigh {
namespace {

constexpr double kMinScale = 1e-6;  // below this, the scale is multiplied into the weights

// kSingleColumn: specialised for binary problems, the case that must be fast.
template <bool kSingleColumn>
class SgdPass {
public:
    SgdPass(const SgdSettings& settings, PenaltyRows penalty_rows, SgdState& state)
        : settings_(settings),
          penalty_rows_(penalty_rows),
          state_(state),
          columns_(kSingleColumn ? 1 : settings.columns),
          bias_(state.table.data()),
          weights_(bias_ + columns_),
          scores_(columns_),
          residuals_(columns_) {}

    void learn(const Example& example, const Example& next) {
        penalty_rows_.count += penalty_rows_.grows;
        example.values ? score<true>(example, next) : score<false>(example, next);
        loss_ += example.weight * compute_residuals(static_cast<std::size_t>(example.label));
        shrink(1 - settings_.rate * settings_.l2 / static_cast<double>(penalty_rows_.count));
        update(example, settings_.rate * example.weight);
    }

    double loss() const { return loss_; }

private:
    double* row_of(std::int32_t feature) const { return weights_ + static_cast<std::size_t>(feature) * columns(); }

    std::size_t columns() const { return kSingleColumn ? 1 : columns_; }

    template <bool kHasValues>
    void score(const Example& example, const Example& next) {
        double one = 0;
        if constexpr (!kSingleColumn) std::fill(scores_.begin(), scores_.end(), 0.0);
        for (std::uint32_t j = 0; j < example.size; ++j) {
            __builtin_prefetch(row_of(index_ahead(example, next, j)), 1);
            const double x = kHasValues ? example.values[j] : 1.0;
            const double* row = row_of(example.indices[j]);
            if constexpr (kSingleColumn) one += x * row[0];
            else
                for (std::size_t c = 0; c < columns_; ++c) scores_[c] += x * row[c];
        }
        if constexpr (kSingleColumn) scores_[0] = one;
        for (std::size_t c = 0; c < columns(); ++c) scores_[c] = scores_[c] * state_.scale + bias_[c];
    }

    // Return the loss, and set the residuals.
    double compute_residuals(std::size_t label) {
        if constexpr (kSingleColumn) {
            const double sign = label ? 1.0 : -1.0;
            residuals_[0] = sign / (1 + std::exp(sign * scores_[0]));
            return softplus(-sign * scores_[0]);
        }
        const double loss = softmax(scores_, residuals_) - scores_[label];
        for (std::size_t c = 0; c < columns_; ++c) residuals_[c] = (c == label ? 1.0 : 0.0) - residuals_[c];
        return loss;
    }

    void shrink(double factor) {
        state_.scale *= factor;
        if (!(state_.scale < kMinScale)) return;
        for (double* cell = weights_; cell < bias_ + state_.table.size(); ++cell) *cell *= state_.scale;
        state_.scale = 1;
    }

    void update(const Example& example, double step) {
        for (double& residual : residuals_) residual *= step;
        for (std::size_t c = 0; c < columns_ && settings_.bias; ++c) bias_[c] += residuals_[c];
        for (double& residual : residuals_) residual /= state_.scale;
        const double one = residuals_[0];
        for (std::uint32_t j = 0; j < example.size; ++j) {
            const double x = example.values ? example.values[j] : 1.0;
            double* row = row_of(example.indices[j]);
            if constexpr (kSingleColumn) row[0] += one * x;
            else
                for (std::size_t c = 0; c < columns_; ++c) row[c] += residuals_[c] * x;
        }
    }

    const SgdSettings& settings_;
    PenaltyRows penalty_rows_;
    SgdState& state_;
    std::size_t columns_;
    double* bias_;
    double* weights_;
    std::vector<double> scores_, residuals_;
    double loss_ = 0;
};

}  // namespace

double sgd_pass(std::span<const Example> examples, std::span<const std::int64_t> order, const SgdSettings& settings,
                PenaltyRows penalty_rows, SgdState& state) {
    const auto run = [&](auto pass) {
        for_each_example(examples, order,
                         [&](const Example& example, const Example& next, std::size_t) { pass.learn(example, next); });
        return pass.loss();
    };
    if (settings.columns == 1) return run(SgdPass<true>(settings, penalty_rows, state));
    return run(SgdPass<false>(settings, penalty_rows, state));
}

}  // namespace weigh
