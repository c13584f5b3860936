#include "weigh/gradient_solve.h"

#include <algorithm>
#include <cmath>

namespace weigh {
namespace {

constexpr double kSettled = 1e-9;  // Newton's next step is then below rounding
constexpr int kMost = 100;         // steps of Newton, of which three or four are the rule

double share_of(double u) { return 1 / (1 + std::exp(u)); }

// h(u) = u − a − c share_of(u) rises, convex below 0 and concave above: from a start between 0 and the solution
// Newton goes there without turning back.
double start(double a, double c) {
    if (a < 0 && -a >= c / 2) return std::min(0.0, a + c * share_of(a));
    const double u = std::max(a, 0.0);
    if (c <= 8) return u;
    // A long way: u ≈ log(c / (u − a)) is near, if it is not beyond.
    const double large = std::log(c), near = large - std::log(large + 1 + std::abs(a));
    return near > u && near - a < c * share_of(near) ? near : u;
}

// The solution of u = a + c / (1 + eᵘ).
double solved(double a, double c) {
    double u = start(a, c);
    for (int round = 0; round < kMost; ++round) {
        const double share = share_of(u), by = (u - a - c * share) / (1 + c * share * (1 - share));
        u -= by;
        if (!(std::abs(by) > kSettled * (1 + std::abs(u)))) break;
    }
    return u;
}

// A guess w of the solution of w + log w = t made better, by an iteration of the fourth order; r is what it lacks.
double better(double w, double r) {
    const double q = 2 * (1 + w) * (1 + w + 2 * r / 3);
    return w * (1 + r / (1 + w) * (q - r) / (q - 2 * r));
}

// The solution of w + log w = t, a guess of which may be known, else 0.
double omega(double t, double w) {
    if (t < -40) return std::exp(t);
    if (w > 0) {
        const double r = t - w - std::log(w);
        if (std::abs(r) < 0.1) return better(w, r);
    }
    const double e = std::exp(std::min(t, 1.0));
    w = t > 1 ? t - std::log(t) : e / (1 + e);
    w = better(w, t - w - std::log(w));
    return t < -3 ? w : better(w, t - w - std::log(w));
}

// Several classes as functions of u, the lead of the label's score over log Σ eᶻ of the others after the step. It
// makes the label's share 1 − q, q = 1 / (1 + eᵘ), and with it log Σ eᶻ of all; that gives the share p of every other
// class, z + c p = a. They must add up to q.
class Others {
public:
    Others(std::span<const double> a, std::size_t label, double c, std::span<double> lacks)
        : a_(a), label_(label), c_(c), log_c_(std::log(c)), lacks_(lacks) {}

    // Find the shares of a lead, the last ones being guesses; tell by how much of its derivative log Σ p − log q is above 0.
    double beyond(double u) {
        const double q = share_of(u), all = a_[label_] + c_ * q + softplus(-u);
        double sum = 0, turn = 0;
        for (std::size_t k = 0; k < a_.size(); ++k) {
            if (k == label_) continue;
            const double p = omega(log_c_ + a_[k] - all, -lacks_[k] * c_) / c_;
            lacks_[k] = -p;
            sum += p;
            turn += p / (1 + c_ * p);
        }
        lacks_[label_] = q;
        return (std::log(sum) + softplus(u)) / (turn / sum * (c_ * q * (1 - q) + q) + 1 - q);
    }

private:
    std::span<const double> a_;
    std::size_t label_;
    double c_, log_c_;
    std::span<double> lacks_;
};

// The label's score less log Σ eᶻ of the others.
double lead(std::span<const double> scores, std::size_t label) {
    double most = -INFINITY, sum = 0;
    for (std::size_t k = 0; k < scores.size(); ++k)
        if (k != label) most = std::max(most, scores[k]);
    for (std::size_t k = 0; k < scores.size(); ++k)
        if (k != label) sum += std::exp(scores[k] - most);
    return scores[label] - most - std::log(sum);
}

}  // namespace

double softplus(double u) { return std::max(u, 0.0) + std::log1p(std::exp(-std::abs(u))); }

double soften(std::span<const double> scores, std::span<double> shares) {
    const double most = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (std::size_t k = 0; k < scores.size(); ++k) sum += shares[k] = std::exp(scores[k] - most);
    for (double& share : shares) share /= sum;
    return most + std::log(sum);
}

double implicit_two(double a, double c) { return share_of(solved(a, c)); }

void implicit_many(std::span<const double> a, std::size_t label, double c, std::span<double> lacks) {
    std::fill(lacks.begin(), lacks.end(), 0.0);
    const double before = lead(a, label);
    if (share_of(before) == 0) return;
    if (c == 0) {
        soften(a, lacks);
        for (std::size_t k = 0; k < a.size(); ++k) lacks[k] = (k == label ? 1.0 : 0.0) - lacks[k];
        return;
    }
    // The others fall by something between nothing and what the label rises.
    double low = solved(before, c), high = solved(before, 2 * c), u = (low + high) / 2;
    low -= 2 * kSettled * (1 + std::abs(low));
    high += 2 * kSettled * (1 + std::abs(high));
    Others others(a, label, c, lacks);
    double by = others.beyond(u);
    for (int round = 0; round < kMost; ++round) {
        (by > 0 ? high : low) = u;
        const bool settled = !(std::abs(by) > kSettled * (1 + std::abs(u)));
        u = u - by >= low && u - by <= high ? u - by : (low + high) / 2;
        by = others.beyond(u);
        if (settled) break;
    }
}

}  // namespace weigh
