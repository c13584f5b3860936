// Sums of doubles without rounding, so that no order of the rows can change them.
//
// A sum is a row of 64-bit limbs: its value is Σ limb[k] · 2^(32 (k + base)). A double is a 53-bit
// integer times a power of two, so adding one touches three limbs at most; a square or a product
// with a weight is a wider integer and touches a few more. Limbs keep 31 spare bits and are not
// carried here: after at most 2^28 additions the caller must carry them.
// NaN means "missing" and is passed over; infinities are the caller's to refuse.
#pragma once

#include "weigh/views.h"

namespace weigh {

// Which powers of two the finite, non-zero values of a column need.
struct Exponents {
    int low = 0;   // the lowest bit of any value is at least 2^low
    int high = 0;  // every value is below 2^high
    bool any = false;
    bool infinite = false;
};

Exponents exponents(Strided<double> values);

// One row of limbs per class.
struct Limbs {
    std::span<std::int64_t> digits;
    std::size_t length = 0;  // limbs per class
    int base = 0;            // power of 2^32 of the first limb
};

// known[class] += w, first[class] += w x, second[class] += w x²; an empty weights span means one
// each. The limbs must reach from the lowest to the highest power the products need.
void add_sums(Codes classes, Strided<double> values, std::span<const double> weights,
              std::span<double> known, Limbs first, Limbs second);

}  // namespace weigh
