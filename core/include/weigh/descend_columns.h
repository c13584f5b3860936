// Coordinate descent on the columns of sparse rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weigh/descend.h"
#include "weigh/views.h"
#include "weigh/zeroed.h"

namespace weigh {

// Some columns of a matrix, in half the memory of the rows: what is sought with them is the minimum of a model
// of the objective, which is measured by the rows themselves.
class Columns {
public:
    struct Entry {
        std::int32_t row;
        float value;
    };

    // places[feature] is the number of its column here, below `count`, or negative.
    Columns(const SparseRows& rows, Codes places, std::size_t count, std::size_t threads);

    std::size_t size() const { return begins_.size() - 1; }
    std::size_t rows() const { return rows_; }
    std::span<const Entry> operator[](std::size_t j) const {
        return {entries_.data() + begins_[j], begins_[j + 1] - begins_[j]};
    }

private:
    std::size_t rows_;
    std::vector<std::size_t> begins_;
    Zeroed<Entry> entries_;
};

struct ColumnSettings {
    bool bias = true;      // whether a constant that is not penalised follows every change
    bool fine = false;     // whether the rows' pulls are kept with all digits
    double share = 0;      // stop when a sweep gains no more than this share of what the first one gained,
    std::size_t most = 1;  // or after so many sweeps
    std::size_t threads = 1;
    std::uint64_t seed = 0;  // of the order of the columns
};

struct ColumnDescent {
    std::size_t sweeps = 0;
    double shift = 0;  // what is to be added to the constant
};

// Sweep over some columns, in a new order each time, to lower ½ Σ hᵢ (vᵢ − xᵢ·w − b)² + penalties, where v is
// known only by its pull u = h (v − X w − b), which sums to zero if there is a constant, and by q = Xᵀu.
// Penalties, q and w have one number for every column. Columns that the first two sweeps
// leave at zero are not looked at again. With several threads the path to the minimum is another each time, as
// each sees what the others have done so far.
ColumnDescent descend_columns(const Columns& columns, std::span<const std::int32_t> which, const Penalties& penalties,
                              std::span<const double> h, std::span<const double> u, std::span<const double> q,
                              const ColumnSettings& settings, std::span<double> w);

}  // namespace weigh
