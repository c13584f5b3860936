// Products of sparse rows with tables, on several threads.
//
// Tables are row-major. Every thread takes rows that follow each other; what threads add up is joined in the
// order of the rows, so that for one number of threads the result is always the same.
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
void transposed_times(const SparseRows& rows, std::span<const double> table, std::size_t columns,
                      std::size_t threads, std::span<double> out);

// out [width] = Σ sᵢ xᵢⱼ²
void squared_times(const SparseRows& rows, std::span<const double> s, std::size_t threads, std::span<double> out);

// Features by themselves: feature k owns entries indptr[k] .. indptr[k + 1], in the order of the rows.
struct SparseColumns {
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> rows;
    std::vector<double> values;
};

// Some features: places[feature] is where it goes, below `count`, or negative.
SparseColumns selected(const SparseRows& rows, Codes places, std::size_t count, std::size_t threads);

// out [count, count] = Σ sᵢ xᵢ xᵢᵀ of the same features, both triangles; an empty s means one each.
void weighted_gram(const SparseRows& rows, Codes places, std::size_t count, std::span<const double> s,
                   std::size_t threads, std::span<double> out);

}  // namespace weigh
