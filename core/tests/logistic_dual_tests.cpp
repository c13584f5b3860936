// Tests of sparse products and of dual coordinate ascent against dense reference sums.
#include <cmath>
#include <cstdint>
#include <vector>

#include "expect.h"
#include "weigh/logistic_dual.h"
#include "weigh/sparse_products.h"

namespace {

using namespace weigh;

double uniform(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

// Exactly sized heap memory, so that the sanitizer detects out-of-bounds reads.
struct Data {
    Data(Random& random, std::size_t n, std::size_t d, bool valued) : rows(n), width(d), dense(n * d) {
        indptr.push_back(0);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < d; ++j) {
                if (random() % 3 == 0) continue;
                const double x = valued ? 2 * uniform(random) - 1 : 1.0;
                dense[i * d + j] = x;
                indices.push_back(static_cast<std::int32_t>(j));
                if (valued) values.push_back(x);
            }
            indptr.push_back(static_cast<std::int64_t>(indices.size()));
            y.push_back(static_cast<double>(random() % 2));
            order.push_back(static_cast<std::int32_t>(i));
        }
        indices.shrink_to_fit();
        values.shrink_to_fit();
    }
    SparseRows view() const { return {indptr, indices, values}; }

    std::size_t rows, width;
    std::vector<double> dense, values, y;
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices, order;
};

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(a)); }

void products_equal_dense_sums(const Data& data, std::size_t threads) {
    const std::size_t n = data.rows, d = data.width;
    std::vector<double> w(d * 2), r(n * 2), s(n), scores(n * 2), sums(d * 2), squares(d), gram(d * d);
    for (std::size_t j = 0; j < w.size(); ++j) w[j] = static_cast<double>(j % 7) - 3;
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = static_cast<double>(i % 5) - 2;
    for (std::size_t i = 0; i < n; ++i) s[i] = static_cast<double>(i % 3);
    std::vector<std::int32_t> places(d);
    for (std::size_t j = 0; j < d; ++j) places[j] = static_cast<std::int32_t>(j);
    times(data.view(), w, 2, threads, scores);
    transposed_times(data.view(), r, 2, threads, sums);
    squared_times(data.view(), s, threads, squares);
    weighted_gram(data.view(), places, d, s, threads, gram);
    const SparseColumns columns = select_columns(data.view(), places, d, threads);
    bool holds = columns.indptr.back() == static_cast<std::int64_t>(data.indices.size());
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < 2; ++c) {
            double sum = 0;
            for (std::size_t j = 0; j < d; ++j) sum += data.dense[i * d + j] * w[j * 2 + c];
            holds = holds && near(sum, scores[i * 2 + c]);
        }
    for (std::size_t j = 0; j < d; ++j) {
        double sum = 0, square = 0, column = 0;
        for (std::size_t i = 0; i < n; ++i) {
            sum += data.dense[i * d + j] * r[i * 2 + 1];
            square += s[i] * data.dense[i * d + j] * data.dense[i * d + j];
            column += data.dense[i * d + j];
        }
        for (auto e = columns.indptr[j]; e < columns.indptr[j + 1]; ++e) column -= columns.values[e];
        holds = holds && near(sum, sums[j * 2 + 1]) && near(square, squares[j]) && near(square, gram[j * d + j]);
        holds = holds && near(column, 0);
    }
    EXPECT(holds);
}

void dual_ascent_reaches_the_optimum(const Data& data, std::size_t threads, bool with_bias) {
    const std::size_t n = data.rows, d = data.width;
    LogisticDual dual(data.view(), d, data.y, {}, {}, {0.5, with_bias ? 0.05 : 0.0, 2, threads});
    double apart = 0;
    for (int run_pass = 0; run_pass < 300; ++run_pass) {
        apart = dual.run_pass(data.order);
        if (with_bias && run_pass % 3 == 2) dual.recentre_bias_prior(1);
    }
    EXPECT(apart < 1e-9);
    std::vector<double> alphas(n), slopes(d + 1);
    dual.signed_alphas(alphas);
    for (std::size_t i = 0; i < n; ++i) {
        double score = dual.bias();
        for (std::size_t j = 0; j < d; ++j) score += data.dense[i * d + j] * dual.weights()[j];
        const double slope = 1 / (1 + std::exp(-score)) - data.y[i];
        for (std::size_t j = 0; j < d; ++j) slopes[j] += data.dense[i * d + j] * slope;
        slopes[d] += slope;
    }
    bool flat = !with_bias || std::abs(slopes[d]) < 1e-3;
    for (std::size_t j = 0; j < d; ++j) flat = flat && std::abs(slopes[j] + dual.weights()[j] / 0.5) < 1e-3;
    EXPECT(flat);
}

void empty_input_is_accepted() {
    Random random(1);
    const Data none(random, 0, 3, true);
    LogisticDual dual(none.view(), 3, none.y, {}, {}, {1, 0, 4, 2});
    EXPECT(dual.run_pass(none.order) == 0);
}

}  // namespace

int main() {
    Random random(7);
    for (const bool valued : {true, false}) {
        const Data small(random, 60, 5, valued), long_one(random, 30'000, 12, valued);
        for (const std::size_t threads : {1, 2, 3}) {
            products_equal_dense_sums(small, threads);
            products_equal_dense_sums(long_one, threads);
            dual_ascent_reaches_the_optimum(small, threads, false);
            dual_ascent_reaches_the_optimum(small, threads, true);
        }
    }
    empty_input_is_accepted();
    return report();
}
