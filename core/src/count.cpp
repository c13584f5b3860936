#include "weigh/count.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace weigh {
namespace {

constexpr std::size_t kLanes = 4;
constexpr std::size_t kMaxLaneCells = 4096;  // larger tables rarely hit the same cell twice in a row

// Count into four interleaved tables: consecutive rows often share a cell, and independent tables avoid store-to-load
// dependencies. Cell 0 collects missing values.
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

// Logarithms of small counts, which make up most of a table.
class LogTable {
public:
    LogTable(double pseudocount, double total) : pseudocount_(pseudocount), total_(total), logs_(kSize) {
        for (std::size_t n = 0; n < kSize; ++n) logs_[n] = std::log((static_cast<double>(n) + pseudocount) / total);
    }

    template <class Count>
    double of(Count n) const {
        const auto at = static_cast<std::uint64_t>(n);
        return at < kSize ? logs_[at] : std::log((static_cast<double>(n) + pseudocount_) / total_);
    }

private:
    static constexpr std::size_t kSize = 256;

    double pseudocount_, total_;
    std::vector<double> logs_;
};

}  // namespace

void count_codes(Codes classes, Codes codes, std::size_t width, std::span<std::int64_t> table) {
    if (table.size() <= kMaxLaneCells && codes.size() >= table.size() && codes.size() < (std::size_t{1} << 31)) {
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

template <class Count>
void smoothed_log_probabilities(std::span<const Count> counts, double pseudocount, std::span<const double> totals,
                                double* logs) {
    // words per block, so that reads and writes of the transposition stay in the cache
    constexpr std::size_t kBlock = 64;
    const std::size_t classes = totals.size(), words = classes == 0 ? 0 : counts.size() / classes;
    std::vector<LogTable> log_tables;
    for (const double total : totals) log_tables.emplace_back(pseudocount, total);
    for (std::size_t first = 0; first < words; first += kBlock) {
        const std::size_t last = std::min(first + kBlock, words);
        for (std::size_t c = 0; c < classes; ++c)
            for (std::size_t k = first; k < last; ++k) logs[k * classes + c] = log_tables[c].of(counts[c * words + k]);
    }
}

template void smoothed_log_probabilities(std::span<const std::uint8_t>, double, std::span<const double>, double*);
template void smoothed_log_probabilities(std::span<const std::uint16_t>, double, std::span<const double>, double*);
template void smoothed_log_probabilities(std::span<const std::uint32_t>, double, std::span<const double>, double*);
template void smoothed_log_probabilities(std::span<const std::int64_t>, double, std::span<const double>, double*);

}  // namespace weigh
