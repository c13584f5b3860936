// Compares shapes of a number's distribution by how well the number predicts the class of each row without that row.
//
// The loss is −Σ log P(class | number) over the rows. It compares densities of one number in several classes, so that
// the width of a cell of the grid cancels: point masses and densities need no common scale.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weigh/views.h"

namespace weigh {

enum class NumberShape : std::int32_t { normal, log_normal, zero_inflated, histogram };

struct ShapeCandidate {
    NumberShape shape;
    bool is_log;            // the normal densities are of the logarithm
    bool has_shared_spread;
    std::int32_t bins;      // of a histogram: the number asked of equal_mass_bins
    std::int32_t strength;  // of the prior of a histogram, in rows
    double loss;
};

struct ShapeSettings {
    bool has_own_spread, has_shared_spread;  // which normal densities are candidates
    bool is_zero_inflated;                   // stated: a candidate even without zeros
    bool has_nonpositive, has_negative;      // numbers; beside a huge number, a small one may have the centre zero
    double floor;                            // smallest standard deviation, relative to that of the column
    double zero_strength;                    // of the prior of the share of zeros, in rows
    double min_log_deviation;                // the grid is too coarse for the logarithms of closer numbers
    std::size_t max_groups;                  // cells are grouped before the normal densities are compared
    std::span<const std::int32_t> bin_numbers;
    std::span<const std::int32_t> strengths;
};

// The losses of all candidates, from simple to complex. `centres` are the middles of the cells, which ascend, divided by
// the largest magnitude; `counts` is class-major. There must be at least one row.
std::vector<ShapeCandidate> compare_shapes(std::span<const double> centres, std::span<const double> counts,
                                           std::size_t n_classes, const ShapeSettings& settings);

// The bin of each cell, so that about `n_bins` bins have about equal totals. A cell that would fill a bin has its own,
// such as that of the zeros of a column that is mostly zero.
std::vector<std::int64_t> equal_mass_bins(std::span<const double> totals, std::size_t n_bins);

}  // namespace weigh
