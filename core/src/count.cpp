#include "weigh/count.h"

#include <array>
#include <vector>

namespace weigh {
namespace {

constexpr std::size_t kLanes = 4;
constexpr std::size_t kSmall = 4096;  // cells; larger tables seldom meet the same cell twice in a row

// Rows that follow each other often share a cell, and an increment must wait for the one before it.
// Four tables taken in turn let four of them be under way at once. Cell 0 takes what is missing.
void count_in_lanes(Codes classes, Codes codes, std::size_t width, std::span<std::int64_t> table) {
    std::array<std::vector<std::uint32_t>, kLanes> lanes;
    for (auto& lane : lanes) lane.assign(table.size() + 1, 0);
    const auto cell = [&](std::size_t i) {
        const std::int32_t c = classes[i], k = codes[i];
        return (c | k) < 0 ? 0 : static_cast<std::size_t>(c) * width + static_cast<std::size_t>(k) + 1;
    };
    std::size_t i = 0;
    for (; i + kLanes <= codes.size(); i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) ++lanes[lane][cell(i + lane)];
    for (; i < codes.size(); ++i) ++lanes[0][cell(i)];
    for (const auto& lane : lanes)
        for (std::size_t k = 0; k < table.size(); ++k) table[k] += lane[k + 1];
}

}  // namespace

void count_codes(Codes classes, Codes codes, std::size_t width, std::span<std::int64_t> table) {
    if (table.size() <= kSmall && codes.size() >= table.size() && codes.size() < (std::size_t{1} << 31)) {
        count_in_lanes(classes, codes, width, table);
        return;
    }
    for (std::size_t i = 0; i < codes.size(); ++i) {
        const std::int32_t c = classes[i], k = codes[i];
        if (c >= 0 && k >= 0) ++table[static_cast<std::size_t>(c) * width + static_cast<std::size_t>(k)];
    }
}

void count_codes(Codes classes, Codes codes, std::span<const double> weights, std::size_t width,
                 std::span<double> table) {
    for (std::size_t i = 0; i < codes.size(); ++i) {
        const std::int32_t c = classes[i], k = codes[i];
        if (c >= 0 && k >= 0) table[static_cast<std::size_t>(c) * width + static_cast<std::size_t>(k)] += weights[i];
    }
}

void count_sparse(Codes classes, const SparseRows& rows, std::span<const double> weights, std::size_t width,
                  std::span<double> table) {
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
