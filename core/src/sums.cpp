#include "weigh/sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace weigh {
namespace {

__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

constexpr int kFractionBits = 52;
constexpr int kExponentMask = 0x7ff;
constexpr int kBias = 1075;  // value = significand · 2^(biased exponent − 1075)

// value = ± significand · 2^exponent, exactly.
struct Parts {
    std::uint64_t significand;
    int exponent;
    bool negative;
};

Parts parts(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int biased = static_cast<int>(bits >> kFractionBits) & kExponentMask;
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << kFractionBits) - 1);
    // Subnormal numbers have no hidden bit and share the exponent of the smallest normal ones.
    const std::uint64_t significand = biased ? fraction | (std::uint64_t{1} << kFractionBits) : fraction;
    return {significand, std::max(biased, 1) - kBias, (bits >> 63) != 0};
}

// One class's sum.
struct Row {
    std::int64_t* digits;
    int base;

    void add(std::uint64_t word, int exponent, bool negative) const {
        if (word == 0) return;
        const int offset = exponent - 32 * base;
        std::int64_t* at = digits + offset / 32;
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

// A class's sums while its values share one unit: value = integer · 2^low. No limbs are needed
// until the end, because the integers fit in 64 bits and their squares in 128.
struct Fixed {
    SignedWide first = 0;
    Wide second = 0;
    std::int64_t carries = 0;

    void add(const Parts& x, int low) {
        const std::uint64_t integer = x.significand << (x.exponent - low);
        const auto wide = static_cast<SignedWide>(integer);
        first += x.negative ? -wide : wide;
        const Wide square = static_cast<Wide>(integer) * integer;
        second += square;
        carries += second < square;
    }

    void move_to(Row one, Row two, int low) const {
        one.add(first < 0 ? -static_cast<Wide>(first) : static_cast<Wide>(first), low, first < 0);
        two.add(second, 2 * low, false);
        two.add(static_cast<std::uint64_t>(carries), 2 * low + 128, false);
    }
};

void add_plain(const Parts& x, Row first, Row second) {
    first.add(x.significand, x.exponent, x.negative);
    second.add(static_cast<Wide>(x.significand) * x.significand, 2 * x.exponent, false);
}

void add_weighted(const Parts& x, const Parts& w, Row first, Row second) {
    first.add(static_cast<Wide>(x.significand) * w.significand, x.exponent + w.exponent, x.negative);
    const Wide square = static_cast<Wide>(x.significand) * x.significand;
    const int exponent = 2 * x.exponent + w.exponent;
    second.add(static_cast<Wide>(static_cast<std::uint64_t>(square)) * w.significand, exponent, false);
    second.add(static_cast<Wide>(static_cast<std::uint64_t>(square >> 64)) * w.significand,
               exponent + 64, false);
}

}  // namespace

Exponents exponents(Strided<double> values) {
    Exponents result;
    int low = kExponentMask, high = 0;
    for (std::size_t i = 0; i < values.size; ++i) {
        const auto bits = std::bit_cast<std::uint64_t>(values[i]);
        const int biased = static_cast<int>(bits >> kFractionBits) & kExponentMask;
        if (biased == kExponentMask) {
            result.infinite |= !std::isnan(values[i]);
        } else if ((bits << 1) != 0) {
            low = std::min(low, biased);
            high = std::max(high, biased);
            result.any = true;
        }
    }
    if (result.any) {
        result.low = std::max(low, 1) - kBias;
        result.high = std::max(high, 1) - kBias + kFractionBits + 1;
    }
    return result;
}

static void add_fixed(Codes classes, Strided<double> values, std::span<double> known, Limbs first, Limbs second,
               int low) {
    std::vector<Fixed> sums(known.size());
    for (std::size_t i = 0; i < values.size; ++i) {
        if (classes[i] < 0 || std::isnan(values[i])) continue;
        const auto c = static_cast<std::size_t>(classes[i]);
        known[c] += 1.0;
        if (values[i] != 0.0) sums[c].add(parts(values[i]), low);
    }
    for (std::size_t c = 0; c < sums.size(); ++c)
        sums[c].move_to({first.digits.data() + c * first.length, first.base},
                        {second.digits.data() + c * second.length, second.base}, low);
}

void add_sums(Codes classes, Strided<double> values, std::span<const double> weights,
              std::span<double> known, Limbs first, Limbs second) {
    const Exponents range = exponents(values);
    if (weights.empty() && range.high - range.low <= 64) {
        add_fixed(classes, values, known, first, second, range.low);
        return;
    }
    for (std::size_t i = 0; i < values.size; ++i) {
        if (classes[i] < 0 || std::isnan(values[i])) continue;
        const auto c = static_cast<std::size_t>(classes[i]);
        known[c] += weights.empty() ? 1.0 : weights[i];
        const Row one{first.digits.data() + c * first.length, first.base};
        const Row two{second.digits.data() + c * second.length, second.base};
        if (weights.empty())
            add_plain(parts(values[i]), one, two);
        else
            add_weighted(parts(values[i]), parts(weights[i]), one, two);
    }
}

}  // namespace weigh
