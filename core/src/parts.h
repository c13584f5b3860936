// Work cut into parts that run at the same time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

#include "weigh/views.h"

namespace weigh {

// Run work(part) for every part, the first one on this thread; work must not throw.
template <class Work>
void in_parts(std::size_t parts, const Work& work) {
    std::vector<std::jthread> others;
    others.reserve(parts);
    for (std::size_t part = 1; part < parts; ++part) others.emplace_back([&work, part] { work(part); });
    work(std::size_t{0});
}

// Where rows are cut so that parts have about as many entries each: parts + 1 numbers of rows.
inline std::vector<std::size_t> cuts(const SparseRows& rows, std::size_t threads) {
    constexpr std::int64_t kWorthwhile = 100'000;  // entries that take as long as a thread takes to begin
    if (rows.rows() == 0) return {0, 0};
    const std::int64_t first = rows.indptr.front(), entries = rows.indptr.back() - first;
    const std::int64_t parts =
        std::clamp<std::int64_t>(entries / kWorthwhile, 1, static_cast<std::int64_t>(std::max<std::size_t>(threads, 1)));
    std::vector<std::size_t> found{0};
    for (std::int64_t part = 1; part < parts; ++part) {
        const auto at = std::lower_bound(rows.indptr.begin(), rows.indptr.end(), first + entries / parts * part);
        found.push_back(static_cast<std::size_t>(at - rows.indptr.begin()));
    }
    found.push_back(rows.rows());
    return found;
}

}  // namespace weigh
