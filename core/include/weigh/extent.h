// One look at many numbers, for the checks that come before learning.
#pragma once

#include <limits>
#include <span>

namespace weigh {

// The smallest and the greatest number, infinite ones among them, and whether some are zero or NaN.
struct Extent {
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
    bool zero = false, nan = false;
};

Extent extent_of(std::span<const double> values);

}  // namespace weigh
