// Tables of counts, class by value.
//
// Every table is row-major, one row per class. Without weights the counts are integers and exact;
// with weights they are doubles. Rows whose class or code is negative are passed over.
#pragma once

#include "weigh/views.h"

namespace weigh {

// table[class][code] += 1
void count_codes(Codes classes, Codes codes, std::size_t width, std::span<std::int64_t> table);

// table[class][code] += weight
void count_codes(Codes classes, Codes codes, std::span<const double> weights, std::size_t width,
                 std::span<double> table);

// table[class][index] += weight × value; an empty weights span means one each.
void count_sparse(Codes classes, const SparseRows& rows, std::span<const double> weights, std::size_t width,
                  std::span<double> table);

}  // namespace weigh
