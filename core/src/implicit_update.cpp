#include "weigh/implicit_update.h"

#include <algorithm>
#include <cmath>

namespace weigh {
namespace {

constexpr double kTolerance = 1e-9;  // quadratic convergence: the next Newton step is below rounding
constexpr int kMaxIterations = 100;  // three or four are typical

double logistic_complement(double u) { return 1 / (1 + std::exp(u)); }

// h(u) = u − a − c / (1 + eᵘ) is increasing, convex below 0 and concave above. From a start between 0 and the root,
// Newton converges monotonically.
double initial_guess(double a, double c) {
    if (a < 0 && -a >= c / 2) return std::min(0.0, a + c * logistic_complement(a));
    const double u = std::max(a, 0.0);
    if (c <= 8) return u;
    // For large c, u ≈ log(c / (u − a)) is closer, unless it overshoots.
    const double log_c = std::log(c), asymptotic = log_c - std::log(log_c + 1 + std::abs(a));
    return asymptotic > u && asymptotic - a < c * logistic_complement(asymptotic) ? asymptotic : u;
}

// Solve u = a + c / (1 + eᵘ) by Newton.
double solve_scalar(double a, double c) {
    double u = initial_guess(a, c);
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
        const double p = logistic_complement(u), step = (u - a - c * p) / (1 + c * p * (1 - p));
        u -= step;
        if (!(std::abs(step) > kTolerance * (1 + std::abs(u)))) break;
    }
    return u;
}

// One step of the fourth-order Fritsch–Shafer–Crowley iteration for w + log w = t, with residual r.
double refine_omega(double w, double r) {
    const double q = 2 * (1 + w) * (1 + w + 2 * r / 3);
    return w * (1 + r / (1 + w) * (q - r) / (q - 2 * r));
}

// The Wright omega function: solve w + log w = t. A positive w is the initial guess.
double wright_omega(double t, double w) {
    if (t < -40) return std::exp(t);
    if (w > 0) {
        const double r = t - w - std::log(w);
        if (std::abs(r) < 0.1) return refine_omega(w, r);
    }
    const double e = std::exp(std::min(t, 1.0));
    w = t > 1 ? t - std::log(t) : e / (1 + e);
    w = refine_omega(w, t - w - std::log(w));
    return t < -3 ? w : refine_omega(w, t - w - std::log(w));
}

// The multiclass equation as a scalar one in u, the label's score minus log Σ eᶻ of the other classes after the step.
// The label has probability 1 − q with q = 1 / (1 + eᵘ), which determines log Σ eᶻ over all classes, and with z + c p
// = a the probability p of every other class. They must sum to q.
class OtherClasses {
public:
    OtherClasses(std::span<const double> a, std::size_t label, double c, std::span<double> residuals)
        : a_(a), label_(label), c_(c), log_c_(std::log(c)), residuals_(residuals) {}

    // Compute the probabilities for a given u, with the previous ones as initial guesses; return the Newton step of
    // log Σ p − log q = 0.
    double newton_step(double u) {
        const double q = logistic_complement(u), log_sum = a_[label_] + c_ * q + softplus(-u);
        double sum = 0, derivative = 0;
        for (std::size_t k = 0; k < a_.size(); ++k) {
            if (k == label_) continue;
            const double p = wright_omega(log_c_ + a_[k] - log_sum, -residuals_[k] * c_) / c_;
            residuals_[k] = -p;
            sum += p;
            derivative += p / (1 + c_ * p);
        }
        residuals_[label_] = q;
        return (std::log(sum) + softplus(u)) / (derivative / sum * (c_ * q * (1 - q) + q) + 1 - q);
    }

private:
    std::span<const double> a_;
    std::size_t label_;
    double c_, log_c_;
    std::span<double> residuals_;
};

// The label's score minus log Σ eᶻ of the other classes.
double label_margin(std::span<const double> scores, std::size_t label) {
    double max_score = -INFINITY, sum = 0;
    for (std::size_t k = 0; k < scores.size(); ++k)
        if (k != label) max_score = std::max(max_score, scores[k]);
    for (std::size_t k = 0; k < scores.size(); ++k)
        if (k != label) sum += std::exp(scores[k] - max_score);
    return scores[label] - max_score - std::log(sum);
}

}  // namespace

double softplus(double u) { return std::max(u, 0.0) + std::log1p(std::exp(-std::abs(u))); }

double softmax(std::span<const double> scores, std::span<double> probabilities) {
    const double max_score = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (std::size_t k = 0; k < scores.size(); ++k) sum += probabilities[k] = std::exp(scores[k] - max_score);
    for (double& p : probabilities) p /= sum;
    return max_score + std::log(sum);
}

double solve_binary_update(double a, double c) { return logistic_complement(solve_scalar(a, c)); }

void solve_multiclass_update(std::span<const double> a, std::size_t label, double c, std::span<double> residuals) {
    std::fill(residuals.begin(), residuals.end(), 0.0);
    const double margin = label_margin(a, label);
    if (logistic_complement(margin) == 0) return;
    if (c == 0) {
        softmax(a, residuals);
        for (std::size_t k = 0; k < a.size(); ++k) residuals[k] = (k == label ? 1.0 : 0.0) - residuals[k];
        return;
    }
    // Bracket the root: the other scores fall by between zero and as much as the label's score rises.
    double low = solve_scalar(margin, c), high = solve_scalar(margin, 2 * c), u = (low + high) / 2;
    low -= 2 * kTolerance * (1 + std::abs(low));
    high += 2 * kTolerance * (1 + std::abs(high));
    OtherClasses other_classes(a, label, c, residuals);
    double step = other_classes.newton_step(u);
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
        (step > 0 ? high : low) = u;
        const bool is_converged = !(std::abs(step) > kTolerance * (1 + std::abs(u)));
        u = u - step >= low && u - step <= high ? u - step : (low + high) / 2;
        step = other_classes.newton_step(u);
        if (is_converged) break;
    }
}

}  // namespace weigh
