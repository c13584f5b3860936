#include <algorithm>
#include <cmath>
#include <limits>

#include "descend_wide.h"
#include "descend_threshold.h"
#include "weigh/descend.h"

namespace weigh {

namespace {

// to += amount · from
WEIGH_WIDE void add_scaled(double* to, const double* from, double amount, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) to[i] += amount * from[i];
}

double one_norm(std::span<const double> w) {
    double sum = 0;
    for (const double each : w) sum += std::abs(each);
    return sum;
}

}  // namespace

double gram_gap(const Quadratic& loss, const Penalties& penalties, std::span<const double> w,
                std::span<const double> q) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    double cw = 0, qw = 0, cost = 0, bound = kNone, tightest = kNone;
    for (std::size_t j = 0; j < w.size(); ++j) {
        const double l1 = penalties.l1[j], l2 = penalties.l2[j], size = std::abs(q[j]);
        cw += loss.cross[j] * w[j];
        qw += q[j] * w[j];
        cost += l1 * std::abs(w[j]) + 0.5 * l2 * w[j] * w[j];
        if (size == 0 || l1 == 0) continue;
        tightest = std::min(tightest, l1 / size);
        if (l2 == 0) bound = std::min(bound, l1 / size);
    }
    const double rr = std::max(0.0, loss.yy - cw - qw), yr = loss.yy - cw;
    const auto dual = [&](double s) {
        double conjugate = 0;
        for (std::size_t j = 0; j < w.size(); ++j) {
            if (penalties.l2[j] == 0) continue;
            const double beyond = std::max(0.0, s * std::abs(q[j]) - penalties.l1[j]);
            conjugate += 0.5 * beyond * beyond / penalties.l2[j];
        }
        return s * yr - 0.5 * s * s * rr - conjugate;
    };
    // Without l2 the best scale is known; with it the residual itself is best at the optimum. A step too far turns
    // the residual against the targets, and then no scale of it proves anything.
    const double best = rr > 0 ? std::max(0.0, yr / rr) : 1;
    const double reached = std::max({dual(std::min(best, tightest)), dual(std::min(1.0, bound)), 0.0});
    return std::max(0.0, 0.5 * rr + cost - reached);
}

Descent descend_gram(const Quadratic& loss, const Penalties& penalties, double tol, std::size_t most,
                     std::span<double> w, std::span<double> q) {
    const std::size_t d = w.size();
    Descent descent{0, gram_gap(loss, penalties, w, q)};
    while (descent.gap > tol && descent.sweeps < most) {
        // A gradient that is off by so little costs the gap less than a twentieth of what is allowed.
        const double length = one_norm(w), least = length > 0 ? 0.05 * tol / length : 0;
        for (std::size_t j = 0; j < d; ++j) {
            const double* row = loss.gram.data() + j * d;
            const double curve = row[j] + penalties.l2[j];
            const double past = w[j];
            if (past == 0 && std::abs(q[j]) <= penalties.l1[j]) continue;
            if (!(curve > 0)) continue;
            const double next = soft_threshold(q[j] + row[j] * past, penalties.l1[j]) / curve;
            if (next != 0 && curve * std::abs(next - past) < least) continue;
            w[j] = next;
            if (next != past) add_scaled(q.data(), row, past - next, d);
        }
        ++descent.sweeps;
        descent.gap = gram_gap(loss, penalties, w, q);
    }
    return descent;
}

}  // namespace weigh
