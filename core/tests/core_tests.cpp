// Tests of counting, encoding, scoring and exact sums against reference loops, with empty rows, missing values and
// one class.
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "expect.h"
#include "weigh/count.h"
#include "weigh/encode.h"
#include "weigh/score.h"
#include "weigh/exact_sums.h"

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::vector<std::int32_t> codes(Random& random, std::size_t n, int levels) {
    std::uniform_int_distribution<std::int32_t> draw(-1, levels - 1);
    std::vector<std::int32_t> result(n);
    for (auto& code : result) code = draw(random);
    return result;
}

std::vector<double> numbers(Random& random, std::size_t n) {
    std::normal_distribution<double> draw;
    std::vector<double> result(n);
    for (auto& x : result) x = random() % 10 ? draw(random) : kMissing;
    return result;
}

weigh::Strided<double> column(const std::vector<double>& values) { return {values.data(), values.size(), 1}; }

void counts_equal_a_reference_loop(Random& random, std::size_t n, int classes, int levels) {
    const auto c = codes(random, n, classes), k = codes(random, n, levels);
    const auto width = static_cast<std::size_t>(levels);
    const auto cells = static_cast<std::size_t>(classes) * width;
    std::vector<double> weights(n);
    for (auto& weight : weights) weight = static_cast<double>(random() % 4);
    std::vector<std::int64_t> table(cells), expected(cells);
    std::vector<double> weighted(cells), expected_weighted(cells);
    weigh::count_codes(c, k, width, table);
    weigh::count_codes(c, k, weights, width, weighted);
    for (std::size_t i = 0; i < n; ++i) {
        if (c[i] < 0 || k[i] < 0) continue;
        const auto cell = static_cast<std::size_t>(c[i] * levels + k[i]);
        expected[cell] += 1;
        expected_weighted[cell] += weights[i];
    }
    EXPECT(table == expected);
    EXPECT(weighted == expected_weighted);
}

struct Matrix {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<double> values;

    weigh::SparseRows view(bool with_values) const {
        return {indptr, indices, with_values ? std::span<const double>(values) : std::span<const double>()};
    }
};

Matrix matrix(Random& random, std::size_t rows, int width) {
    Matrix result;
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::int32_t j = 0; j < width; ++j) {
            if (random() % 3) continue;
            result.indices.push_back(j);
            result.values.push_back(static_cast<double>(random() % 5));
        }
        result.indptr.push_back(static_cast<std::int64_t>(result.indices.size()));
    }
    return result;
}

void sparse_counts_and_scores_equal_a_dense_loop(Random& random, std::size_t n, int classes, int width) {
    const auto rows = matrix(random, n, width);
    const auto c = codes(random, n, classes);
    const auto wide = static_cast<std::size_t>(width), many = static_cast<std::size_t>(classes);
    std::vector<double> weights(wide * many), table(wide * many), expected(wide * many);
    for (auto& weight : weights) weight = static_cast<double>(random() % 7) - 3;
    std::vector<double> scores(n * many), expected_scores(n * many);
    for (bool with_values : {false, true}) {
        weigh::count_sparse(c, rows.view(with_values), {}, wide, table);
        weigh::score_sparse(rows.view(with_values), weights, many, scores);
        for (std::size_t i = 0; i < n; ++i) {
            for (auto e = rows.indptr[i]; e < rows.indptr[i + 1]; ++e) {
                const auto at = static_cast<std::size_t>(e);
                const auto j = static_cast<std::size_t>(rows.indices[at]);
                const double x = with_values ? rows.values[at] : 1.0;
                if (c[i] >= 0) expected[static_cast<std::size_t>(c[i]) * wide + j] += x;
                for (std::size_t k = 0; k < many; ++k) expected_scores[i * many + k] += x * weights[j * many + k];
            }
        }
    }
    EXPECT(table == expected);
    EXPECT(scores == expected_scores);
}

void codes_are_assigned_by_first_appearance(Random& random, std::size_t n, std::int64_t distinct) {
    // Every other element is outside the column.
    std::vector<std::int64_t> keys(2 * n);
    for (auto& key : keys) key = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(distinct)) - 2;
    const auto encoded = weigh::encode_keys({keys.data(), n, 2});
    std::map<std::int64_t, std::int32_t> seen;
    for (std::size_t i = 0; i < n; ++i) {
        const auto expected = seen.try_emplace(keys[2 * i], static_cast<std::int32_t>(seen.size())).first->second;
        EXPECT(encoded.codes[i] == expected);
    }
    EXPECT(encoded.distinct.size() == seen.size());
    for (const auto& [key, code] : seen) EXPECT(encoded.distinct[static_cast<std::size_t>(code)] == key);
}

template <class Offset>
void strings_are_encoded_by_first_appearance(Random& random, std::size_t n, std::size_t before) {
    const std::vector<std::string> words{"", "a", "ab", "b", "\xc3\xa9t\xc3\xa9", std::string(300, 'x')};
    std::string text(before, '?');
    std::vector<Offset> offsets{static_cast<Offset>(before)};
    const std::size_t bit = before % 8;
    std::vector<std::uint8_t> valid((bit + n) / 8 + 1);
    std::vector<std::int32_t> expected(n, -1);
    std::map<std::string, std::int32_t> seen;
    for (std::size_t i = 0; i < n; ++i) {
        const auto& word = words[random() % words.size()];
        text += word;
        offsets.push_back(static_cast<Offset>(text.size()));
        if (random() % 4 == 0) continue;
        valid[(bit + i) / 8] |= static_cast<std::uint8_t>(1u << ((bit + i) % 8));
        expected[i] = seen.try_emplace(word, static_cast<std::int32_t>(seen.size())).first->second;
    }
    const auto encoded = weigh::encode_strings(weigh::Strings<Offset>{offsets, text.data(), valid.data(), bit});
    EXPECT(encoded.codes == expected);
    EXPECT(encoded.distinct.size() == seen.size());
    for (const auto& [word, code] : seen) EXPECT(encoded.distinct[code] == word);
}

void missing_values_contribute_no_score(Random& random, std::size_t n, std::size_t classes) {
    const auto values = numbers(random, n);
    const auto levels = codes(random, n, 4);
    const std::vector<double> mean(classes, 0.25), residual(classes, 0.25), steep(classes, 2.0);
    const std::vector<double> constant(classes, -1.0), slope(classes, 3.0);
    std::vector<double> table(4 * classes, 0.25), scores(n * classes), expected(n * classes);
    weigh::score_codes(levels, table, classes, scores);
    weigh::score_linear(column(values), slope, scores);
    weigh::score_gaussian(column(values), mean, residual, steep, constant, scores);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t c = 0; c < classes; ++c) {
            double& score = expected[i * classes + c];
            if (levels[i] >= 0) score += 0.25;
            if (std::isnan(values[i])) continue;
            score += values[i] * 3.0;
            const double z = ((values[i] - 0.25) - 0.25) * 2.0;
            score += -1.0 - 0.5 * z * z;
        }
    }
    EXPECT(scores == expected);
}

void extreme_values_keep_scores_finite() {
    std::vector<double> scores(1);
    const std::vector<double> far{1e308}, mean{-1e308}, residual{0.0}, steep{1e300}, constant{0.0};
    weigh::score_gaussian(column(far), mean, residual, steep, constant, scores);
    EXPECT(std::isfinite(scores[0]));
}

weigh::ClassSums sums_of(const std::vector<double>& values, const std::vector<double>& weights = {}) {
    const std::vector<std::int32_t> one(values.size(), 0);
    return weigh::class_sums(one, 1, column(values), weights);
}

bool same(const weigh::ExactSums& first, const weigh::ExactSums& second) {
    return first.limbs == second.limbs && first.length == second.length && first.first_power == second.first_power;
}

void exact_sums_are_independent_of_order(Random& random) {
    std::vector<double> values{1e100, 1.0, -1e100, 5e-324, -0.0, kMissing, 3e-160, 1e150, 0.1};
    for (int i = 0; i < 200; ++i)
        values.push_back(std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 200) - 100));
    const auto forwards = sums_of(values);
    const auto backwards = sums_of({values.rbegin(), values.rend()});
    EXPECT(same(forwards.sum_x, backwards.sum_x));
    EXPECT(same(forwards.sum_xx, backwards.sum_xx));
    EXPECT(forwards.total_weights[0] == static_cast<double>(values.size() - 1));
}

void opposite_values_cancel_exactly() {
    const auto sums = sums_of({1e100, 0.1, 3e-200, -7.25, -1e100, -0.1, -3e-200, 7.25});
    EXPECT(sums.sum_x.limbs.empty() && sums.sum_x.length == 0);
    EXPECT(!sums.sum_xx.limbs.empty());
}

void an_integer_weight_equals_repeated_rows() {
    const auto weighted = sums_of({0.1, -2.5, 1e20}, {3.0, 1.0, 2.0});
    const auto repeated = sums_of({0.1, 0.1, 0.1, -2.5, 1e20, 1e20});
    EXPECT(same(weighted.sum_x, repeated.sum_x));
    EXPECT(same(weighted.sum_xx, repeated.sum_xx));
    EXPECT(weighted.total_weights == repeated.total_weights);
}

void extreme_exponents_fit_the_limbs() {
    const double least = 5e-324, greatest = std::numeric_limits<double>::max();
    const std::vector<double> values{least,     -least, greatest, greatest,
                                     -greatest, 1.0,    kMissing, std::numeric_limits<double>::infinity()};
    EXPECT(sums_of(values).total_weights[0] == 6.0);
    EXPECT(sums_of(values, std::vector<double>(values.size(), greatest)).total_weights[0] > 0);
    EXPECT(sums_of(values, std::vector<double>(values.size(), least)).total_weights[0] > 0);
    EXPECT(sums_of({}).sum_x.length == 0);
}

void propagating_carries_gives_a_normal_form() {
    // −2^32 in two limbs, and the same with unused limbs on both sides.
    const auto narrow = weigh::propagate_carries({0, -1, 0, 0}, 4, 0);
    const auto wide = weigh::propagate_carries({0, 0, 0, -1, 0, 0, 0}, 7, -2);
    EXPECT(same(narrow, wide));
    EXPECT(narrow.length == 1 && narrow.first_power == 1 && narrow.limbs[0] == -1);
    EXPECT(weigh::propagate_carries({}, 0, 0).length == 0);
}

}  // namespace

int main() {
    Random random(1);
    for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{17}, std::size_t{1000}}) {
        for (int classes : {1, 2, 5}) {
            counts_equal_a_reference_loop(random, n, classes, 3);
            sparse_counts_and_scores_equal_a_dense_loop(random, n, classes, 8);
            missing_values_contribute_no_score(random, n, static_cast<std::size_t>(classes));
        }
        for (std::size_t before : {std::size_t{0}, std::size_t{3}, std::size_t{13}}) {
            strings_are_encoded_by_first_appearance<std::int32_t>(random, n, before);
            strings_are_encoded_by_first_appearance<std::int64_t>(random, n, before);
        }
        for (std::int64_t distinct : {1, 10, 100'000}) codes_are_assigned_by_first_appearance(random, n, distinct);
    }
    extreme_values_keep_scores_finite();
    exact_sums_are_independent_of_order(random);
    opposite_values_cancel_exactly();
    an_integer_weight_equals_repeated_rows();
    extreme_exponents_fit_the_limbs();
    propagating_carries_gives_a_normal_form();
    return report();
}
