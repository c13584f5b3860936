#include "weigh/descend_columns.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <random>

#include "descend_threshold.h"
#include "parts.h"

namespace weigh {

namespace {

using Entries = std::span<const Columns::Entry>;

// What is known of a row side by side, so that it comes from memory at once.
template <class Real>
struct Row {
    Real u, h;
};

// Threads read and write the pulls of rows as they please: what one misses of the other, the next sweep makes good.
template <class Real>
double pull_of(Row<Real>& row) {
    return std::atomic_ref(row.u).load(std::memory_order_relaxed);
}

template <class Real>
void change_pull(Row<Real>& row, double change) {
    std::atomic_ref u(row.u);
    u.store(static_cast<Real>(u.load(std::memory_order_relaxed) + change), std::memory_order_relaxed);
}

struct Curve {
    double pull = 0;   // Σ h x
    double whole = 0;  // Σ h x²
    double curve = 0;  // the same around the mean, if there is a constant
    double lost = 0;   // what rounding takes from Σ x u
};

// The state of a run. With a constant the pull of row i is u[i] + h[i] · lag: a change of the constant reaches
// all rows at once.
template <class Real>
class Run {
public:
    Run(const Columns& columns, const Penalties& penalties, std::span<const double> h, std::span<const double> u,
        bool bias, std::span<double> w)
        : columns_(columns), penalties_(penalties), w_(w), rows_(h.size()), curves_(w.size()),
          total_(bias ? std::accumulate(h.begin(), h.end(), 0.0) : 0) {
        for (std::size_t i = 0; i < h.size(); ++i) rows_[i] = {static_cast<Real>(u[i]), static_cast<Real>(h[i])};
    }

    void fetch(std::size_t j) const {
        const Entries x = columns_[j];
        for (std::size_t k = 0; k < std::min<std::size_t>(x.size(), 32); k += 8) __builtin_prefetch(x.data() + k);
    }

    // Look at a column before any weight moves; q is its Σ x u with all digits.
    void measure(std::size_t j, double q) {
        Curve& found = curves_[j];
        double rounded = 0;
        for (const auto& [row, value] : columns_[j]) {
            const Row<Real>& held = rows_[static_cast<std::size_t>(row)];
            const double part = value * static_cast<double>(held.h);
            rounded += value * static_cast<double>(held.u);
            found.pull += part;
            found.whole += part * value;
        }
        found.lost = q - rounded;
        found.curve = found.whole - (total_ > 0 ? found.pull * found.pull / total_ : 0);
    }

    // Set one weight to where the model is least; return twice what is gained at least.
    double move(std::size_t j) {
        const Curve& known = curves_[j];
        const double curve = known.curve + penalties_.l2[j], past = w_[j];
        // What rounding leaves of a constant column is no column.
        if (!(curve > kRounding * known.whole)) return 0;
        const double q = pull(columns_[j]) + known.lost + lag_.load(std::memory_order_relaxed) * known.pull;
        const double next = soft_threshold(q + known.curve * past, penalties_.l1[j]) / curve, change = next - past;
        if (change == 0) return 0;
        w_[j] = next;
        for (const auto& [row, value] : columns_[j]) {
            auto& held = rows_[static_cast<std::size_t>(row)];
            change_pull(held, -change * value * static_cast<double>(held.h));
        }
        if (total_ > 0) lag_.fetch_add(change * known.pull / total_, std::memory_order_relaxed);
        return curve * change * change;
    }

    bool is_zero(std::size_t j) const { return w_[j] == 0; }
    double shift() const { return -lag_.load(); }

private:
    static constexpr double kRounding = 1e-12;

    // Σ x u in four sums, so that one addition need not wait for the other.
    double pull(Entries x) {
        double sums[4] = {0, 0, 0, 0};
        std::size_t k = 0;
        for (; k + 4 <= x.size(); k += 4)
            for (std::size_t part = 0; part < 4; ++part)
                sums[part] += x[k + part].value * pull_of(rows_[static_cast<std::size_t>(x[k + part].row)]);
        for (; k < x.size(); ++k) sums[0] += x[k].value * pull_of(rows_[static_cast<std::size_t>(x[k].row)]);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }

    const Columns& columns_;
    const Penalties& penalties_;
    std::span<double> w_;
    Zeroed<Row<Real>> rows_;
    std::vector<Curve> curves_;
    double total_;
    std::atomic<double> lag_ = 0;
};

// Call visit(column) for all columns, on several threads, which take a few at a time; return the sum of its answers.
template <class Real, class Visit>
double swept(const Run<Real>& run, std::span<const std::int32_t> order, std::size_t threads, const Visit& visit) {
    constexpr std::size_t kTaken = 16, kAhead = 2;
    std::atomic<std::size_t> next = 0;
    std::vector<double> sums(threads);
    in_parts(threads, [&](std::size_t part) {
        double sum = 0;
        for (std::size_t begin; (begin = next.fetch_add(kTaken)) < order.size();) {
            const std::size_t end = std::min(begin + kTaken, order.size());
            for (std::size_t k = begin; k < end; ++k) {
                if (k + kAhead < order.size()) run.fetch(static_cast<std::size_t>(order[k + kAhead]));
                sum += visit(static_cast<std::size_t>(order[k]));
            }
        }
        sums[part] = sum;
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

template <class Real>
ColumnDescent descend(const Columns& columns, std::span<const std::int32_t> which, const Penalties& penalties,
                      std::span<const double> h, std::span<const double> u, std::span<const double> q,
                      const ColumnSettings& settings, std::span<double> w) {
    Run<Real> run(columns, penalties, h, u, settings.bias, w);
    std::vector<std::int32_t> order(which.begin(), which.end());
    swept(run, order, settings.threads, [&](std::size_t j) {
        run.measure(j, q[j]);
        return 0.0;
    });
    std::mt19937_64 random(settings.seed);
    std::size_t sweeps = 0;
    double first = 0, gain = 0;
    for (; sweeps < settings.most && (sweeps == 0 || gain > settings.share * first); ++sweeps) {
        std::shuffle(order.begin(), order.end(), random);
        gain = swept(run, order, settings.threads, [&](std::size_t j) { return run.move(j); });
        if (sweeps == 0) first = gain;
        if (sweeps == 1)
            std::erase_if(order, [&](std::int32_t j) { return run.is_zero(static_cast<std::size_t>(j)); });
    }
    return {sweeps, run.shift()};
}

}  // namespace

ColumnDescent descend_columns(const Columns& columns, std::span<const std::int32_t> which, const Penalties& penalties,
                              std::span<const double> h, std::span<const double> u, std::span<const double> q,
                              const ColumnSettings& settings, std::span<double> w) {
    const auto run = settings.fine ? descend<double> : descend<float>;
    return run(columns, which, penalties, h, u, q, settings, w);
}

}  // namespace weigh
