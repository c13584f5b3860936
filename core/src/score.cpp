#include "weigh/score.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weigh {
namespace {
constexpr double kFar = 1e150;  // beyond this the square of a distance may not exist

// ½ z², and beyond kFar something that still grows with z: however far off a value is, no class may
// become impossible, for all would be, and the nearer class must stay ahead.
double penalty(double z) {
    const double distance = std::min(std::abs(z), std::numeric_limits<double>::max());
    if (distance <= kFar) return 0.5 * distance * distance;
    return 0.5 * kFar * kFar * (1.0 + std::log(distance / kFar));
}

}  // namespace

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

void score_gaussian(Strided<double> values, std::span<const double> mean, std::span<const double> steepness,
                    std::span<const double> constant, std::span<double> scores) {
    const std::size_t classes = mean.size();
    for (std::size_t i = 0; i < values.size; ++i) {
        const double x = values[i];
        if (std::isnan(x)) continue;
        double* score = scores.data() + i * classes;
        for (std::size_t c = 0; c < classes; ++c) {
            score[c] += constant[c] - penalty((x - mean[c]) * steepness[c]);
        }
    }
}

}  // namespace weigh
