#include "weigh/association.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weigh {
namespace {

double n_log_n(double n) { return n > 1.0 ? n * std::log(n) : 0.0; }

// The rows of each class, one class after the other.
std::vector<std::vector<std::size_t>> rows_by_class(std::span<const std::int32_t> classes, std::size_t n_classes) {
    std::vector<std::vector<std::size_t>> rows(n_classes);
    for (std::size_t i = 0; i < classes.size(); ++i) rows[static_cast<std::size_t>(classes[i])].push_back(i);
    return rows;
}

// The counts of the rows of one class by the codes of two columns; its memory is used for one pair after the other.
class PairTable {
public:
    void count(const DiscreteRows& rows, const std::vector<std::size_t>& members, std::size_t a, std::size_t b) {
        const auto height = static_cast<std::size_t>(rows.levels[a]), width = static_cast<std::size_t>(rows.levels[b]);
        first_.assign(height, 0.0);
        second_.assign(width, 0.0);
        cells_.assign(height * width, 0.0);
        total_ = 0.0;
        const auto* codes_a = rows.codes.data() + a * rows.rows();
        const auto* codes_b = rows.codes.data() + b * rows.rows();
        for (const std::size_t i : members) {
            if (codes_a[i] < 0 || codes_b[i] < 0) continue;
            const auto x = static_cast<std::size_t>(codes_a[i]), y = static_cast<std::size_t>(codes_b[i]);
            cells_[x * width + y] += rows.weights[i];
            first_[x] += rows.weights[i];
            second_[y] += rows.weights[i];
            total_ += rows.weights[i];
        }
    }

    // With f = n log n, n H(a) = f(n) − Σ f(row margins) and n I(a, b) = n H(a) + n H(b) − f(n) + Σ f(cells).
    void add_to(Association& sums, std::size_t columns, std::size_t a, std::size_t b) const {
        const double entropy_a = n_log_n(total_) - sum_n_log_n(first_);
        const double entropy_b = n_log_n(total_) - sum_n_log_n(second_);
        const double information = entropy_a + entropy_b - (n_log_n(total_) - sum_n_log_n(cells_));
        const double freedom = free_levels(first_) * free_levels(second_);
        const auto add = [&](std::size_t at, double entropy) {
            sums.information[at] += information;
            sums.entropy[at] += entropy;
            sums.freedom[at] += freedom;
            sums.known[at] += total_;
        };
        add(a * columns + b, entropy_a);
        if (a != b) add(b * columns + a, entropy_b);
    }

private:
    static double sum_n_log_n(const std::vector<double>& counts) {
        double sum = 0.0;
        for (const double count : counts) sum += n_log_n(count);
        return sum;
    }

    static double free_levels(const std::vector<double>& margins) {
        const auto used = std::count_if(margins.begin(), margins.end(), [](double n) { return n > 0; });
        return static_cast<double>(std::max<std::ptrdiff_t>(used - 1, 0));
    }

    std::vector<double> first_, second_, cells_;
    double total_ = 0.0;
};

// A class of one row has no entropy; with many such classes, tables of their pairs would take most of the time.
void add_single_row(const DiscreteRows& rows, std::size_t row, std::vector<double>& known) {
    const std::size_t n = rows.columns();
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b)
            if (rows.codes[a * rows.rows() + row] >= 0 && rows.codes[b * rows.rows() + row] >= 0)
                known[a * n + b] += rows.weights[row];
}

}  // namespace

Association measure_association(const DiscreteRows& rows) {
    const std::size_t n = rows.columns(), pairs = n * n;
    Association sums{std::vector<double>(pairs), std::vector<double>(pairs), std::vector<double>(pairs),
                     std::vector<double>(pairs)};
    PairTable table;
    for (const auto& members : rows_by_class(rows.classes, rows.n_classes)) {
        if (members.size() == 1) {
            add_single_row(rows, members.front(), sums.known);
            continue;
        }
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = a; b < n; ++b) {
                table.count(rows, members, a, b);
                table.add_to(sums, n, a, b);
            }
    }
    return sums;
}

std::vector<double> log_arrangements(const DiscreteRows& rows) {
    std::vector<double> sums(rows.columns());
    for (std::size_t j = 0; j < rows.columns(); ++j) {
        const auto levels = static_cast<std::size_t>(rows.levels[j]);
        std::vector<double> counts(rows.n_classes * levels);
        for (std::size_t i = 0; i < rows.rows(); ++i) {
            const std::int32_t code = rows.codes[j * rows.rows() + i];
            const std::size_t row = static_cast<std::size_t>(rows.classes[i]) * levels;
            if (code >= 0) counts[row + static_cast<std::size_t>(code)] += rows.weights[i];
        }
        for (std::size_t c = 0; c < rows.n_classes; ++c) {
            double total = 0.0;
            for (std::size_t k = 0; k < levels; ++k) {
                const double count = counts[c * levels + k];
                total += count;
                if (count > 1.0) sums[j] -= std::lgamma(count + 1.0);
            }
            sums[j] += std::lgamma(total + 1.0);
        }
    }
    return sums;
}

RankedNumber rank_within_classes(Strided<double> values, std::span<const std::int32_t> classes, std::size_t n_classes,
                                 std::size_t n_bins, std::size_t min_bin_rows) {
    RankedNumber ranked{std::vector<std::int32_t>(values.size, -1),
                        std::vector<double>(values.size, std::numeric_limits<double>::quiet_NaN())};
    for (auto& rows : rows_by_class(classes, n_classes)) {
        std::erase_if(rows, [&](std::size_t i) { return std::isnan(values[i]); });
        if (rows.size() < 2) continue;
        std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
        const auto n = static_cast<double>(rows.size());
        const auto bins = static_cast<double>(std::clamp<std::size_t>(rows.size() / min_bin_rows, 1, n_bins));
        for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
            while (end < rows.size() && values[rows[end]] == values[rows[begin]]) ++end;
            const double middle = static_cast<double>(begin + end - 1) / 2;
            const double rank = middle / n - 0.5 + 0.5 / n;
            const auto bin = static_cast<std::int32_t>(std::min((rank + 0.5) * bins, bins - 1));
            for (std::size_t k = begin; k < end; ++k) ranked.ranks[rows[k]] = rank, ranked.bins[rows[k]] = bin;
        }
    }
    return ranked;
}

}  // namespace weigh
