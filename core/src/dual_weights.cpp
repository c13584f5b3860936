#include "weigh/dual_weights.h"

#include <algorithm>

#include "parallel.h"

namespace weigh {

DualWeights::DualWeights(std::size_t width, std::size_t columns, const DualSettings& settings)
    : width_(width),
      columns_(columns),
      settings_(settings),
      weights_((width + 1) * columns),
      scale_(static_cast<double>(settings.threads)) {
    if (settings.threads == 1) return;
    for (std::size_t t = 0; t < settings.threads; ++t) copies_.emplace_back(weights_.size());
}

void DualWeights::update_copies() {
    for (auto& copy : copies_) std::copy(weights_.begin(), weights_.end(), copy.begin());
}

double DualWeights::run_pass(std::size_t size, std::size_t n_rows, const Work& work) {
    const std::size_t threads = settings_.threads;
    const std::size_t syncs =
        std::max<std::size_t>(1, settings_.syncs_per_pass * size / std::max<std::size_t>(1, n_rows));
    const std::size_t parts = threads * syncs;
    std::vector<double> gap(threads);
    for (std::size_t sync = 0; sync < syncs; ++sync) {
        parallel_for(threads, [&](std::size_t t) {
            const std::size_t part = sync * threads + t;
            gap[t] += work(size * part / parts, size * (part + 1) / parts, copy_of(t));
        });
        if (threads > 1) merge_copies();
    }
    double sum = 0;
    for (const double part : gap) sum += part;
    if (size != n_rows) return sum;
    // The gap grew, so σ′ was too small. Return to the safe value for good.
    if (sum > 4 * min_gap_) {
        is_scale_fixed_ = true;
        scale_ = static_cast<double>(threads);
    }
    min_gap_ = std::min(min_gap_, sum);
    return sum;
}

// Add the steps of all threads to the weights, and measure |Σ Δ|² / Σ |Δ|².
void DualWeights::merge_copies() {
    struct StepNorms {
        double joint = 0, separate = 0;
    };
    std::vector<StepNorms> parts(settings_.threads);
    parallel_for(settings_.threads, [&](std::size_t slice) {
        const std::size_t size = weights_.size(), first_bias = width_ * columns_;
        const std::size_t begin = size * slice / settings_.threads, end = size * (slice + 1) / settings_.threads;
        const double factor = 1 / scale_;
        StepNorms sum;
        for (std::size_t j = begin; j < end; ++j) {
            const double prior_variance = j >= first_bias ? settings_.bias_prior_variance : settings_.prior_variance;
            double total = 0, squares = 0;
            for (const auto& copy : copies_) {
                const double delta = copy[j] - weights_[j];
                total += delta;
                squares += delta * delta;
            }
            weights_[j] += total * factor;
            for (const auto& copy : copies_) copy[j] = weights_[j];
            if (prior_variance == 0) continue;
            sum.joint += total * total / prior_variance;
            sum.separate += squares / prior_variance;
        }
        parts[slice] = sum;
    });
    StepNorms sum;
    for (const StepNorms& part : parts) sum = {sum.joint + part.joint, sum.separate + part.separate};
    if (sum.separate == 0 || is_scale_fixed_) return;
    // The ratio varies between synchronisations, so let σ′ fall only slowly.
    const double needed = std::max(1.1 * sum.joint / sum.separate, 0.9 * scale_);
    scale_ = std::clamp(needed, 1.0, static_cast<double>(settings_.threads));
}

}  // namespace weigh
