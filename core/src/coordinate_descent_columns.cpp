#include "weigh/coordinate_descent.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "parallel.h"

namespace weigh {

namespace {

// Call each(row, column, value) for all entries of selected features in a range of rows.
template <class Each>
void for_each_selected(const SparseRows& rows, Codes index_map, std::size_t begin, std::size_t end, const Each& each) {
    for (std::size_t i = begin; i < end; ++i) {
        const auto last = static_cast<std::size_t>(rows.indptr[i + 1]);
        for (auto e = static_cast<std::size_t>(rows.indptr[i]); e < last; ++e) {
            const std::int32_t column = index_map[static_cast<std::size_t>(rows.indices[e])];
            if (column >= 0) each(i, static_cast<std::size_t>(column), rows.value(e));
        }
    }
}

using Entries = std::span<const ColumnSubset::Entry>;

// Weighted residual u and second derivative h of a row, side by side so that one cache line has both.
template <class Real>
struct Row {
    Real u, h;
};

// Threads update residuals without locks (Hogwild): an update that another thread misses is corrected in the next
// sweep.
template <class Real>
double load_residual(Row<Real>& row) {
    return std::atomic_ref(row.u).load(std::memory_order_relaxed);
}

template <class Real>
void add_residual(Row<Real>& row, double change) {
    std::atomic_ref u(row.u);
    u.store(static_cast<Real>(u.load(std::memory_order_relaxed) + change), std::memory_order_relaxed);
}

struct ColumnMoments {
    double hx = 0;              // Σ h x
    double hxx = 0;             // Σ h x²
    double curvature = 0;       // centred: minus (Σ h x)² / Σ h if there is an intercept
    double rounding_error = 0;  // Σ x u in double precision minus the same sum of the stored u, at the start
};

// State of one solver run. With an intercept, the residual of row i is u[i] + h[i] · negative_intercept_shift_, so that
// a change of the intercept costs O(1) instead of a pass over the rows. The shift is the sum of all changes of the
// intercept since the start, stored with the opposite sign.
template <class Real>
class DescentState {
public:
    DescentState(const ColumnSubset& columns, const Penalties& penalties, std::span<const double> h,
                 std::span<const double> u, bool has_intercept, std::span<double> w)
        : columns_(columns),
          penalties_(penalties),
          w_(w),
          rows_(h.size()),
          moments_(w.size()),
          total_h_(has_intercept ? std::accumulate(h.begin(), h.end(), 0.0) : 0) {
        for (std::size_t i = 0; i < h.size(); ++i) rows_[i] = {static_cast<Real>(u[i]), static_cast<Real>(h[i])};
    }

    void prefetch(std::size_t j) const {
        const Entries x = columns_[j];
        for (std::size_t k = 0; k < std::min<std::size_t>(x.size(), 32); k += 8) __builtin_prefetch(x.data() + k);
    }

    // Compute the moments of a column before any weight changes; q is Σ x u in double precision.
    void compute_moments(std::size_t j, double q) {
        ColumnMoments& moments = moments_[j];
        double rounded = 0;
        for (const auto& [row, value] : columns_[j]) {
            const Row<Real>& row_state = rows_[static_cast<std::size_t>(row)];
            const double part = value * static_cast<double>(row_state.h);
            rounded += value * static_cast<double>(row_state.u);
            moments.hx += part;
            moments.hxx += part * value;
        }
        moments.rounding_error = q - rounded;
        moments.curvature = moments.hxx - (total_h_ > 0 ? moments.hx * moments.hx / total_h_ : 0);
    }

    // Minimise the objective along one weight; return twice a lower bound on the decrease.
    double update(std::size_t j) {
        const ColumnMoments& moments = moments_[j];
        const double curvature = moments.curvature + penalties_.l2[j], old_w = w_[j];
        // A curvature at rounding level means a column that is constant.
        if (!(curvature > kRounding * moments.hxx)) return 0;
        const double q = dot_residuals(columns_[j]) + moments.rounding_error +
                         negative_intercept_shift_.load(std::memory_order_relaxed) * moments.hx;
        const double next = soft_threshold(q + moments.curvature * old_w, penalties_.l1[j]) / curvature;
        const double change = next - old_w;
        if (change == 0) return 0;
        w_[j] = next;
        for (const auto& [row, value] : columns_[j]) {
            auto& row_state = rows_[static_cast<std::size_t>(row)];
            add_residual(row_state, -change * value * static_cast<double>(row_state.h));
        }
        if (total_h_ > 0)
            negative_intercept_shift_.fetch_add(change * moments.hx / total_h_, std::memory_order_relaxed);
        return curvature * change * change;
    }

    bool is_zero(std::size_t j) const { return w_[j] == 0; }
    double intercept_shift() const { return -negative_intercept_shift_.load(); }

private:
    static constexpr double kRounding = 1e-12;

    // Σ x u in four partial sums, which hides the latency of the additions.
    double dot_residuals(Entries x) {
        double sums[4] = {0, 0, 0, 0};
        std::size_t k = 0;
        for (; k + 4 <= x.size(); k += 4)
            for (std::size_t part = 0; part < 4; ++part)
                sums[part] += x[k + part].value * load_residual(rows_[static_cast<std::size_t>(x[k + part].row)]);
        for (; k < x.size(); ++k) sums[0] += x[k].value * load_residual(rows_[static_cast<std::size_t>(x[k].row)]);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }

    const ColumnSubset& columns_;
    const Penalties& penalties_;
    std::span<double> w_;
    ZeroedArray<Row<Real>> rows_;
    std::vector<ColumnMoments> moments_;
    double total_h_;
    std::atomic<double> negative_intercept_shift_ = 0;
};

// Call visit(column) for all columns on several threads, which claim chunks dynamically; return the sum of its
// results.
template <class Real, class Visit>
double sweep(const DescentState<Real>& state, std::span<const std::int32_t> order, std::size_t threads,
             const Visit& visit) {
    constexpr std::size_t kChunk = 16, kAhead = 2;
    std::atomic<std::size_t> next = 0;
    std::vector<double> sums(threads);
    parallel_for(threads, [&](std::size_t part) {
        double sum = 0;
        for (std::size_t begin; (begin = next.fetch_add(kChunk)) < order.size();) {
            const std::size_t end = std::min(begin + kChunk, order.size());
            for (std::size_t k = begin; k < end; ++k) {
                if (k + kAhead < order.size()) state.prefetch(static_cast<std::size_t>(order[k + kAhead]));
                sum += visit(static_cast<std::size_t>(order[k]));
            }
        }
        sums[part] = sum;
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

template <class Real>
ColumnDescent run_descent(const ColumnSubset& columns, std::span<const std::int32_t> active, const Penalties& penalties,
                          std::span<const double> h, std::span<const double> u, std::span<const double> q,
                          const CoordinateDescentSettings& settings, std::span<double> w) {
    DescentState<Real> state(columns, penalties, h, u, settings.has_intercept, w);
    std::vector<std::int32_t> order(active.begin(), active.end());
    sweep(state, order, settings.threads, [&](std::size_t j) {
        state.compute_moments(j, q[j]);
        return 0.0;
    });
    std::mt19937_64 random(settings.seed);
    std::size_t sweeps = 0;
    double first_gain = 0, gain = 0;
    for (; sweeps < settings.max_sweeps && (sweeps == 0 || gain > settings.gain_tolerance * first_gain); ++sweeps) {
        std::shuffle(order.begin(), order.end(), random);
        gain = sweep(state, order, settings.threads, [&](std::size_t j) { return state.update(j); });
        if (sweeps == 0) first_gain = gain;
        if (sweeps == 1)
            std::erase_if(order, [&](std::int32_t j) { return state.is_zero(static_cast<std::size_t>(j)); });
    }
    return {sweeps, state.intercept_shift()};
}

}  // namespace

ColumnSubset::ColumnSubset(const SparseRows& rows, Codes index_map, std::size_t count, std::size_t threads)
    : rows_(rows.rows()), begins_(count + 1) {
    const auto bounds = partition_rows(rows, rows.indices.size() < count ? 1 : threads);
    const std::size_t parts = bounds.size() - 1;
    // next[part][j] first counts the entries of column j in the part, then is the position of the next one.
    std::vector<std::vector<std::size_t>> next(parts, std::vector<std::size_t>(count));
    parallel_for(parts, [&](std::size_t part) {
        for_each_selected(rows, index_map, bounds[part], bounds[part + 1],
                          [&](std::size_t, std::size_t column, double) { ++next[part][column]; });
    });
    std::size_t entries = 0;
    for (std::size_t j = 0; j < count; ++j) {
        for (auto& counts : next) entries += std::exchange(counts[j], entries);
        begins_[j + 1] = entries;
    }
    entries_ = ZeroedArray<Entry>(entries);
    parallel_for(parts, [&](std::size_t part) {
        for_each_selected(
            rows, index_map, bounds[part], bounds[part + 1], [&](std::size_t i, std::size_t column, double value) {
                entries_[next[part][column]++] = {static_cast<std::int32_t>(i), static_cast<float>(value)};
            });
    });
}

ColumnDescent coordinate_descent_columns(const ColumnSubset& columns, std::span<const std::int32_t> active,
                                         const Penalties& penalties, std::span<const double> h,
                                         std::span<const double> u, std::span<const double> q,
                                         const CoordinateDescentSettings& settings, std::span<double> w) {
    const auto run = settings.double_precision ? run_descent<double> : run_descent<float>;
    return run(columns, active, penalties, h, u, q, settings, w);
}

}  // namespace weigh
