#include "weigh/count.h"

namespace weigh {

void count_codes(Codes classes, Codes codes, std::size_t width, std::span<std::int64_t> table) {
    for (std::size_t i = 0; i < codes.size(); ++i) {
        const std::int32_t c = classes[i], k = codes[i];
        if (c >= 0 && k >= 0) ++table[static_cast<std::size_t>(c) * width + static_cast<std::size_t>(k)];
    }
}

void count_codes(Codes classes, Codes codes, std::span<const double> weights, std::size_t width,
                 std::span<double> table) {
    for (std::size_t i = 0; i < codes.size(); ++i) {
        const std::int32_t c = classes[i], k = codes[i];
        if (c >= 0 && k >= 0)
            table[static_cast<std::size_t>(c) * width + static_cast<std::size_t>(k)] += weights[i];
    }
}

void count_sparse(Codes classes, const SparseRows& rows, std::span<const double> weights,
                  std::size_t width, std::span<double> table) {
    for (std::size_t i = 0; i < rows.rows(); ++i) {
        if (classes[i] < 0) continue;
        double* row = table.data() + static_cast<std::size_t>(classes[i]) * width;
        const double weight = weights.empty() ? 1.0 : weights[i];
        const auto end = static_cast<std::size_t>(rows.indptr[i + 1]);
        for (auto e = static_cast<std::size_t>(rows.indptr[i]); e < end; ++e)
            row[rows.indices[e]] += weight * rows.value(e);
    }
}

}  // namespace weigh
