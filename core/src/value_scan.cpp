#include "weigh/value_scan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace weigh {
namespace {

// Explicit SIMD vectors: compilers do not vectorise the scalar loops, because NaN makes the order of comparisons
// significant.
template <class Item, std::size_t kLanes>
struct Lanes {
    typedef Item Vector __attribute__((vector_size(kLanes * sizeof(Item))));

    static Vector load(const Item* from) {
        Vector lanes;
        std::memcpy(&lanes, from, sizeof lanes);
        return lanes;
    }
};

constexpr std::size_t kUnroll = 4;  // independent vectors, to hide latency

}  // namespace

ValueScan scan_values(std::span<const double> values) {
    using Doubles = Lanes<double, 2>;
    using Bits = Lanes<std::int64_t, 2>::Vector;
    constexpr std::size_t kStep = 2 * kUnroll;
    Doubles::Vector largest[kUnroll] = {};
    Bits nans[kUnroll] = {}, zeros[kUnroll] = {}, signs[kUnroll] = {};
    const Bits magnitude = Bits{} + INT64_MAX;
    const std::size_t unrolled = values.size() / kStep * kStep;
    for (std::size_t k = 0; k < unrolled; k += kStep) {
        for (std::size_t v = 0; v < kUnroll; ++v) {
            const auto lanes = Doubles::load(values.data() + k + 2 * v);
            const auto bits = reinterpret_cast<Bits>(lanes);
            const auto size = reinterpret_cast<Doubles::Vector>(bits & magnitude);
            largest[v] = size > largest[v] ? size : largest[v];
            nans[v] |= lanes != lanes;
            zeros[v] |= lanes == 0.0;
            signs[v] |= bits;
        }
    }
    ValueScan scan;
    for (std::size_t v = 0; v < kUnroll; ++v)
        for (int lane = 0; lane < 2; ++lane) {
            scan.max_magnitude = std::max(scan.max_magnitude, largest[v][lane]);
            scan.has_nan |= nans[v][lane] != 0;
            scan.has_zero |= zeros[v][lane] != 0;
            scan.has_negative |= signs[v][lane] < 0;
        }
    for (const double value : values.subspan(unrolled)) {
        scan.has_nan |= std::isnan(value);
        scan.has_zero |= value == 0.0;
        scan.has_negative |= std::signbit(value);
        if (!std::isnan(value)) scan.max_magnitude = std::max(scan.max_magnitude, std::abs(value));
    }
    return scan;
}

std::int32_t max_index(std::span<const std::int32_t> indices) {
    using Ints = Lanes<std::int32_t, 4>;
    constexpr std::size_t kStep = 4 * kUnroll;
    Ints::Vector largest[kUnroll], signs[kUnroll] = {};
    for (auto& each : largest) each = Ints::Vector{} - 1;
    const std::size_t unrolled = indices.size() / kStep * kStep;
    for (std::size_t k = 0; k < unrolled; k += kStep) {
        for (std::size_t v = 0; v < kUnroll; ++v) {
            const auto lanes = Ints::load(indices.data() + k + 4 * v);
            largest[v] = lanes > largest[v] ? lanes : largest[v];
            signs[v] |= lanes;
        }
    }
    std::int32_t largest_index = -1, sign = 0;
    for (std::size_t v = 0; v < kUnroll; ++v)
        for (int lane = 0; lane < 4; ++lane) {
            largest_index = std::max(largest_index, largest[v][lane]);
            sign |= signs[v][lane];
        }
    for (const std::int32_t index : indices.subspan(unrolled)) {
        largest_index = std::max(largest_index, index);
        sign |= index;
    }
    return sign < 0 ? -2 : largest_index;
}

}  // namespace weigh
