#include "table_rows.h"

#include "wide.h"

namespace weigh {

// Four rows at a time, so that the sum is loaded and stored less often.
WEIGH_WIDE void add_rows(const std::int32_t* features, const double* values, std::size_t size, const double* table,
                         std::size_t columns, double* __restrict sum) {
    std::size_t j = 0;
    for (; j + 4 <= size; j += 4) {
        const double* a = table + static_cast<std::size_t>(features[j]) * columns;
        const double* b = table + static_cast<std::size_t>(features[j + 1]) * columns;
        const double* c = table + static_cast<std::size_t>(features[j + 2]) * columns;
        const double* d = table + static_cast<std::size_t>(features[j + 3]) * columns;
        const double xa = values ? values[j] : 1, xb = values ? values[j + 1] : 1;
        const double xc = values ? values[j + 2] : 1, xd = values ? values[j + 3] : 1;
        for (std::size_t k = 0; k < columns; ++k) sum[k] += (xa * a[k] + xb * b[k]) + (xc * c[k] + xd * d[k]);
    }
    for (; j < size; ++j) {
        const double* a = table + static_cast<std::size_t>(features[j]) * columns;
        const double x = values ? values[j] : 1;
        for (std::size_t k = 0; k < columns; ++k) sum[k] += x * a[k];
    }
}

WEIGH_WIDE void add_to_rows(const std::int32_t* features, const double* values, std::size_t size,
                            const double* __restrict row, std::size_t columns, double* table) {
    for (std::size_t j = 0; j < size; ++j) {
        double* a = table + static_cast<std::size_t>(features[j]) * columns;
        const double x = values ? values[j] : 1;
        for (std::size_t k = 0; k < columns; ++k) a[k] += x * row[k];
    }
}

}  // namespace weigh
