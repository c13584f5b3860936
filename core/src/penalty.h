// The exponent of the normal density, for distances of any size.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace weigh {

inline constexpr double kMaxSquared = 1e150;  // squares of larger distances may overflow

// ½ z², extrapolated logarithmically beyond kMaxSquared: the penalty must stay finite, or all classes would become
// impossible, and strictly increasing, so that the nearest class wins.
inline double penalty(double z) {
    const double distance = std::min(std::abs(z), std::numeric_limits<double>::max());
    if (distance <= kMaxSquared) return 0.5 * distance * distance;
    return 0.5 * kMaxSquared * kMaxSquared * (1.0 + std::log(distance / kMaxSquared));
}

}  // namespace weigh
