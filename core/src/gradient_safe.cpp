#include <algorithm>
#include <cmath>
#include <vector>

#include "weigh/each_example.h"
#include "weigh/gradient.h"
#include "weigh/gradient_solve.h"

namespace weigh {
namespace {

constexpr std::size_t kWeights = 2;  // cells of a row before its weights: N and Σ s x²

// kOne: there is one column, which is the case that must be quick.
template <bool kOne>
class SafePass {
public:
    SafePass(const GradientSettings& settings, Sharing sharing, SafeState& state)
        : settings_(settings), sharing_(sharing), state_(state), columns_(kOne ? 1 : settings.columns),
          stride_(kWeights + 2 * columns_), table_(state.table.data()), before_(columns_), scores_(columns_),
          lacks_(columns_) {}

    void learn(const Example& example, const Example& next) {
        sharing_.rows += sharing_.grows;
        const auto t = static_cast<double>(state_.steps);
        penalty_ = settings_.l2 * (t + 1) / static_cast<double>(sharing_.rows);
        counted_ = t * (t + 1) / 2;
        example.values ? look<true>(example, next) : look<false>(example, next);
        judge(static_cast<std::size_t>(example.label), example.weight);
        go(example.weight);
        ++state_.steps;
    }

    double loss() const { return loss_; }

private:
    // A column of the example: its row of the table, x ε / (1 + ε μ), and 1 / (1 + ε μ).
    struct Way {
        double* row;
        double along, shrunk;
    };

    // What a row's scores and ways add up to; of several columns the scores are in vectors.
    struct Sums {
        double c = 0, before = 0, score = 0;
    };

    double* row_of(std::int32_t feature) const { return table_ + (static_cast<std::size_t>(feature) + 1) * stride(); }

    std::size_t stride() const { return kOne ? kWeights + 2 : stride_; }

    // Find the ways of all columns, the scores before any of them, the a and the c of the equation.
    template <bool kValued>
    void look(const Example& example, const Example& next) {
        if (ways_.size() <= example.size) ways_.resize(2 * example.size + 1);
        Way* way = ways_.data();
        Sums sums;
        if constexpr (!kOne) {
            std::fill(before_.begin(), before_.end(), 0.0);
            std::fill(scores_.begin(), scores_.end(), 0.0);
        }
        if (settings_.bias) way = look(way, table_, 1.0, example.weight, 0.0, sums);
        for (std::uint32_t j = 0; j < example.size; ++j) {
            __builtin_prefetch(row_of(soon(example, next, j)), 1);
            const double x = kValued ? example.values[j] : 1.0;
            if (!kValued || x != 0) way = look(way, row_of(example.indices[j]), x, example.weight, penalty_, sums);
        }
        n_ways_ = static_cast<std::size_t>(way - ways_.data());
        c_ = sums.c * example.weight;
        if constexpr (kOne) before_[0] = sums.before, scores_[0] = sums.score;
    }

    Way* look(Way* way, double* row, double x, double weight, double penalty, Sums& sums) {
        const double clock = row[0] += 1, squares = row[1] += weight * x * x;
        if (!(squares > 0)) return way;  // a number so small that its square is zero
        // ε = rate √N / Σ s x² and μ = penalty / N, with one division for both.
        const double pace = settings_.rate * std::sqrt(clock), own = squares * clock;
        const double part = 1 / (own + pace * penalty);
        const double shrunk = own * part, along = pace * clock * part * x;
        sums.c += along * x;
        if constexpr (kOne) {
            const double score = x * row[kWeights];
            sums.before += score;
            sums.score += score * shrunk;
        } else {
            const double* __restrict weights = row + kWeights;
            double* __restrict before = before_.data();
            double* __restrict scores = scores_.data();
            for (std::size_t k = 0; k < columns_; ++k) {
                before[k] += x * weights[k];
                scores[k] += x * shrunk * weights[k];
            }
        }
        *way = {row, along, shrunk};
        return way + 1;
    }

    // Add the loss, and leave behind what the example lacks after the step.
    void judge(std::size_t label, double weight) {
        if constexpr (kOne) {
            const double side = label ? 1.0 : -1.0;
            loss_ += weight * softplus(-side * before_[0]);
            lacks_[0] = side * implicit_two(side * scores_[0], c_);
        } else {
            loss_ += weight * (soften(before_, lacks_) - before_[label]);
            implicit_many(scores_, label, c_, lacks_);
        }
    }

    void go(double weight) {
        for (double& lack : lacks_) lack *= weight;
        const std::size_t columns = kOne ? 1 : columns_;
        const double counted = counted_;
        const double* __restrict lacks = lacks_.data();
        for (std::size_t j = 0; j < n_ways_; ++j) {
            const Way way = ways_[j];
            double* __restrict weights = way.row + kWeights;
            double* __restrict sums = weights + columns;
            for (std::size_t k = 0; k < columns; ++k) {
                const double old = weights[k], now = old * way.shrunk + lacks[k] * way.along;
                weights[k] = now;
                sums[k] += counted * (now - old);
            }
        }
    }

    const GradientSettings& settings_;
    Sharing sharing_;
    SafeState& state_;
    std::size_t columns_, stride_;
    double* table_;
    std::vector<Way> ways_;
    std::size_t n_ways_ = 0;
    std::vector<double> before_, scores_, lacks_;
    double penalty_ = 0, counted_ = 0, c_ = 0, loss_ = 0;
};

}  // namespace

double safe_gradient(std::span<const Example> examples, std::span<const std::int64_t> order,
                     const GradientSettings& settings, Sharing sharing, SafeState& state) {
    const auto run = [&](auto pass) {
        each_example(examples, order,
                     [&](const Example& example, const Example& next, std::size_t) { pass.learn(example, next); });
        return pass.loss();
    };
    if (settings.columns == 1) return run(SafePass<true>(settings, sharing, state));
    return run(SafePass<false>(settings, sharing, state));
}

}  // namespace weigh
