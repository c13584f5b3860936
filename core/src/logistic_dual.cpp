#include "weigh/logistic_dual.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel.h"

namespace weigh {
namespace {

constexpr double kNotComputed = -1;
constexpr std::size_t kAhead = 6;  // prefetch distance in rows

// Prefetch an array. Always inlined, because the compiler drops a call to a function whose only effect is
// prefetching.
template <class Item>
[[gnu::always_inline]] inline void prefetch_items(const Item* items, std::size_t size) {
    for (std::size_t j = 0; j < size; j += 64 / sizeof(Item)) __builtin_prefetch(items + j);
}

double logistic(double u) { return 1 / (1 + std::exp(-u)); }

// A logit u and its logistic value.
struct Logit {
    double u, value;
};

// Solve u + k · logistic(u) = c by Newton steps safeguarded by bisection in [c − k, c]. Reduces the residual of
// `first` to one hundredth, which is enough for a coordinate step.
Logit solve_step(double k, double c, Logit first) {
    Logit at = first;
    double low = c - k, high = c;
    double residual = at.u + k * at.value - c;
    const double tolerance = std::max(0.01 * std::abs(residual), 1e-14 * (k + std::abs(c)));
    for (int iteration = 0; iteration < 60 && std::abs(residual) > tolerance; ++iteration) {
        (residual > 0 ? high : low) = at.u;
        double next = at.u - residual / (1 + k * at.value * (1 - at.value));
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        at = {next, logistic(next)};
        residual = at.u + k * at.value - c;
    }
    return at;
}

}  // namespace

LogisticDual::LogisticDual(const SparseRows& rows, std::size_t width, std::span<const double> y,
                           std::span<const double> weights, std::span<const double> offset,
                           const DualSettings& settings)
    : data_(rows),
      width_(width),
      settings_(settings),
      rows_(rows.rows()),
      weights_(width, 1, settings) {
    parallel_for(settings.threads, [&](std::size_t part) {
        const std::size_t end = rows_.size() * (part + 1) / settings.threads;
        for (std::size_t i = rows_.size() * part / settings.threads; i < end; ++i) {
            const std::int64_t begin = rows.indptr[i];
            rows_[i] = {.begin = begin,
                        .size = static_cast<std::uint32_t>(rows.indptr[i + 1] - begin),
                        .sign = y[i] > 0 ? 1 : -1,
                        .curvature = kNotComputed,
                        .weight = weights.empty() ? 1.0 : weights[i],
                        .offset = offset.empty() ? 0.0 : offset[i],
                        .logit = -std::numeric_limits<double>::infinity(),
                        .sigma = 0,
                        .alpha = 0};
        }
    });
}

void LogisticDual::warm_start(std::span<const double> scores, std::span<const double> weights, double bias) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        rows_[i].logit = -rows_[i].sign * scores[i];
        rows_[i].sigma = logistic(rows_[i].logit);
        rows_[i].alpha = rows_[i].weight * rows_[i].sigma;
    }
    std::copy(weights.begin(), weights.end(), weights_.data());
    *weights_.bias() = bias;
    weights_.update_copies();
}

void LogisticDual::recentre_bias_prior(double factor) {
    double balance = 0;
    for (const Row& row : rows_) balance += row.sign * row.alpha;
    *weights_.bias() += factor * settings_.bias_prior_variance * balance;
    weights_.update_copies();
}

template <bool kHasValues>
double LogisticDual::curvature(const Row& row) const {
    double sum = kHasValues ? 0.0 : static_cast<double>(row.size);
    if (kHasValues)
        for (std::uint32_t j = 0; j < row.size; ++j) sum += data_.values[row.begin + j] * data_.values[row.begin + j];
    return settings_.prior_variance * sum + settings_.bias_prior_variance;
}

template <bool kHasValues>
double LogisticDual::step(Row& row, double* w) const {
    const std::int32_t* features = data_.indices.data() + row.begin;
    const double* values = kHasValues ? data_.values.data() + row.begin : nullptr;
    const auto x = [&](std::uint32_t j) { return kHasValues ? values[j] : 1.0; };
    double sums[4] = {row.offset + w[width_], 0, 0, 0};
    std::uint32_t j = 0;
    for (; j + 4 <= row.size; j += 4)
        for (std::uint32_t k = 0; k < 4; ++k) sums[k] += x(j + k) * w[features[j + k]];
    for (; j < row.size; ++j) sums[0] += x(j) * w[features[j]];
    const double margin = row.sign * ((sums[0] + sums[1]) + (sums[2] + sums[3]));

    if (row.curvature == kNotComputed) row.curvature = curvature<kHasValues>(row);
    const double a = weights_.scale() * row.curvature, k = a * row.weight, c = a * row.alpha - margin;
    Logit first{row.logit, row.sigma};
    if (row.sigma == 0) {
        first.u = c - std::log1p(k);
        first.value = logistic(first.u);
    }
    const double residual = row.logit + margin;
    const Logit best = solve_step(k, c, first);
    const double change = row.weight * best.value - row.alpha;
    row.logit = best.u;
    row.sigma = best.value;
    row.alpha = row.weight * best.value;
    const double delta = row.sign * change * weights_.scale();
    const double scaled = delta * settings_.prior_variance;
    const std::uint32_t size = row.size;
    for (j = 0; j < size; ++j) w[features[j]] += scaled * x(j);
    w[width_] += delta * settings_.bias_prior_variance;
    // Second-order estimate of the contribution of this row to the duality gap.
    const double gap = 0.5 * row.weight * first.value * (1 - first.value) * residual * residual;
    return std::isfinite(gap) ? gap : row.weight * std::abs(margin);
}

template <bool kHasValues>
double LogisticDual::run_steps(std::span<const std::int32_t> order, double* w) {
    double gap = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        if (k + 2 * kAhead < order.size()) __builtin_prefetch(&rows_[order[k + 2 * kAhead]]);
        if (k + kAhead < order.size()) {
            const Row& later = rows_[order[k + kAhead]];
            prefetch_items(data_.indices.data() + later.begin, later.size);
            if (kHasValues) prefetch_items(data_.values.data() + later.begin, later.size);
        }
        if (k + 1 < order.size()) {
            const Row& next = rows_[order[k + 1]];
            const std::int32_t* features = data_.indices.data() + next.begin;
            for (std::uint32_t j = 0; j < next.size; ++j) __builtin_prefetch(w + features[j]);
        }
        Row& row = rows_[order[k]];
        if (row.weight > 0) gap += step<kHasValues>(row, w);
    }
    return gap;
}

double LogisticDual::run_pass(std::span<const std::int32_t> order) {
    return weights_.run_pass(order.size(), size(), [&](std::size_t begin, std::size_t end, double* w) {
        const auto part = order.subspan(begin, end - begin);
        return data_.values.empty() ? run_steps<false>(part, w) : run_steps<true>(part, w);
    });
}

void LogisticDual::signed_alphas(std::span<double> out) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) out[i] = rows_[i].sign * rows_[i].alpha;
}

void LogisticDual::logits(std::span<double> out) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) out[i] = rows_[i].logit;
}

}  // namespace weigh
