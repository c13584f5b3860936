// Values of words from their counts in a document: logarithms, inverse document frequencies, norms.
//
// All operations are those that IEEE 754 rounds correctly, in an order that depends on the values alone, so every
// platform computes the same bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weigh {

enum class Norm { none, l1, l2 };

struct TermWeighting {
    bool takes_logs = false;  // 1 + ln(count) for counts above 1, instead of the count
    Norm norm = Norm::none;
};

// The natural logarithm of a positive finite number, accurate to about one unit in the last place.
double natural_log(double x);

class TermWeigher {
public:
    explicit TermWeigher(TermWeighting weighting) : weighting_(weighting) {}

    // Replace the counts of one document by values: f(count) · idf[index], divided by the norm. Without `idf` it is 1.
    void weigh(std::span<double> values, std::span<const std::int32_t> indices, std::span<const double> idf);

private:
    double length(std::span<const double> values);

    TermWeighting weighting_;
    std::vector<double> sorted_;
};

// Replace the counts of every row, given as compressed sparse rows.
void weigh_rows(std::span<const std::int64_t> indptr, std::span<const std::int32_t> indices, std::span<double> values,
                std::span<const double> idf, TermWeighting weighting);

// Values in fixed point: whole multiples of 2⁻³², whose sums are exact.
constexpr double kFixedPointScale = 4294967296.0;
std::int64_t to_fixed_point(double value);

}  // namespace weigh
