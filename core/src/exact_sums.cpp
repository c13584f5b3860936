#include "weigh/exact_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weigh {
namespace {

__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

constexpr int kFractionBits = 52;
constexpr int kExponentMask = 0x7ff;
constexpr std::int64_t kLimbRadix = std::int64_t{1} << 32;
constexpr std::size_t kRowsBetweenCarries = std::size_t{1} << 20;  // limbs have room for 2^28 rows
constexpr int kFixedPointBits = 64;  // squares fit into 128 bits
constexpr int kExponentBias = 1075;  // value = significand · 2^(biased exponent − 1075)

// value = ± significand · 2^exponent, exactly.
struct FloatParts {
    std::uint64_t significand;
    int exponent;
    bool negative;
};

FloatParts decompose(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int biased = static_cast<int>(bits >> kFractionBits) & kExponentMask;
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << kFractionBits) - 1);
    // Subnormal numbers have no implicit bit and share the exponent of the smallest normal ones.
    const std::uint64_t significand = biased ? fraction | (std::uint64_t{1} << kFractionBits) : fraction;
    return {significand, std::max(biased, 1) - kExponentBias, (bits >> 63) != 0};
}

// The limbs of one class.
struct LimbRow {
    std::int64_t* limbs;
    int first_power;  // power of 2^32 of limbs[0]

    void add(std::uint64_t word, int exponent, bool negative) const {
        if (word == 0) return;
        const int offset = exponent - 32 * first_power;
        std::int64_t* at = limbs + offset / 32;
        const Wide shifted = static_cast<Wide>(word) << (offset % 32);
        const auto low = static_cast<std::int64_t>(static_cast<std::uint32_t>(shifted));
        const auto middle = static_cast<std::int64_t>(static_cast<std::uint32_t>(shifted >> 32));
        const auto high = static_cast<std::int64_t>(static_cast<std::uint32_t>(shifted >> 64));
        if (negative) {
            at[0] -= low, at[1] -= middle, at[2] -= high;
        } else {
            at[0] += low, at[1] += middle, at[2] += high;
        }
    }

    void add(Wide product, int exponent, bool negative) const {
        add(static_cast<std::uint64_t>(product), exponent, negative);
        add(static_cast<std::uint64_t>(product >> 64), exponent + 64, negative);
    }
};

// Fixed-point sums of one class, for values that are integers times 2^low. The integers fit into 64 bits and their
// squares into 128, so that limbs are needed only at the end.
struct FixedPointSums {
    SignedWide sum_x = 0;
    Wide sum_xx = 0;
    std::int64_t carries = 0;  // of sum_xx, beyond 128 bits

    void add(const FloatParts& x, int low) {
        const std::uint64_t integer = x.significand << (x.exponent - low);
        const auto wide = static_cast<SignedWide>(integer);
        sum_x += x.negative ? -wide : wide;
        const Wide square = static_cast<Wide>(integer) * integer;
        sum_xx += square;
        carries += sum_xx < square;
    }

    void add_to(LimbRow limbs_x, LimbRow limbs_xx, int low) const {
        limbs_x.add(sum_x < 0 ? -static_cast<Wide>(sum_x) : static_cast<Wide>(sum_x), low, sum_x < 0);
        limbs_xx.add(sum_xx, 2 * low, false);
        limbs_xx.add(static_cast<std::uint64_t>(carries), 2 * low + 128, false);
    }
};

void add_unweighted(const FloatParts& x, LimbRow sum_x, LimbRow sum_xx) {
    sum_x.add(x.significand, x.exponent, x.negative);
    sum_xx.add(static_cast<Wide>(x.significand) * x.significand, 2 * x.exponent, false);
}

void add_weighted(const FloatParts& x, const FloatParts& w, LimbRow sum_x, LimbRow sum_xx) {
    sum_x.add(static_cast<Wide>(x.significand) * w.significand, x.exponent + w.exponent, x.negative);
    const Wide square = static_cast<Wide>(x.significand) * x.significand;
    const int exponent = 2 * x.exponent + w.exponent;
    sum_xx.add(static_cast<Wide>(static_cast<std::uint64_t>(square)) * w.significand, exponent, false);
    sum_xx.add(static_cast<Wide>(static_cast<std::uint64_t>(square >> 64)) * w.significand, exponent + 64, false);
}

// Bit range of the finite, non-zero values of a column: from 2^low to below 2^high.
struct ExponentRange {
    int low = 0, high = 0;
};

ExponentRange exponent_range(Strided<double> values) {
    int low = kExponentMask, high = 0;
    for (std::size_t i = 0; i < values.size; ++i) {
        const auto bits = std::bit_cast<std::uint64_t>(values[i]);
        const int biased = static_cast<int>(bits >> kFractionBits) & kExponentMask;
        if (biased == kExponentMask || (bits << 1) == 0) continue;
        low = std::min(low, biased);
        high = std::max(high, biased);
    }
    if (low == kExponentMask) return {};
    return {std::max(low, 1) - kExponentBias, std::max(high, 1) - kExponentBias + kFractionBits + 1};
}

// Move what exceeds 32 bits to the next limb; the last limb keeps it, with the sign.
void carry_limbs(std::span<std::int64_t> limbs) {
    for (std::size_t k = 0; k + 1 < limbs.size(); ++k) {
        limbs[k + 1] += limbs[k] >> 32;
        limbs[k] &= kLimbRadix - 1;
    }
}

int floor_limb(int exponent) { return exponent >= 0 ? exponent / 32 : -((31 - exponent) / 32); }

// Limbs for sums of products with bits from 2^low to below 2^high. 64 spare bits cover the growth of any such sum, each
// word touches three limbs, and propagating carries needs two more.
struct LimbTable {
    LimbTable(std::size_t classes, int low, int high)
        : first_power(floor_limb(low)),
          length(static_cast<std::size_t>(floor_limb(high) - first_power) + 8),
          limbs(classes * length) {}

    LimbRow row(std::size_t c) { return {limbs.data() + c * length, first_power}; }

    void carry() {
        for (auto row = limbs.begin(); row != limbs.end(); row += static_cast<std::ptrdiff_t>(length))
            carry_limbs({row, row + static_cast<std::ptrdiff_t>(length)});
    }

    int first_power;
    std::size_t length;
    std::vector<std::int64_t> limbs;
};

// Multiples of 2^low are added in fixed point, other values to the limbs: they are few unless the values differ widely.
void add_fixed(Codes classes, Strided<double> values, std::vector<double>& total_weights, LimbTable& sum_x,
               LimbTable& sum_xx, int low) {
    std::vector<FixedPointSums> sums(total_weights.size());
    for (std::size_t i = 0; i < values.size; ++i) {
        if (i % kRowsBetweenCarries == kRowsBetweenCarries - 1) sum_x.carry(), sum_xx.carry();
        if (classes[i] < 0 || !std::isfinite(values[i])) continue;
        const auto c = static_cast<std::size_t>(classes[i]);
        total_weights[c] += 1.0;
        if (values[i] == 0.0) continue;
        const FloatParts x = decompose(values[i]);
        if (x.exponent >= low) sums[c].add(x, low);
        else add_unweighted(x, sum_x.row(c), sum_xx.row(c));
    }
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c].add_to(sum_x.row(c), sum_xx.row(c), low);
}

void add_weighted_rows(Codes classes, Strided<double> values, std::span<const double> weights,
                       std::vector<double>& total_weights, LimbTable& sum_x, LimbTable& sum_xx) {
    for (std::size_t i = 0; i < values.size; ++i) {
        if (i % kRowsBetweenCarries == kRowsBetweenCarries - 1) sum_x.carry(), sum_xx.carry();
        if (classes[i] < 0 || !std::isfinite(values[i])) continue;
        const auto c = static_cast<std::size_t>(classes[i]);
        total_weights[c] += weights[i];
        add_weighted(decompose(values[i]), decompose(weights[i]), sum_x.row(c), sum_xx.row(c));
    }
}

// The number of limbs that a class needs, at least `min_length`; higher limbs only repeat the sign (0 or −1).
std::size_t needed_length(const std::int64_t* row, std::size_t length, std::size_t min_length) {
    std::int64_t sign = row[length - 1];
    while (length > min_length && (sign == 0 || sign == -1)) sign = row[--length - 1] + sign * kLimbRadix;
    return length;
}

}  // namespace

ClassSums class_sums(Codes classes, std::size_t n_classes, Strided<double> values, std::span<const double> weights) {
    const ExponentRange x = exponent_range(values);
    const ExponentRange w = weights.empty() ? ExponentRange{} : exponent_range({weights.data(), weights.size(), 1});
    LimbTable sum_x(n_classes, x.low + w.low, x.high + w.high);
    LimbTable sum_xx(n_classes, 2 * x.low + w.low, 2 * x.high + w.high);
    ClassSums sums{std::vector<double>(n_classes), {}, {}};
    const int low = std::max(x.low, x.high - kFixedPointBits);
    if (weights.empty()) add_fixed(classes, values, sums.total_weights, sum_x, sum_xx, low);
    else add_weighted_rows(classes, values, weights, sums.total_weights, sum_x, sum_xx);
    sums.sum_x = propagate_carries(std::move(sum_x.limbs), sum_x.length, sum_x.first_power);
    sums.sum_xx = propagate_carries(std::move(sum_xx.limbs), sum_xx.length, sum_xx.first_power);
    return sums;
}

ExactSums propagate_carries(std::vector<std::int64_t> limbs, std::size_t length, int first_power) {
    if (limbs.empty()) return {};
    const std::size_t classes = limbs.size() / length;
    std::size_t start = length;
    for (std::size_t c = 0; c < classes; ++c) {
        std::int64_t* row = limbs.data() + c * length;
        carry_limbs({row, length});
        const auto lowest_nonzero = std::find_if(row, row + length, [](auto limb) { return limb != 0; });
        start = std::min(start, static_cast<std::size_t>(lowest_nonzero - row));
    }
    if (start == length) return {};
    // Fold the sign limbs into the highest limb that some class needs, and always keep the limb at `start`.
    std::size_t stop = start + 1;
    for (std::size_t c = 0; c < classes; ++c)
        stop = std::max(stop, needed_length(limbs.data() + c * length, length, start + 1));
    for (std::size_t c = 0; c < classes; ++c)
        for (std::size_t k = length; k-- > stop;) limbs[c * length + k - 1] += limbs[c * length + k] * kLimbRadix;
    ExactSums sums{std::vector<std::int64_t>(classes * (stop - start)), stop - start,
                   first_power + static_cast<int>(start)};
    for (std::size_t c = 0; c < classes; ++c)
        std::copy_n(limbs.data() + c * length + start, stop - start, sums.limbs.data() + c * (stop - start));
    return sums;
}

}  // namespace weigh
