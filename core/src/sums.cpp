#include "weigh/sums.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weigh {
namespace {

__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

constexpr int kFractionBits = 52;
constexpr int kExponentMask = 0x7ff;
constexpr std::int64_t kLimb = std::int64_t{1} << 32;
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
    second.add(static_cast<Wide>(static_cast<std::uint64_t>(square >> 64)) * w.significand, exponent + 64, false);
}

// Which powers of two the finite, non-zero values of a column need: every bit of every value lies
// from 2^low to below 2^high.
struct Exponents {
    int low = 0, high = 0;
};

Exponents exponents(Strided<double> values) {
    int low = kExponentMask, high = 0;
    for (std::size_t i = 0; i < values.size; ++i) {
        const auto bits = std::bit_cast<std::uint64_t>(values[i]);
        const int biased = static_cast<int>(bits >> kFractionBits) & kExponentMask;
        if (biased == kExponentMask || (bits << 1) == 0) continue;
        low = std::min(low, biased);
        high = std::max(high, biased);
    }
    if (low == kExponentMask) return {};
    return {std::max(low, 1) - kBias, std::max(high, 1) - kBias + kFractionBits + 1};
}

int floor_limb(int exponent) { return exponent >= 0 ? exponent / 32 : -((31 - exponent) / 32); }

// Limbs for sums of products whose bits lie from 2^low to below 2^high. A sum of 2^64 of them reaches
// 64 bits further, its words are added in three limbs each, and carrying wants two more.
struct Limbs {
    Limbs(std::size_t classes, int low, int high)
        : base(floor_limb(low)),
          length(static_cast<std::size_t>(floor_limb(high) - base) + 8),
          digits(classes * length) {}

    Row row(std::size_t c) { return {digits.data() + c * length, base}; }

    int base;
    std::size_t length;
    std::vector<std::int64_t> digits;
};

void add_fixed(Codes classes, Strided<double> values, std::vector<double>& known, Limbs& first, Limbs& second,
               int low) {
    std::vector<Fixed> sums(known.size());
    for (std::size_t i = 0; i < values.size; ++i) {
        if (classes[i] < 0 || !std::isfinite(values[i])) continue;
        const auto c = static_cast<std::size_t>(classes[i]);
        known[c] += 1.0;
        if (values[i] != 0.0) sums[c].add(parts(values[i]), low);
    }
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c].move_to(first.row(c), second.row(c), low);
}

void add_limbs(Codes classes, Strided<double> values, std::span<const double> weights, std::vector<double>& known,
               Limbs& first, Limbs& second) {
    for (std::size_t i = 0; i < values.size; ++i) {
        if (classes[i] < 0 || !std::isfinite(values[i])) continue;
        const auto c = static_cast<std::size_t>(classes[i]);
        known[c] += weights.empty() ? 1.0 : weights[i];
        if (weights.empty()) add_plain(parts(values[i]), first.row(c), second.row(c));
        else add_weighted(parts(values[i]), parts(weights[i]), first.row(c), second.row(c));
    }
}

// Up to where a class needs its carried limbs, at least up to `least`; above is only its sign.
std::size_t needed(const std::int64_t* row, std::size_t length, std::size_t least) {
    std::int64_t sign = row[length - 1];
    while (length > least && (sign == 0 || sign == -1)) sign = row[--length - 1] + sign * kLimb;
    return length;
}

}  // namespace

ClassSums class_sums(Codes classes, std::size_t n_classes, Strided<double> values, std::span<const double> weights) {
    const Exponents x = exponents(values);
    const Exponents w = weights.empty() ? Exponents{} : exponents({weights.data(), weights.size(), 1});
    Limbs first(n_classes, x.low + w.low, x.high + w.high);
    Limbs second(n_classes, 2 * x.low + w.low, 2 * x.high + w.high);
    ClassSums sums{std::vector<double>(n_classes), {}, {}};
    if (weights.empty() && x.high - x.low <= 64) add_fixed(classes, values, sums.known, first, second, x.low);
    else add_limbs(classes, values, weights, sums.known, first, second);
    sums.first = carried(std::move(first.digits), first.length, first.base);
    sums.second = carried(std::move(second.digits), second.length, second.base);
    return sums;
}

ExactSums carried(std::vector<std::int64_t> digits, std::size_t length, int base) {
    if (digits.empty()) return {};
    const std::size_t classes = digits.size() / length;
    std::size_t start = length;
    for (std::size_t c = 0; c < classes; ++c) {
        std::int64_t* row = digits.data() + c * length;
        for (std::size_t k = 0; k + 1 < length; ++k) {
            row[k + 1] += row[k] >> 32;
            row[k] &= kLimb - 1;
        }
        const auto first = std::find_if(row, row + length, [](auto limb) { return limb != 0; });
        start = std::min(start, static_cast<std::size_t>(first - row));
    }
    if (start == length) return {};
    // The sign may move down to the first limb that is needed and no further: zeros below are not.
    std::size_t stop = start + 1;
    for (std::size_t c = 0; c < classes; ++c)
        stop = std::max(stop, needed(digits.data() + c * length, length, start + 1));
    for (std::size_t c = 0; c < classes; ++c)
        for (std::size_t k = length; k-- > stop;) digits[c * length + k - 1] += digits[c * length + k] * kLimb;
    ExactSums sums{std::vector<std::int64_t>(classes * (stop - start)), stop - start, base + static_cast<int>(start)};
    for (std::size_t c = 0; c < classes; ++c)
        std::copy_n(digits.data() + c * length + start, stop - start, sums.digits.data() + c * (stop - start));
    return sums;
}

}  // namespace weigh
