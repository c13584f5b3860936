// Coordinate descent for penalised least squares, on a Gram matrix or on sparse columns.
//
// The penalty is Σ l1ⱼ |wⱼ| + ½ Σ l2ⱼ wⱼ² throughout. Each step minimises the objective along one weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "weigh/views.h"
#include "weigh/zeroed_array.h"

namespace weigh {

struct Penalties {
    std::span<const double> l1, l2;
};

// The minimiser of ½ (u − w)² + l1 |w|.
inline double soft_threshold(double u, double l1) { return u > l1 ? u - l1 : u < -l1 ? u + l1 : 0.0; }

// Squared loss given by its moments: ½ yy − cᵀw + ½ wᵀGw, with G symmetric.
struct GramLoss {
    std::span<const double> gram, cross;
    double yy = 0;
};

struct GramDescent {
    std::size_t sweeps = 0;
    double gap = 0;  // duality gap: an upper bound on the suboptimality
};

// The duality gap at w, with the residual scaled to a feasible dual point. `q` is c − Gw. Unpenalised features must
// have been eliminated before.
double gram_duality_gap(const GramLoss& loss, const Penalties& penalties, std::span<const double> w,
                        std::span<const double> q);

// Sweep over all features until the gap is at most `max_gap`. Updates w and q = c − Gw together.
GramDescent coordinate_descent_gram(const GramLoss& loss, const Penalties& penalties, double max_gap,
                                    std::size_t max_sweeps, std::span<double> w, std::span<double> q);

// Selected columns of a sparse matrix in single precision, which halves the memory. That is accurate enough: descent
// on the columns only proposes a step, and the caller evaluates the objective on the rows.
class ColumnSubset {
public:
    struct Entry {
        std::int32_t row;
        float value;
    };

    // index_map[feature] is the index of its column here, below `count`, or negative.
    ColumnSubset(const SparseRows& rows, Codes index_map, std::size_t count, std::size_t threads);

    std::size_t size() const { return begins_.size() - 1; }
    std::size_t rows() const { return rows_; }
    std::span<const Entry> operator[](std::size_t j) const {
        return {entries_.data() + begins_[j], begins_[j + 1] - begins_[j]};
    }

private:
    std::size_t rows_;
    std::vector<std::size_t> begins_;
    ZeroedArray<Entry> entries_;
};

struct CoordinateDescentSettings {
    bool has_intercept = true;      // whether an unpenalised intercept is optimised along with every weight
    bool double_precision = false;  // of the residuals
    double gain_tolerance = 0;      // stop when a sweep gains at most this fraction of the first sweep's gain
    std::size_t max_sweeps = 1;
    std::size_t threads = 1;
    std::uint64_t seed = 0;  // of the column order
};

struct ColumnDescent {
    std::size_t sweeps = 0;
    double intercept_shift = 0;
};

// Minimise ½ Σ hᵢ (vᵢ − xᵢ·w − b)² + penalties over the active columns, in a new random order every sweep.
//
// The targets v are given by the weighted residuals u = h (v − X w − b), which sum to zero if there is an intercept,
// and by q = Xᵀu. Penalties, q and w have one value per column. Columns whose weight is zero after two sweeps are
// dropped. With several threads the updates are asynchronous, so that the path to the minimum is not deterministic.
ColumnDescent coordinate_descent_columns(const ColumnSubset& columns, std::span<const std::int32_t> active,
                                         const Penalties& penalties, std::span<const double> h,
                                         std::span<const double> u, std::span<const double> q,
                                         const CoordinateDescentSettings& settings, std::span<double> w);

}  // namespace weigh
