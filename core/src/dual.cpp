#include "weigh/dual.h"

#include <algorithm>
#include <cmath>

#include "parts.h"

namespace weigh {
namespace {

constexpr double kUnknown = -1;
constexpr std::size_t kAhead = 6;  // rows whose memory is asked for before it is their turn

// Ask for the memory of some items. The compiler must not see a function of its own in it: one that only asks for
// memory has no effect that it knows of, and is left out.
template <class Item>
[[gnu::always_inline]] inline void ask_for(const Item* items, std::size_t size) {
    for (std::size_t j = 0; j < size; j += 64 / sizeof(Item)) __builtin_prefetch(items + j);
}

double logistic(double u) { return 1 / (1 + std::exp(-u)); }

// A number whose logistic value is known.
struct Logit {
    double u, value;
};

// The root of u + k · logistic(u) = c, to a hundredth of how far off `first` is; it lies between c − k and c.
Logit root(double k, double c, Logit first) {
    Logit at = first;
    double low = c - k, high = c;
    double wrong = at.u + k * at.value - c;
    const double enough = std::max(0.01 * std::abs(wrong), 1e-14 * (k + std::abs(c)));
    for (int round = 0; round < 60 && std::abs(wrong) > enough; ++round) {
        (wrong > 0 ? high : low) = at.u;
        double next = at.u - wrong / (1 + k * at.value * (1 - at.value));
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        at = {next, logistic(next)};
        wrong = at.u + k * at.value - c;
    }
    return at;
}

}  // namespace

LogisticDual::LogisticDual(const SparseRows& rows, std::size_t width, std::span<const double> y,
                           std::span<const double> weights, std::span<const double> offset,
                           const DualSettings& settings)
    : data_(rows), width_(width), settings_(settings), rows_(rows.rows()), weights_(width + 1),
      share_(static_cast<double>(settings.threads)) {
    in_parts(settings.threads, [&](std::size_t part) {
        const std::size_t end = rows_.size() * (part + 1) / settings.threads;
        for (std::size_t i = rows_.size() * part / settings.threads; i < end; ++i) {
            const std::int64_t begin = rows.indptr[i];
            rows_[i] = {.begin = begin,
                        .size = static_cast<std::uint32_t>(rows.indptr[i + 1] - begin),
                        .sign = y[i] > 0 ? 1 : -1,
                        .square = kUnknown,
                        .weight = weights.empty() ? 1.0 : weights[i],
                        .offset = offset.empty() ? 0.0 : offset[i],
                        .logit = -std::numeric_limits<double>::infinity(),
                        .share = 0,
                        .alpha = 0};
        }
    });
    if (settings.threads == 1) return;
    for (std::size_t t = 0; t < settings.threads; ++t) copies_.emplace_back(width + 1);
}

void LogisticDual::begin(std::span<const double> scores, std::span<const double> weights, double bias) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        rows_[i].logit = -rows_[i].sign * scores[i];
        rows_[i].share = logistic(rows_[i].logit);
        rows_[i].alpha = rows_[i].weight * rows_[i].share;
    }
    std::copy(weights.begin(), weights.end(), weights_.begin());
    weights_[width_] = bias;
    for (auto& copy : copies_) std::copy(weights_.begin(), weights_.end(), copy.begin());
}

void LogisticDual::recentre(double times) {
    double balance = 0;
    for (const Row& row : rows_) balance += row.sign * row.alpha;
    weights_[width_] += times * settings_.bias_spread * balance;
    for (auto& copy : copies_) copy[width_] = weights_[width_];
}

template <bool kValued>
double LogisticDual::square(const Row& row) const {
    double sum = kValued ? 0.0 : static_cast<double>(row.size);
    if (kValued)
        for (std::uint32_t j = 0; j < row.size; ++j) sum += data_.values[row.begin + j] * data_.values[row.begin + j];
    return settings_.spread * sum + settings_.bias_spread;
}

template <bool kValued>
double LogisticDual::step(Row& row, double* w) const {
    const std::int32_t* features = data_.indices.data() + row.begin;
    const double* values = kValued ? data_.values.data() + row.begin : nullptr;
    const auto x = [&](std::uint32_t j) { return kValued ? values[j] : 1.0; };
    double sums[4] = {row.offset + w[width_], 0, 0, 0};
    std::uint32_t j = 0;
    for (; j + 4 <= row.size; j += 4)
        for (std::uint32_t k = 0; k < 4; ++k) sums[k] += x(j + k) * w[features[j + k]];
    for (; j < row.size; ++j) sums[0] += x(j) * w[features[j]];
    const double margin = row.sign * ((sums[0] + sums[1]) + (sums[2] + sums[3]));

    if (row.square == kUnknown) row.square = square<kValued>(row);
    const double a = share_ * row.square, k = a * row.weight, c = a * row.alpha - margin;
    Logit first{row.logit, row.share};
    if (row.share == 0) {
        first.u = c - std::log1p(k);
        first.value = logistic(first.u);
    }
    const double wrong = row.logit + margin;
    const Logit best = root(k, c, first);
    const double change = row.weight * best.value - row.alpha;
    row.logit = best.u;
    row.share = best.value;
    row.alpha = row.weight * best.value;
    const double moved = row.sign * change * share_;
    const double scaled = moved * settings_.spread;
    const std::uint32_t size = row.size;
    for (j = 0; j < size; ++j) w[features[j]] += scaled * x(j);
    w[width_] += moved * settings_.bias_spread;
    // Both sides of the duality are this far apart in this row, to second order.
    const double apart = 0.5 * row.weight * first.value * (1 - first.value) * wrong * wrong;
    return std::isfinite(apart) ? apart : row.weight * std::abs(margin);
}

template <bool kValued>
double LogisticDual::steps(std::span<const std::int32_t> order, double* w) {
    double apart = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        if (k + 2 * kAhead < order.size()) __builtin_prefetch(&rows_[order[k + 2 * kAhead]]);
        if (k + kAhead < order.size()) {
            const Row& later = rows_[order[k + kAhead]];
            ask_for(data_.indices.data() + later.begin, later.size);
            if (kValued) ask_for(data_.values.data() + later.begin, later.size);
        }
        if (k + 1 < order.size()) {
            const Row& next = rows_[order[k + 1]];
            const std::int32_t* features = data_.indices.data() + next.begin;
            for (std::uint32_t j = 0; j < next.size; ++j) __builtin_prefetch(w + features[j]);
        }
        Row& row = rows_[order[k]];
        if (row.weight > 0) apart += step<kValued>(row, w);
    }
    return apart;
}

double LogisticDual::pass(std::span<const std::int32_t> order) {
    const std::size_t threads = settings_.threads;
    const std::size_t rounds = std::max<std::size_t>(1, settings_.rounds * order.size() / std::max<std::size_t>(1, size()));
    const std::size_t parts = threads * rounds;
    std::vector<double> apart(threads);
    for (std::size_t round = 0; round < rounds; ++round) {
        in_parts(threads, [&](std::size_t t) {
            const std::size_t part = round * threads + t;
            const std::size_t begin = order.size() * part / parts, end = order.size() * (part + 1) / parts;
            double* w = threads == 1 ? weights_.data() : copies_[t].data();
            const auto mine = order.subspan(begin, end - begin);
            apart[t] += data_.values.empty() ? steps<false>(mine, w) : steps<true>(mine, w);
        });
        if (threads > 1) join();
    }
    double sum = 0;
    for (const double part : apart) sum += part;
    // Shares that were too small may have made it worse, which must not happen again and again.
    if (sum > 4 * least_apart_ && order.size() == size()) {
        cautious_ = true;
        share_ = static_cast<double>(threads);
    }
    if (order.size() == size()) least_apart_ = std::min(least_apart_, sum);
    return sum;
}

// Add what all threads did to the weights, and measure how much of it they did together.
void LogisticDual::join() {
    struct Lengths {
        double together = 0, apart = 0;
    };
    std::vector<Lengths> parts(settings_.threads);
    in_parts(settings_.threads, [&](std::size_t slice) {
        const std::size_t size = width_ + 1;
        const std::size_t begin = size * slice / settings_.threads, end = size * (slice + 1) / settings_.threads;
        const double factor = 1 / share_;
        Lengths sum;
        for (std::size_t j = begin; j < end; ++j) {
            const double spread = j == width_ ? settings_.bias_spread : settings_.spread;
            double all = 0, squares = 0;
            for (const auto& copy : copies_) {
                const double moved = copy[j] - weights_[j];
                all += moved;
                squares += moved * moved;
            }
            weights_[j] += all * factor;
            for (const auto& copy : copies_) copy[j] = weights_[j];
            if (spread == 0) continue;
            sum.together += all * all / spread;
            sum.apart += squares / spread;
        }
        parts[slice] = sum;
    });
    Lengths sum;
    for (const Lengths& part : parts) sum = {sum.together + part.together, sum.apart + part.apart};
    if (sum.apart == 0) return;
    if (cautious_) return;
    // Threads that did little together in one round may do more in the next: the share falls slowly.
    const double needed = std::max(1.1 * sum.together / sum.apart, 0.9 * share_);
    share_ = std::clamp(needed, 1.0, static_cast<double>(settings_.threads));
}

void LogisticDual::signed_alphas(std::span<double> out) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) out[i] = rows_[i].sign * rows_[i].alpha;
}

void LogisticDual::logits(std::span<double> out) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) out[i] = rows_[i].logit;
}

}  // namespace weigh
