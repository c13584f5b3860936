// Tests of coordinate descent in exactly sized memory, on one and several threads.
#include <cmath>
#include <vector>

#include "expect.h"
#include "weigh/coordinate_descent.h"

namespace {

using namespace weigh;

struct Rows {
    Rows(Random& random, std::size_t n, std::size_t d) : n(n), d(d), dense(n * d), y(n) {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < d; ++j) {
                if (random() % 3 == 0) continue;
                const double value = static_cast<double>(random() % 9) - 4;
                dense[i * d + j] = value;
                indices.push_back(static_cast<std::int32_t>(j));
                values.push_back(value);
            }
            indptr.push_back(static_cast<std::int64_t>(indices.size()));
            y[i] = static_cast<double>(random() % 9) - 4;
        }
        indices.shrink_to_fit();
        values.shrink_to_fit();
    }

    std::vector<double> pulls(const std::vector<double>& u) const {
        std::vector<double> q(d);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < d; ++j) q[j] += dense[i * d + j] * u[i];
        return q;
    }

    std::vector<double> residual(const std::vector<double>& w) const {
        std::vector<double> u(y);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < d; ++j) u[i] -= dense[i * d + j] * w[j];
        return u;
    }

    std::size_t n, d;
    std::vector<double> dense, y, values;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
};

std::vector<double> solve_gram(const Rows& rows, const Penalties& penalties) {
    std::vector<double> gram(rows.d * rows.d);
    for (std::size_t i = 0; i < rows.n; ++i)
        for (std::size_t a = 0; a < rows.d; ++a)
            for (std::size_t b = 0; b < rows.d; ++b)
                gram[a * rows.d + b] += rows.dense[i * rows.d + a] * rows.dense[i * rows.d + b];
    const auto cross = rows.pulls(rows.y);
    double yy = 0;
    for (const double each : rows.y) yy += each * each;
    std::vector<double> w(rows.d), q(cross);
    const GramDescent descent = coordinate_descent_gram({gram, cross, yy}, penalties, 1e-12 * yy, 20'000, w, q);
    EXPECT(descent.gap <= 1e-12 * yy || yy == 0);
    const auto expected = rows.pulls(rows.residual(w));
    for (std::size_t j = 0; j < rows.d; ++j) EXPECT(std::abs(q[j] - expected[j]) < 1e-8);
    return w;
}

void columns_and_gram_reach_the_same_solution(Random& random, std::size_t n, std::size_t d, std::size_t threads,
                                              bool double_precision) {
    const Rows rows(random, n, d);
    const std::vector<double> l1(d, 2.0), l2(d, 0.5), h(n, 1.0);
    std::vector<std::int32_t> places(d), which(d);
    for (std::size_t j = 0; j < d; ++j) places[j] = which[j] = static_cast<std::int32_t>(j);
    const ColumnSubset columns({rows.indptr, rows.indices, rows.values}, places, d, threads);
    EXPECT(columns.size() == d && columns.rows() == n);
    std::vector<double> w(d);
    for (int round = 0; round < 30; ++round) {
        const auto u = rows.residual(w);
        const auto q = rows.pulls(u);
        coordinate_descent_columns(columns, which, {l1, l2}, h, u, q, {false, double_precision, 0, 100, threads, 3}, w);
    }
    const auto expected = solve_gram(rows, {l1, l2});
    for (std::size_t j = 0; j < d; ++j) EXPECT(std::abs(w[j] - expected[j]) < 1e-5);
}

}  // namespace

int main() {
    Random random(1);
    for (const std::size_t n : {1, 7, 60})
        for (const std::size_t d : {1, 5, 40})
            for (const std::size_t threads : {1, 3})
                for (const bool double_precision : {false, true})
                    columns_and_gram_reach_the_same_solution(random, n, d, threads, double_precision);
    return report();
}
