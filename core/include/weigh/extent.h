// One look at many numbers, for the checks that come before learning.
#pragma once

#include <cstdint>
#include <span>

namespace weigh {

struct Extent {
    // The first half of the greatest magnitude's bits: with the second half all ones it is a bound from
    // above, infinite or no number at all if some value is.
    std::uint32_t high = 0;
    bool zero = false, negative = false;  // whether some are; of zeros the negative one counts as both

    double bound() const;
};

Extent extent_of(std::span<const double> values);

}  // namespace weigh
