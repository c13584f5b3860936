// Labelled sparse examples, and iteration over them with prefetching.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weigh/views.h"

namespace weigh {

// One labelled sparse row. A null `values` means that every value is one.
struct Example {
    const std::int32_t* indices = nullptr;
    const double* values = nullptr;
    std::uint32_t size = 0;
    std::int32_t label = 0;
    double weight = 1;
};

// Append one example per row. The rows must outlive the examples; an empty `weights` span means unit weights.
inline void append(std::vector<Example>& examples, const SparseRows& rows, Codes labels,
                   std::span<const double> weights) {
    examples.reserve(examples.size() + rows.rows());
    for (std::size_t i = 0; i < rows.rows(); ++i) {
        const auto begin = static_cast<std::size_t>(rows.indptr[i]), end = static_cast<std::size_t>(rows.indptr[i + 1]);
        examples.push_back({rows.indices.data() + begin, rows.values.empty() ? nullptr : rows.values.data() + begin,
                            static_cast<std::uint32_t>(end - begin), labels[i], weights.empty() ? 1.0 : weights[i]});
    }
}

inline void prefetch(const Example& example) {
    for (std::uint32_t j = 0; j < example.size; j += 16) __builtin_prefetch(example.indices + j);
    if (example.values == nullptr) return;
    for (std::uint32_t j = 0; j < example.size; j += 8) __builtin_prefetch(example.values + j);
}

// The feature index to prefetch while entry j is processed: a few entries ahead, possibly in the next example.
// Returns the index of entry j itself if there is no such entry.
inline std::int32_t index_ahead(const Example& example, const Example& next, std::uint32_t j) {
    constexpr std::uint32_t kAhead = 16;
    const std::uint32_t at = j + kAhead;
    if (at < example.size) return example.indices[at];
    return at - example.size < next.size ? next.indices[at - example.size] : example.indices[j];
}

// Call visit(example, next example, position) for every example in the given order. An empty order means storage
// order, which needs no prefetching.
template <class Visit>
void for_each_example(std::span<const Example> examples, std::span<const std::int64_t> order, Visit&& visit) {
    constexpr std::size_t kAhead = 4;
    const auto at = [&](std::size_t k) -> const Example& {
        return examples[order.empty() ? k : static_cast<std::size_t>(order[k])];
    };
    for (std::size_t k = 0; k < examples.size(); ++k) {
        if (!order.empty()) {
            if (k + 2 * kAhead < examples.size()) __builtin_prefetch(&at(k + 2 * kAhead));
            if (k + kAhead < examples.size()) prefetch(at(k + kAhead));
        }
        visit(at(k), at(k + 1 < examples.size() ? k + 1 : k), k);
    }
}

}  // namespace weigh
