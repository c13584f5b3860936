#include "weigh/coordinate_descent.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "wide.h"

namespace weigh {

namespace {

// to += amount · from
WEIGH_WIDE void add_scaled(double* to, const double* from, double amount, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) to[i] += amount * from[i];
}

double one_norm(std::span<const double> w) {
    double sum = 0;
    for (const double value : w) sum += std::abs(value);
    return sum;
}

}  // namespace

double gram_duality_gap(const GramLoss& loss, const Penalties& penalties, std::span<const double> w,
                        std::span<const double> q) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double cw = 0, qw = 0, cost = 0, min_scale_without_l2 = kInfinity, min_scale = kInfinity;
    for (std::size_t j = 0; j < w.size(); ++j) {
        const double l1 = penalties.l1[j], l2 = penalties.l2[j], size = std::abs(q[j]);
        cw += loss.cross[j] * w[j];
        qw += q[j] * w[j];
        cost += l1 * std::abs(w[j]) + 0.5 * l2 * w[j] * w[j];
        if (size == 0 || l1 == 0) continue;
        min_scale = std::min(min_scale, l1 / size);
        if (l2 == 0) min_scale_without_l2 = std::min(min_scale_without_l2, l1 / size);
    }
    const double rr = std::max(0.0, loss.yy - cw - qw), yr = loss.yy - cw;
    const auto dual = [&](double s) {
        double conjugate = 0;
        for (std::size_t j = 0; j < w.size(); ++j) {
            if (penalties.l2[j] == 0) continue;
            const double excess = std::max(0.0, s * std::abs(q[j]) - penalties.l1[j]);
            conjugate += 0.5 * excess * excess / penalties.l2[j];
        }
        return s * yr - 0.5 * s * s * rr - conjugate;
    };
    // Without l2 the optimal scale of the dual point has a closed form; with l2, scale 1 is optimal at the solution.
    // If the residual is negatively correlated with the targets, only the zero dual point is left.
    const double best_scale = rr > 0 ? std::max(0.0, yr / rr) : 1;
    const double dual_value =
        std::max({dual(std::min(best_scale, min_scale)), dual(std::min(1.0, min_scale_without_l2)), 0.0});
    return std::max(0.0, 0.5 * rr + cost - dual_value);
}

GramDescent coordinate_descent_gram(const GramLoss& loss, const Penalties& penalties, double max_gap,
                                    std::size_t max_sweeps, std::span<double> w, std::span<double> q) {
    const std::size_t d = w.size();
    GramDescent descent{0, gram_duality_gap(loss, penalties, w, q)};
    while (descent.gap > max_gap && descent.sweeps < max_sweeps) {
        // Skip changes of the gradient so small that they add less than 5 % of max_gap to the gap.
        const double w_norm = one_norm(w), min_step = w_norm > 0 ? 0.05 * max_gap / w_norm : 0;
        for (std::size_t j = 0; j < d; ++j) {
            const double* row = loss.gram.data() + j * d;
            const double curvature = row[j] + penalties.l2[j];
            const double old_w = w[j];
            if (old_w == 0 && std::abs(q[j]) <= penalties.l1[j]) continue;
            if (!(curvature > 0)) continue;
            const double new_w = soft_threshold(q[j] + row[j] * old_w, penalties.l1[j]) / curvature;
            if (new_w != 0 && curvature * std::abs(new_w - old_w) < min_step) continue;
            w[j] = new_w;
            if (new_w != old_w) add_scaled(q.data(), row, old_w - new_w, d);
        }
        ++descent.sweeps;
        descent.gap = gram_duality_gap(loss, penalties, w, q);
    }
    return descent;
}

}  // namespace weigh
