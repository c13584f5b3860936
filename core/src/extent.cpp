#include "weigh/extent.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace weigh {

double Extent::bound() const { return std::bit_cast<double>(std::uint64_t{high} << 32 | 0xFFFFFFFFU); }

// On the bits and in whole numbers, which compilers turn into vector instructions: comparisons of doubles
// they must keep in order, for one might be no number.
Extent extent_of(std::span<const double> values) {
    constexpr std::int32_t kMagnitude = 0x7FFFFFFF;
    std::int32_t high = 0, signs = 0, zeros = 0;
    for (const double value : values) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        const auto top = static_cast<std::int32_t>(bits >> 32), rest = static_cast<std::int32_t>(bits);
        high = std::max(high, top & kMagnitude);
        signs |= top;
        zeros |= ((top & kMagnitude) | rest) == 0 ? 1 : 0;
    }
    return {static_cast<std::uint32_t>(high), zeros != 0, signs < 0};
}

}  // namespace weigh
