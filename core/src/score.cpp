#include "weigh/score.h"

#include <cmath>

#include "penalty.h"

namespace weigh {

void score_codes(Codes codes, std::span<const double> table, std::size_t classes, std::span<double> scores) {
    for (std::size_t i = 0; i < codes.size(); ++i) {
        if (codes[i] < 0) continue;
        const double* weights = table.data() + static_cast<std::size_t>(codes[i]) * classes;
        double* score = scores.data() + i * classes;
        for (std::size_t c = 0; c < classes; ++c) score[c] += weights[c];
    }
}

void score_linear(Strided<double> values, std::span<const double> weights, std::span<double> scores) {
    const std::size_t classes = weights.size();
    for (std::size_t i = 0; i < values.size; ++i) {
        const double x = values[i];
        if (std::isnan(x)) continue;
        double* score = scores.data() + i * classes;
        for (std::size_t c = 0; c < classes; ++c) score[c] += x * weights[c];
    }
}

void score_sparse(const SparseRows& rows, std::span<const double> table, std::size_t classes,
                  std::span<double> scores) {
    for (std::size_t i = 0; i < rows.rows(); ++i) {
        double* score = scores.data() + i * classes;
        const auto end = static_cast<std::size_t>(rows.indptr[i + 1]);
        for (auto e = static_cast<std::size_t>(rows.indptr[i]); e < end; ++e) {
            const double* weights = table.data() + static_cast<std::size_t>(rows.indices[e]) * classes;
            const double x = rows.value(e);
            for (std::size_t c = 0; c < classes; ++c) score[c] += x * weights[c];
        }
    }
}

void score_gaussian(Strided<double> values, std::span<const double> mean, std::span<const double> mean_residual,
                    std::span<const double> inverse_std, std::span<const double> constant, std::span<double> scores) {
    const std::size_t classes = mean.size();
    for (std::size_t i = 0; i < values.size; ++i) {
        const double x = values[i];
        if (std::isnan(x)) continue;
        double* score = scores.data() + i * classes;
        for (std::size_t c = 0; c < classes; ++c) {
            score[c] += constant[c] - penalty(((x - mean[c]) - mean_residual[c]) * inverse_std[c]);
        }
    }
}

}  // namespace weigh
