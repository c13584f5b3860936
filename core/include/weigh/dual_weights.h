// Weights of dual coordinate ascent, which several threads change at once.
//
// Each thread works on its own rows and on its own copy of the weights, in which its steps are scaled by σ′; then the
// steps of all threads are added (CoCoA+, Ma et al., 2015). The dual increases if σ′ ≥ |Σ Δ|² / Σ |Δ|². This ratio is at
// most the number of threads, and is measured.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "weigh/zeroed_array.h"

namespace weigh {

struct DualSettings {
    double prior_variance = 1;       // v
    double bias_prior_variance = 0;  // vᵦ; zero means no intercept
    std::size_t syncs_per_pass = 1;  // how often the threads exchange their steps
    std::size_t threads = 1;
};

class DualWeights {
public:
    // `columns` weights per feature, and as many intercepts after those of the last feature.
    DualWeights(std::size_t width, std::size_t columns, const DualSettings& settings);

    double* data() const { return weights_.data(); }
    double* bias() const { return weights_.data() + width_ * columns_; }
    // The table that a thread works on.
    double* copy_of(std::size_t thread) const {
        return copies_.empty() ? weights_.data() : copies_[thread].data();
    }
    // σ′
    double scale() const { return scale_; }

    // Call work(begin, end, table) for consecutive parts of `size` rows on all threads; return the sum of its results,
    // an estimate of the duality gap. There are `n_rows` rows in all.
    using Work = std::function<double(std::size_t, std::size_t, double*)>;
    double run_pass(std::size_t size, std::size_t n_rows, const Work& work);

    // Give every thread the weights, after they were changed from outside.
    void update_copies();

private:
    void merge_copies();

    std::size_t width_, columns_;
    DualSettings settings_;
    ZeroedArray<double> weights_;
    std::vector<ZeroedArray<double>> copies_;  // one per thread, if there are several
    double scale_;
    double min_gap_ = std::numeric_limits<double>::infinity();
    bool is_scale_fixed_ = false;  // σ′ stays at the number of threads, which is always safe
};

}  // namespace weigh
