// Sums of rows of a row-major table, the inner loops of products with sparse rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weigh {

// sum [columns] += Σ xⱼ table[feature j]; `values` null means that all x are 1.
void add_rows(const std::int32_t* features, const double* values, std::size_t size, const double* table,
              std::size_t columns, double* sum);

// table[feature j] += xⱼ row [columns], for distinct or repeated features.
void add_to_rows(const std::int32_t* features, const double* values, std::size_t size, const double* row,
                 std::size_t columns, double* table);

}  // namespace weigh
