// Multithreaded products of sparse rows with dense tables.
//
// Tables are row-major. Every thread processes a contiguous range of rows, and partial sums are added in row order, so
// that the result is deterministic for a fixed number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weigh/views.h"

namespace weigh {

// out [rows, columns] = X · table [width, columns]
void times(const SparseRows& rows, std::span<const double> table, std::size_t columns, std::size_t threads,
           std::span<double> out);

// out [width, columns] = Xᵀ · table [rows, columns]
void transposed_times(const SparseRows& rows, std::span<const double> table, std::size_t columns, std::size_t threads,
                      std::span<double> out);

// out [width] = Σ sᵢ xᵢⱼ²
void squared_times(const SparseRows& rows, std::span<const double> s, std::size_t threads, std::span<double> out);

// Compressed sparse columns: column k has the entries indptr[k] .. indptr[k + 1], in row order.
struct SparseColumns {
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> rows;
    std::vector<double> values;
};

// Select columns: index_map[feature] is the index of its column in the result, below `count`, or negative.
SparseColumns select_columns(const SparseRows& rows, Codes index_map, std::size_t count, std::size_t threads);

// out [count, count] = Σ sᵢ xᵢ xᵢᵀ over the selected features, both triangles; an empty `s` means unit weights.
void weighted_gram(const SparseRows& rows, Codes index_map, std::size_t count, std::span<const double> s,
                   std::size_t threads, std::span<double> out);

}  // namespace weigh
