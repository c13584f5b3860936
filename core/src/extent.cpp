#include "weigh/extent.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace weigh {
namespace {

// Lanes that are worked on side by side. Loops over single numbers would be left as they are: compilers
// must keep the order of comparisons, for one might be no number.
template <class Item, std::size_t kLanes>
struct Lanes {
    typedef Item Vector __attribute__((vector_size(kLanes * sizeof(Item))));

    static Vector load(const Item* from) {
        Vector lanes;
        std::memcpy(&lanes, from, sizeof lanes);
        return lanes;
    }
};

constexpr std::size_t kAtOnce = 4;  // vectors, so that none waits for the one before

}  // namespace

Extent extent_of(std::span<const double> values) {
    using Doubles = Lanes<double, 2>;
    using Bits = Lanes<std::int64_t, 2>::Vector;
    constexpr std::size_t kStep = 2 * kAtOnce;
    Doubles::Vector largest[kAtOnce] = {};
    Bits nans[kAtOnce] = {}, zeros[kAtOnce] = {}, signs[kAtOnce] = {};
    const Bits magnitude = Bits{} + INT64_MAX;
    const std::size_t whole = values.size() / kStep * kStep;
    for (std::size_t k = 0; k < whole; k += kStep) {
        for (std::size_t v = 0; v < kAtOnce; ++v) {
            const auto lanes = Doubles::load(values.data() + k + 2 * v);
            const auto bits = reinterpret_cast<Bits>(lanes);
            const auto size = reinterpret_cast<Doubles::Vector>(bits & magnitude);
            largest[v] = size > largest[v] ? size : largest[v];
            nans[v] |= lanes != lanes;
            zeros[v] |= lanes == 0.0;
            signs[v] |= bits;
        }
    }
    Extent all;
    for (std::size_t v = 0; v < kAtOnce; ++v)
        for (int lane = 0; lane < 2; ++lane) {
            all.largest = std::max(all.largest, largest[v][lane]);
            all.nan |= nans[v][lane] != 0;
            all.zero |= zeros[v][lane] != 0;
            all.negative |= signs[v][lane] < 0;
        }
    for (const double value : values.subspan(whole)) {
        all.nan |= std::isnan(value);
        all.zero |= value == 0.0;
        all.negative |= std::signbit(value);
        if (!std::isnan(value)) all.largest = std::max(all.largest, std::abs(value));
    }
    return all;
}

std::int32_t largest_of(std::span<const std::int32_t> indices) {
    using Ints = Lanes<std::int32_t, 4>;
    constexpr std::size_t kStep = 4 * kAtOnce;
    Ints::Vector largest[kAtOnce], signs[kAtOnce] = {};
    for (auto& each : largest) each = Ints::Vector{} - 1;
    const std::size_t whole = indices.size() / kStep * kStep;
    for (std::size_t k = 0; k < whole; k += kStep) {
        for (std::size_t v = 0; v < kAtOnce; ++v) {
            const auto lanes = Ints::load(indices.data() + k + 4 * v);
            largest[v] = lanes > largest[v] ? lanes : largest[v];
            signs[v] |= lanes;
        }
    }
    std::int32_t found = -1, sign = 0;
    for (std::size_t v = 0; v < kAtOnce; ++v)
        for (int lane = 0; lane < 4; ++lane) {
            found = std::max(found, largest[v][lane]);
            sign |= signs[v][lane];
        }
    for (const std::int32_t index : indices.subspan(whole)) {
        found = std::max(found, index);
        sign |= index;
    }
    return sign < 0 ? -2 : found;
}

}  // namespace weigh
