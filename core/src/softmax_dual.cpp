#include "weigh/softmax_dual.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "table_rows.h"
#include "wide.h"

namespace weigh {
namespace {

constexpr double kNotComputed = -1;
constexpr std::size_t kVector = 4;  // weights of a feature are filled up to a multiple of this
constexpr int kMaxIterations = 20;
constexpr double kReduction = 0.01;  // of the Newton decrement: enough for a coordinate step
constexpr double kMinDecrement = 1e-18;

// out = exp(x) for x ≤ 0, by a polynomial without branches, which compilers vectorise. Relative error below 1e−15.
WEIGH_WIDE void exponentials(const double* x, std::size_t size, double* out) {
    constexpr double kLog2e = 1.4426950408889634, kHigh = 6.93147180369123816490e-1, kLow = 1.90821492927058770002e-10;
    constexpr double kRound = 0x1.8p52;  // adding it rounds to a whole number, in the low bits
    for (std::size_t k = 0; k < size; ++k) {
        const double a = x[k] < -700 ? -700 : x[k];
        const double shifted = a * kLog2e + kRound;
        const double n = shifted - kRound;
        const double r = (a - n * kHigh) - n * kLow;
        double sum = 1.0 / 6227020800;
        sum = sum * r + 1.0 / 479001600;
        sum = sum * r + 1.0 / 39916800;
        sum = sum * r + 1.0 / 3628800;
        sum = sum * r + 1.0 / 362880;
        sum = sum * r + 1.0 / 40320;
        sum = sum * r + 1.0 / 5040;
        sum = sum * r + 1.0 / 720;
        sum = sum * r + 1.0 / 120;
        sum = sum * r + 1.0 / 24;
        sum = sum * r + 1.0 / 6;
        sum = sum * r + 0.5;
        sum = sum * r + 1;
        sum = sum * r + 1;
        const auto bits = std::bit_cast<std::uint64_t>(shifted);
        out[k] = sum * std::bit_cast<double>((bits + 1023) << 52);
    }
}

[[gnu::always_inline]] inline void prefetch_row(const double* w, std::size_t stride) {
    for (std::size_t k = 0; k < stride; k += 8) __builtin_prefetch(w + k, 1);
}

}  // namespace

// Arrays of one value per class.
struct SoftmaxDual::Scratch {
    explicit Scratch(std::size_t stride) : z(stride), u(stride), p(stride), r(stride), h(stride), delta(stride) {}

    // Scale p = exp(u) to the sum 1.
    void normalise(std::size_t classes) {
        double top = u[0];
        for (std::size_t k = 1; k < classes; ++k) top = std::max(top, u[k]);
        for (std::size_t k = 0; k < classes; ++k) u[k] -= top;
        exponentials(u.data(), classes, p.data());
        double sum = 0;
        for (std::size_t k = 0; k < classes; ++k) sum += p[k];
        const double log_sum = std::log(sum), factor = 1 / sum;
        for (std::size_t k = 0; k < classes; ++k) {
            u[k] -= log_sum;
            p[k] *= factor;
        }
    }

    std::vector<double> z, u, p, r, h, delta;
};

SoftmaxDual::SoftmaxDual(const SparseRows& rows, std::size_t width, std::size_t classes, Codes y,
                         std::span<const double> weights, std::span<const double> offset,
                         const DualSettings& settings)
    : data_(rows),
      offset_(offset),
      width_(width),
      classes_(classes),
      stride_((classes + kVector - 1) / kVector * kVector),
      settings_(settings),
      rows_(rows.rows()),
      probabilities_(rows.rows() * classes),
      logarithms_(rows.rows() * classes),
      weights_(width, stride_, settings) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const std::int64_t begin = rows.indptr[i];
        rows_[i] = {.begin = begin,
                    .size = static_cast<std::uint32_t>(rows.indptr[i + 1] - begin),
                    .label = y[i],
                    .weight = weights.empty() ? 1.0 : weights[i],
                    .curvature = kNotComputed,
                    .gap = 0};
        probabilities_of(i)[y[i]] = 1;
    }
}

void SoftmaxDual::warm_start(std::span<const double> probabilities, std::span<const double> weights,
                             std::span<const double> bias) {
    for (std::size_t cell = 0; cell < probabilities.size(); ++cell) {
        probabilities_[cell] = probabilities[cell];
        logarithms_[cell] = std::log(std::max(probabilities[cell], 1e-300));
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].curvature = curvature(rows_[i]);
    for (std::size_t j = 0; j < width_; ++j)
        std::copy_n(weights.data() + j * classes_, classes_, weights_.data() + j * stride_);
    std::copy(bias.begin(), bias.end(), weights_.bias());
    weights_.update_copies();
}

double SoftmaxDual::curvature(const Row& row) const {
    double sum = data_.values.empty() ? static_cast<double>(row.size) : 0.0;
    if (!data_.values.empty())
        for (std::uint32_t j = 0; j < row.size; ++j) sum += data_.values[row.begin + j] * data_.values[row.begin + j];
    return row.weight * (settings_.prior_variance * sum + settings_.bias_prior_variance);
}

double SoftmaxDual::step(std::size_t i, double* w, Scratch& scratch) {
    Row& row = rows_[i];
    const std::int32_t* features = data_.indices.data() + row.begin;
    const double* values = data_.values.empty() ? nullptr : data_.values.data() + row.begin;
    double* p_old = probabilities_of(i);
    double* u_old = logarithms_of(i);
    auto& [z, u, p, r, h, delta] = scratch;
    std::copy_n(w + width_ * stride_, stride_, z.data());
    if (!offset_.empty())
        for (std::size_t k = 0; k < classes_; ++k) z[k] += offset_[i * classes_ + k];
    add_rows(features, values, row.size, w, stride_, z.data());

    const std::size_t label = static_cast<std::size_t>(row.label);
    const bool is_first = row.curvature == kNotComputed;
    if (is_first) row.curvature = curvature(row);
    const double c = weights_.scale() * row.curvature;

    // The row's part of the gap, log Σ exp zₖ + Σ pₖ (log pₖ − zₖ).
    double top = z[0], overlap = 0;
    for (std::size_t k = 1; k < classes_; ++k) top = std::max(top, z[k]);
    for (std::size_t k = 0; k < classes_; ++k) {
        r[k] = z[k] - top;
        overlap += p_old[k] * (u_old[k] - r[k]);
    }
    exponentials(r.data(), classes_, h.data());
    double sum = 0;
    for (std::size_t k = 0; k < classes_; ++k) sum += h[k];
    row.gap = row.weight * std::max(0.0, std::log(sum) + overlap);

    if (is_first) {
        // For large c only a share of about 1 / c can leave the row's own class.
        const double log_c = std::log1p(c);
        for (std::size_t k = 0; k < classes_; ++k) u[k] = std::min(z[k] - z[label], 0.0) - log_c;
        u[label] = 0;
        scratch.normalise(classes_);
    } else {
        std::copy_n(u_old, classes_, u.data());
        std::copy_n(p_old, classes_, p.data());
    }
    double first_decrement = 0;
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
        // Newton's step for u = log p: (1 + c pₖ) duₖ = rₖ − m, where m keeps the sum of p.
        double weighted = 0, total = 0;
        for (std::size_t k = 0; k < classes_; ++k) {
            r[k] = z[k] + c * (p_old[k] - p[k]) - u[k];
            h[k] = 1 / (1 + c * p[k]);
            weighted += p[k] * h[k] * r[k];
            total += p[k] * h[k];
        }
        const double m = weighted / total;
        double decrement = 0, largest = 0;
        for (std::size_t k = 0; k < classes_; ++k) {
            r[k] -= m;
            const double du = h[k] * r[k];
            decrement += p[k] * du * r[k];
            largest = std::max(largest, du);
        }
        if (iteration == 0) first_decrement = decrement;
        // The decrement does not see a class whose probability is still zero.
        if (largest <= 1 && decrement <= (iteration > 0 ? kReduction * first_decrement : kMinDecrement)) break;
        for (std::size_t k = 0; k < classes_; ++k) {
            const double du = h[k] * r[k];
            // Far from the solution Newton's step is too long; the logarithm bounds the solution from above.
            u[k] = du > 1 ? std::min(u[k] + du, std::log(p[k] + r[k] / c)) : u[k] + du;
        }
        scratch.normalise(classes_);
    }
    for (std::size_t k = 0; k < classes_; ++k) {
        delta[k] = weights_.scale() * row.weight * (p_old[k] - p[k]);
        w[width_ * stride_ + k] += settings_.bias_prior_variance * delta[k];
        delta[k] *= settings_.prior_variance;
        p_old[k] = p[k];
        u_old[k] = u[k];
    }
    add_to_rows(features, values, row.size, delta.data(), stride_, w);
    return row.gap;
}

double SoftmaxDual::run_pass(std::span<const std::int32_t> order) {
    return weights_.run_pass(order.size(), size(), [&](std::size_t begin, std::size_t end, double* w) {
        Scratch scratch(stride_);
        double gap = 0;
        for (std::size_t k = begin; k < end; ++k) {
            if (k + 1 < end) {
                const Row& next = rows_[order[k + 1]];
                for (std::uint32_t j = 0; j < next.size; ++j)
                    prefetch_row(w + static_cast<std::size_t>(data_.indices[next.begin + j]) * stride_, stride_);
            }
            const auto i = static_cast<std::size_t>(order[k]);
            if (rows_[i].weight > 0) gap += step(i, w, scratch);
        }
        return gap;
    });
}

void SoftmaxDual::recentre_bias_prior(double factor) {
    std::vector<double> balance(classes_);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const double* p = probabilities_of(i);
        for (std::size_t k = 0; k < classes_; ++k) balance[k] -= rows_[i].weight * p[k];
        balance[static_cast<std::size_t>(rows_[i].label)] += rows_[i].weight;
    }
    for (std::size_t k = 0; k < classes_; ++k)
        weights_.bias()[k] += factor * settings_.bias_prior_variance * balance[k];
    weights_.update_copies();
}

void SoftmaxDual::weights(std::span<double> out) const {
    for (std::size_t j = 0; j < width_; ++j)
        std::copy_n(weights_.data() + j * stride_, classes_, out.data() + j * classes_);
}

void SoftmaxDual::bias(std::span<double> out) const { std::copy_n(weights_.bias(), classes_, out.data()); }

void SoftmaxDual::gaps(std::span<double> out) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) out[i] = rows_[i].gap;
}

void SoftmaxDual::probabilities(std::span<double> out) const {
    std::copy(probabilities_.begin(), probabilities_.end(), out.begin());
}

}  // namespace weigh
