#include "weigh/gradient.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "weigh/each_example.h"
#include "weigh/gradient_solve.h"

namespace weigh {
namespace {

constexpr double kSmall = 1e-6;  // a scale below is multiplied out

// kOne: there is one column, which is the case that must be quick.
template <bool kOne>
class PlainPass {
public:
    PlainPass(const GradientSettings& settings, Sharing sharing, PlainState& state)
        : settings_(settings), sharing_(sharing), state_(state), columns_(kOne ? 1 : settings.columns),
          bias_(state.table.data()), weights_(bias_ + columns_), scores_(columns_), lacks_(columns_) {}

    void learn(const Example& example, const Example& next) {
        sharing_.rows += sharing_.grows;
        example.values ? score<true>(example, next) : score<false>(example, next);
        loss_ += example.weight * judge(static_cast<std::size_t>(example.label));
        shrink(1 - settings_.rate * settings_.l2 / static_cast<double>(sharing_.rows));
        change(example, settings_.rate * example.weight);
    }

    double loss() const { return loss_; }

private:
    double* row_of(std::int32_t feature) const { return weights_ + static_cast<std::size_t>(feature) * columns(); }

    std::size_t columns() const { return kOne ? 1 : columns_; }

    template <bool kValued>
    void score(const Example& example, const Example& next) {
        double one = 0;
        if constexpr (!kOne) std::fill(scores_.begin(), scores_.end(), 0.0);
        for (std::uint32_t j = 0; j < example.size; ++j) {
            __builtin_prefetch(row_of(soon(example, next, j)), 1);
            const double x = kValued ? example.values[j] : 1.0;
            const double* row = row_of(example.indices[j]);
            if constexpr (kOne) one += x * row[0];
            else for (std::size_t c = 0; c < columns_; ++c) scores_[c] += x * row[c];
        }
        if constexpr (kOne) scores_[0] = one;
        for (std::size_t c = 0; c < columns(); ++c) scores_[c] = scores_[c] * state_.scale + bias_[c];
    }

    // The loss; leaves behind what the example lacks.
    double judge(std::size_t label) {
        if constexpr (kOne) {
            const double side = label ? 1.0 : -1.0;
            lacks_[0] = side / (1 + std::exp(side * scores_[0]));
            return softplus(-side * scores_[0]);
        }
        const double loss = soften(scores_, lacks_) - scores_[label];
        for (std::size_t c = 0; c < columns_; ++c) lacks_[c] = (c == label ? 1.0 : 0.0) - lacks_[c];
        return loss;
    }

    void shrink(double factor) {
        state_.scale *= factor;
        if (!(state_.scale < kSmall)) return;
        for (double* cell = weights_; cell < bias_ + state_.table.size(); ++cell) *cell *= state_.scale;
        state_.scale = 1;
    }

    void change(const Example& example, double step) {
        for (double& lack : lacks_) lack *= step;
        for (std::size_t c = 0; c < columns_ && settings_.bias; ++c) bias_[c] += lacks_[c];
        for (double& lack : lacks_) lack /= state_.scale;
        const double one = lacks_[0];
        for (std::uint32_t j = 0; j < example.size; ++j) {
            const double x = example.values ? example.values[j] : 1.0;
            double* row = row_of(example.indices[j]);
            if constexpr (kOne) row[0] += one * x;
            else for (std::size_t c = 0; c < columns_; ++c) row[c] += lacks_[c] * x;
        }
    }

    const GradientSettings& settings_;
    Sharing sharing_;
    PlainState& state_;
    std::size_t columns_;
    double* bias_;
    double* weights_;
    std::vector<double> scores_, lacks_;
    double loss_ = 0;
};

}  // namespace

double plain_gradient(std::span<const Example> examples, std::span<const std::int64_t> order,
                      const GradientSettings& settings, Sharing sharing, PlainState& state) {
    const auto run = [&](auto pass) {
        each_example(examples, order,
                     [&](const Example& example, const Example& next, std::size_t) { pass.learn(example, next); });
        return pass.loss();
    };
    if (settings.columns == 1) return run(PlainPass<true>(settings, sharing, state));
    return run(PlainPass<false>(settings, sharing, state));
}

}  // namespace weigh
