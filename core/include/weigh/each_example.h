// Examples one after the other, their memory asked for before it is their turn.
#pragma once

#include <cstdint>
#include <span>

#include "weigh/online.h"

namespace weigh {

inline void prefetch(const Example& example) {
    for (std::uint32_t j = 0; j < example.size; j += 16) __builtin_prefetch(example.indices + j);
    if (example.values == nullptr) return;
    for (std::uint32_t j = 0; j < example.size; j += 8) __builtin_prefetch(example.values + j);
}

// The feature that comes some entries after entry j, be it in the next example; if there is none, that of j.
inline std::int32_t soon(const Example& example, const Example& next, std::uint32_t j) {
    constexpr std::uint32_t kEntries = 16;
    const std::uint32_t at = j + kEntries;
    if (at < example.size) return example.indices[at];
    return at - example.size < next.size ? next.indices[at - example.size] : example.indices[j];
}

// Do something with each example, the next one and its number in the given order; an empty order is that of the
// examples.
template <class Learn>
void each_example(std::span<const Example> examples, std::span<const std::int64_t> order, Learn&& learn) {
    constexpr std::size_t kAhead = 4;
    const auto at = [&](std::size_t k) -> const Example& {
        return examples[order.empty() ? k : static_cast<std::size_t>(order[k])];
    };
    for (std::size_t k = 0; k < examples.size(); ++k) {
        if (!order.empty()) {
            if (k + 2 * kAhead < examples.size()) __builtin_prefetch(&at(k + 2 * kAhead));
            if (k + kAhead < examples.size()) prefetch(at(k + kAhead));
        }
        learn(at(k), at(k + 1 < examples.size() ? k + 1 : k), k);
    }
}

}  // namespace weigh
