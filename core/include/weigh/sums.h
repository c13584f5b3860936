// Sums of doubles without rounding, so that no order of the rows can change them.
//
// A sum is a row of 64-bit limbs: its value is Σ limb[k] · 2^(32 (k + base)). A double is a 53-bit
// integer times a power of two, so adding one touches three limbs at most; a square or a product
// with a weight is a wider integer and touches a few more. While numbers are added, limbs keep 31
// spare bits and are not carried: 2^28 additions are safe.
#pragma once

#include <vector>

#include "weigh/views.h"

namespace weigh {

// One exact sum per class, carried: every limb but the last lies in [0, 2^32), the last carries
// the sign, and limbs at either end that no class needs are left out, so equal sums are equal.
struct ExactSums {
    std::vector<std::int64_t> digits;  // one row of limbs per class
    std::size_t length = 0;            // limbs per class
    int base = 0;                      // power of 2^32 of the first limb
};

struct ClassSums {
    std::vector<double> known;  // Σ w
    ExactSums first, second;    // Σ w x, Σ w x²
};

// Sums over the rows of each class. Rows of a negative class, and values that are missing (NaN) or
// infinite, are passed over; an empty weights span means one each, and weights must be finite.
ClassSums class_sums(Codes classes, std::size_t n_classes, Strided<double> values, std::span<const double> weights);

// Bring limbs that are not carried into the form of `ExactSums`. Two spare limbs must lie on top.
ExactSums carried(std::vector<std::int64_t> digits, std::size_t length, int base);

}  // namespace weigh
