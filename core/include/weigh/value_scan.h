// Vectorised scans of arrays for input validation.
#pragma once

#include <cstdint>
#include <span>

namespace weigh {

struct ValueScan {
    double max_magnitude = 0;                                      // ignoring NaN
    bool has_nan = false, has_zero = false, has_negative = false;  // −0 counts as zero and as negative
};

ValueScan scan_values(std::span<const double> values);

// The largest index; −1 if there are none, −2 if one is negative.
std::int32_t max_index(std::span<const std::int32_t> indices);

}  // namespace weigh
