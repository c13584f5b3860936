// Running work on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

#include "weigh/views.h"

namespace weigh {

// Call work(part) for every part concurrently, part 0 on the calling thread. `work` must not throw.
template <class Work>
void parallel_for(std::size_t parts, const Work& work) {
    std::vector<std::jthread> others;
    others.reserve(parts);
    for (std::size_t part = 1; part < parts; ++part) others.emplace_back([&work, part] { work(part); });
    work(std::size_t{0});
}

// Partition rows into contiguous parts with about the same number of entries; return the parts + 1 row boundaries.
inline std::vector<std::size_t> partition_rows(const SparseRows& rows, std::size_t threads) {
    constexpr std::int64_t kMinEntries = 100'000;  // fewer take less time than starting a thread
    if (rows.rows() == 0) return {0, 0};
    const std::int64_t first = rows.indptr.front(), entries = rows.indptr.back() - first;
    const std::int64_t parts = std::clamp<std::int64_t>(entries / kMinEntries, 1,
                                                        static_cast<std::int64_t>(std::max<std::size_t>(threads, 1)));
    std::vector<std::size_t> bounds{0};
    for (std::int64_t part = 1; part < parts; ++part) {
        const auto at = std::lower_bound(rows.indptr.begin(), rows.indptr.end(), first + entries / parts * part);
        bounds.push_back(static_cast<std::size_t>(at - rows.indptr.begin()));
    }
    bounds.push_back(rows.rows());
    return bounds;
}

}  // namespace weigh
