#include "weigh/term_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace weigh {
namespace {

constexpr double kMaxExactInteger = 9007199254740992.0;
constexpr double kMaxFixedPoint = 4611686018427387904.0;  // 2^62

double log_count(double count) { return count > 1 ? 1 + natural_log(count) : count; }

// Most counts are small whole numbers.
double cached_log_count(double count) {
    constexpr std::size_t kSize = 64;
    static const auto table = [] {
        std::array<double, kSize> logs{};
        for (std::size_t n = 0; n < kSize; ++n) logs[n] = log_count(static_cast<double>(n));
        return logs;
    }();
    if (count >= 0 && count < static_cast<double>(kSize)) {
        const auto at = static_cast<std::size_t>(count);
        if (static_cast<double>(at) == count) return table[at];
    }
    return log_count(count);
}

}  // namespace

double natural_log(double x) {
    int exponent = 0;
    double m = std::frexp(x, &exponent);  // 0.5 ≤ m < 1
    if (m < std::numbers::sqrt2 / 2) {
        m *= 2;
        --exponent;
    }
    // ln m = 2 artanh(s), with |s| < 0.172; the last term is below 2⁻⁵⁶ of the sum.
    const double s = (m - 1) / (m + 1), square = s * s;
    double series = 0;
    for (int n = 25; n >= 3; n -= 2) series = (series + 1.0 / n) * square;
    // ln 2 in two parts, of which the first has few bits, so that its product with the exponent is exact.
    constexpr double kHigh = 0.693147180369123816490, kLow = 1.90821492927058770002e-10;
    return exponent * kHigh + (2 * s + (2 * s * series + exponent * kLow));
}

void TermWeigher::weigh(std::span<double> values, std::span<const std::int32_t> indices, std::span<const double> idf) {
    if (weighting_.takes_logs)
        for (double& value : values) value = cached_log_count(value);
    if (!idf.empty())
        for (std::size_t i = 0; i < values.size(); ++i) values[i] *= idf[static_cast<std::size_t>(indices[i])];
    if (weighting_.norm == Norm::none) return;
    if (const double total = length(values); total > 0)
        for (double& value : values) value /= total;
}

double TermWeigher::length(std::span<const double> values) {
    const bool is_square = weighting_.norm == Norm::l2;
    const auto sum = [&](std::span<const double> terms) {
        double total = 0;
        for (const double term : terms) total += is_square ? term * term : term;
        return total;
    };
    double total = sum(values);
    const bool is_exact = total < kMaxExactInteger &&
                          std::all_of(values.begin(), values.end(), [](double v) { return v == std::floor(v); });
    if (!is_exact) {
        // The rounded sum must not depend on the numbering of the words, so add in ascending order.
        sorted_.assign(values.begin(), values.end());
        std::sort(sorted_.begin(), sorted_.end());
        total = sum(sorted_);
    }
    return is_square ? std::sqrt(total) : total;
}

void weigh_rows(std::span<const std::int64_t> indptr, std::span<const std::int32_t> indices, std::span<double> values,
                std::span<const double> idf, TermWeighting weighting) {
    TermWeigher weigher(weighting);
    for (std::size_t row = 0; row + 1 < indptr.size(); ++row) {
        const auto first = static_cast<std::size_t>(indptr[row]);
        const std::size_t size = static_cast<std::size_t>(indptr[row + 1]) - first;
        weigher.weigh(values.subspan(first, size), indices.subspan(first, size), idf);
    }
}

std::int64_t to_fixed_point(double value) {
    const double scaled = value * kFixedPointScale;
    if (!(std::abs(scaled) < kMaxFixedPoint)) throw std::overflow_error("a value is too large for fixed point");
    return std::llrint(scaled);
}

}  // namespace weigh
