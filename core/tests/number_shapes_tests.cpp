// Tests of counts on the grid, of shapes, of associations and of sums of numbers of very different sizes, against
// reference loops, with empty classes, missing values and a single row.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "expect.h"
#include "weigh/association.h"
#include "weigh/coarse_cells.h"
#include "weigh/exact_sums.h"
#include "weigh/number_shapes.h"
#include "weigh/row_hash.h"
#include "weigh/value_grid.h"

namespace {

using namespace weigh;

std::vector<std::int32_t> draw_codes(Random& random, std::size_t n, std::int32_t lowest, std::int32_t levels) {
    std::uniform_int_distribution<std::int32_t> draw(lowest, levels - 1);
    std::vector<std::int32_t> codes(n);
    for (auto& code : codes) code = draw(random);
    return codes;
}

// Numbers of one size, of both signs, or of all sizes; some are zero or missing.
std::vector<double> draw_numbers(Random& random, std::size_t n, std::size_t form) {
    std::normal_distribution<double> draw;
    std::vector<double> values(n);
    for (auto& x : values) {
        const double z = draw(random);
        x = form == 0 ? std::round(40 + 10 * z) : form == 1 ? z : std::ldexp(z, static_cast<int>(random() % 1800) - 900);
        if (random() % 8 == 0) x = 0.0;
        if (random() % 8 == 0) x = std::numeric_limits<double>::quiet_NaN();
    }
    return values;
}

Strided<double> column(const std::vector<double>& values) { return {values.data(), values.size(), 1}; }

void cells_equal_a_map(Random& random, std::size_t n, std::size_t form) {
    const auto values = draw_numbers(random, n, form);
    const auto classes = draw_codes(random, n, -1, 3);
    std::vector<double> weights(n);
    for (auto& weight : weights) weight = static_cast<double>(random() % 4);
    for (const bool is_weighted : {false, true}) {
        const auto counts = count_cells(classes, 3, column(values), is_weighted ? weights : std::vector<double>{});
        std::map<std::int32_t, std::vector<double>> expected;
        for (std::size_t i = 0; i < n; ++i) {
            if (classes[i] < 0 || !std::isfinite(values[i])) continue;
            auto& row = expected.try_emplace(grid_cell(values[i]), 3, 0.0).first->second;
            row[static_cast<std::size_t>(classes[i])] += is_weighted ? weights[i] : 1.0;
        }
        EXPECT(counts.cells.size() == expected.size());
        std::size_t k = 0;
        for (const auto& [cell, row] : expected) {
            EXPECT(counts.cells[k] == cell);
            for (std::size_t c = 0; c < 3; ++c) EXPECT(counts.counts[c * expected.size() + k] == row[c]);
            ++k;
        }
    }
}

// Widens the cells of a map until there are few enough.
void coarse_cells_equal_a_map(Random& random, std::size_t n, std::size_t form, std::size_t max_cells) {
    const std::size_t width = 11;
    std::vector<double> matrix(n * width);
    for (std::size_t j = 0; j < width; ++j) {
        const auto values = draw_numbers(random, n, form);
        for (std::size_t i = 0; i < n; ++i) matrix[i * width + j] = values[i];
    }
    const auto columns = count_coarse_cells({matrix.data(), n, width, width, 1}, max_cells);
    for (std::size_t j = 0; j < width; ++j) {
        int coarseness = -1;
        std::map<std::int32_t, std::int64_t> expected;
        do {
            expected.clear();
            ++coarseness;
            for (std::size_t i = 0; i < n; ++i) {
                const double value = matrix[i * width + j];
                if (!std::isfinite(value)) continue;
                const std::int32_t cell = grid_cell(value), magnitude = ((std::abs(cell) - 1) >> coarseness) + 1;
                ++expected[cell == 0 ? 0 : cell < 0 ? -magnitude : magnitude];
            }
        } while (expected.size() > max_cells);
        EXPECT(columns[j].coarseness == coarseness);
        EXPECT(columns[j].cells.size() == expected.size());
        std::size_t k = 0;
        for (const auto& [cell, count] : expected) {
            EXPECT(columns[j].cells[k] == cell && columns[j].counts[k] == count);
            ++k;
        }
    }
}

void sums_of_cells_equal_those_of_all_rows(Random& random, std::size_t n) {
    const auto values = draw_numbers(random, n, 1);
    const auto classes = draw_codes(random, n, 0, 2);
    const std::size_t half = n / 2;
    const auto whole = count_cells(classes, 2, column(values), {});
    const auto first = count_cells({classes.data(), half}, 2, {values.data(), half, 1}, {});
    const auto second = count_cells({classes.data() + half, n - half}, 2, {values.data() + half, n - half, 1}, {});
    const auto both = unite_cells(first.cells, second.cells);
    EXPECT(both.cells == whole.cells);
    EXPECT(add_cells<double>({first.cells, first.counts}, {second.cells, second.counts}, false, both, 2) == whole.counts);
}

void losses_are_finite(Random& random, std::size_t n, std::size_t form, std::int32_t n_classes) {
    const auto values = draw_numbers(random, n, form);
    const auto classes = draw_codes(random, n, 0, n_classes);
    const auto width = static_cast<std::size_t>(n_classes) + 1;  // one class has no rows
    const auto counts = count_cells(classes, width, column(values), {});
    if (counts.cells.empty()) return;
    std::vector<double> centres(counts.cells.begin(), counts.cells.end());
    const double largest = std::max(std::abs(centres.front()), std::abs(centres.back()));
    for (auto& centre : centres) centre /= largest == 0 ? 1.0 : largest;
    const std::vector<std::int32_t> bins{2, 8, 64}, strengths{16, 1};
    const ShapeSettings settings{true, true, true, counts.cells.front() <= 0, counts.cells.front() < 0, 0.01, 1.0,
                                 0.01, 16, bins, strengths};
    const auto candidates = compare_shapes(centres, counts.counts, width, settings);
    EXPECT(candidates.size() >= 4);
    for (const auto& each : candidates) EXPECT(std::isfinite(each.loss) && each.loss >= 0);
}

void bins_ascend_and_cover_all_cells(Random& random, std::size_t n) {
    std::vector<double> totals(n);
    for (auto& total : totals) total = static_cast<double>(1 + random() % 50);
    for (const std::size_t n_bins : {1, 3, 64}) {
        const auto bins = equal_mass_bins(totals, n_bins);
        EXPECT(bins.size() == n && bins.front() == 0);
        for (std::size_t k = 1; k < n; ++k) EXPECT(bins[k] - bins[k - 1] == 0 || bins[k] - bins[k - 1] == 1);
    }
}

void a_copy_shares_all_information(Random& random, std::size_t n, std::size_t n_classes) {
    const auto first = draw_codes(random, n, -1, 4);
    std::vector<std::int32_t> codes(first);
    codes.insert(codes.end(), first.begin(), first.end());
    const auto classes = draw_codes(random, n, 0, static_cast<std::int32_t>(n_classes));
    const std::vector<std::int32_t> levels{4, 4};
    const std::vector<double> weights(n, 1.0);
    const DiscreteRows rows{codes, levels, classes, n_classes, weights};
    const auto sums = measure_association(rows);
    EXPECT(std::abs(sums.information[1] - sums.entropy[0]) <= 1e-9 * (1 + sums.entropy[0]));
    EXPECT(sums.known[0] == sums.known[3] && sums.known[1] == sums.known[2]);
    EXPECT(sums.known[0] == static_cast<double>(n - static_cast<std::size_t>(std::count(first.begin(), first.end(), -1))));
    EXPECT(log_arrangements(rows)[0] == log_arrangements(rows)[1]);
}

void ranks_are_between_minus_and_plus_a_half(Random& random, std::size_t n) {
    const auto values = draw_numbers(random, n, 0);
    const auto classes = draw_codes(random, n, 0, 3);
    const auto ranked = rank_within_classes(column(values), classes, 3, 4, 5);
    for (std::size_t i = 0; i < n; ++i) {
        EXPECT(std::isnan(ranked.ranks[i]) == (ranked.bins[i] < 0));
        EXPECT(ranked.bins[i] < 0 || (std::abs(ranked.ranks[i]) < 0.5 && ranked.bins[i] < 4));
    }
}

// Adding the values in any order and in parts gives the same limbs.
void sums_do_not_depend_on_the_order(Random& random, std::size_t n, std::size_t form) {
    auto values = draw_numbers(random, n, form);
    const std::vector<std::int32_t> classes(n, 0);
    const auto sums = class_sums(classes, 1, column(values), {});
    std::shuffle(values.begin(), values.end(), random);
    const auto shuffled = class_sums(classes, 1, column(values), {});
    EXPECT(sums.sum_x.limbs == shuffled.sum_x.limbs && sums.sum_x.first_power == shuffled.sum_x.first_power);
    EXPECT(sums.sum_xx.limbs == shuffled.sum_xx.limbs && sums.sum_xx.first_power == shuffled.sum_xx.first_power);
    const auto weighted = class_sums(classes, 1, column(values), std::vector<double>(n, 1.0));
    EXPECT(sums.sum_x.limbs == weighted.sum_x.limbs && sums.sum_xx.limbs == weighted.sum_xx.limbs);
}

void missing_codes_have_the_last_hash(Random& random, std::size_t n) {
    const auto codes = draw_codes(random, n, -1, 3);
    const std::vector<std::uint64_t> by_code{11, 22, 33, 44};
    std::vector<std::uint64_t> hashes(n, 1);
    add_code_hashes(codes, by_code, hashes);
    for (std::size_t i = 0; i < n; ++i)
        EXPECT(hashes[i] == 1 + by_code[codes[i] < 0 ? 3 : static_cast<std::size_t>(codes[i])]);
}

}  // namespace

int main() {
    Random random(7);
    for (const std::size_t n : {1, 2, 20, 300, 3000}) {
        for (const std::size_t form : {0, 1, 2}) {
            cells_equal_a_map(random, n, form);
            for (const std::size_t max_cells : {3, 20, 256}) coarse_cells_equal_a_map(random, n, form, max_cells);
            sums_do_not_depend_on_the_order(random, n, form);
            for (const std::int32_t n_classes : {1, 2, 5}) losses_are_finite(random, n, form, n_classes);
        }
        sums_of_cells_equal_those_of_all_rows(random, n);
        bins_ascend_and_cover_all_cells(random, n);
        for (const std::size_t n_classes : {1, 3, 400}) a_copy_shares_all_information(random, n, n_classes);
        ranks_are_between_minus_and_plus_a_half(random, n);
        missing_codes_have_the_last_hash(random, n);
    }
    return report();
}
