// One look at many numbers, for the checks that come before anything else reads them.
#pragma once

#include <cstdint>
#include <span>

namespace weigh {

struct Extent {
    double largest = 0;                                // of the magnitudes that are numbers
    bool nan = false, zero = false, negative = false;  // whether some are; −0 is zero and negative
};

Extent extent_of(std::span<const double> values);

// The largest of the indices; −1 if there are none, less if one is negative.
std::int32_t largest_of(std::span<const std::int32_t> indices);

}  // namespace weigh
