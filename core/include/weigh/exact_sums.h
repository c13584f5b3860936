// Exact sums of doubles, independent of the order of summation.
//
// A sum is a row of 64-bit limbs with the value Σ limb[k] · 2^(32 (k + first_power)). A double is a 53-bit integer
// times a power of two, so that adding one touches at most three limbs; squares and products with weights are wider and
// touch a few more. Limbs have 31 spare bits, enough for 2^28 rows; carries are propagated more often than that.
#pragma once

#include <vector>

#include "weigh/views.h"

namespace weigh {

// One exact sum per class in normal form: every limb except the last is in [0, 2^32), the last one holds the sign,
// and limbs that no class needs are removed at both ends. Equal sums have equal representations.
struct ExactSums {
    std::vector<std::int64_t> limbs;  // one row of limbs per class
    std::size_t length = 0;           // limbs per class
    int first_power = 0;              // power of 2^32 of the first limb
};

struct ClassSums {
    std::vector<double> total_weights;  // Σ w
    ExactSums sum_x, sum_xx;            // Σ w x, Σ w x²
};

// Sums over the rows of each class. Rows with a negative class and values that are NaN or infinite are skipped; an
// empty `weights` span means unit weights, and weights must be finite and non-negative.
ClassSums class_sums(Codes classes, std::size_t n_classes, Strided<double> values, std::span<const double> weights);

// Propagate carries and return the normal form. The top two limbs of each row must be unused.
ExactSums propagate_carries(std::vector<std::int64_t> limbs, std::size_t length, int first_power);

}  // namespace weigh
