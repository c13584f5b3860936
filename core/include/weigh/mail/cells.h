// Numbers in cells: single precision, all arithmetic in double.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace weigh::mail {

// A cell as a number; one that is damaged says nothing.
inline double number_in(std::uint32_t cell) {
    const double number = std::bit_cast<float>(cell);
    return std::isfinite(number) ? number : 0.0;
}

inline std::uint32_t cell_of(double number) { return std::bit_cast<std::uint32_t>(static_cast<float>(number)); }

}  // namespace weigh::mail
