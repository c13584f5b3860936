// Tests of SGD steps against dense reference steps, and of the scalar equations.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "expect.h"
#include "weigh/sgd.h"
#include "weigh/implicit_update.h"

namespace {

using namespace weigh;

double uniform(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

double share_of(double u) { return 1 / (1 + std::exp(u)); }

bool is_close(double found, double expected, double size = 1) {
    return std::abs(found - expected) <= 1e-9 * (size + std::abs(expected));
}

// Exactly sized heap memory, so that the sanitizer detects out-of-bounds reads.
struct Data {
    Data(Random& random, std::size_t rows, std::size_t width, std::size_t labels, bool valued) {
        for (std::size_t i = 0; i < rows; ++i) {
            dense.emplace_back(width + 1);
            dense.back()[0] = 1;
            for (std::size_t f = 0; f < width; ++f) {
                if (random() % 2) continue;
                const double value = valued ? static_cast<double>(random() % 5) - 2 : 1;
                dense.back()[f + 1] = value;
                indices.push_back(static_cast<std::int32_t>(f));
                if (valued) values.push_back(value);
            }
            indptr.push_back(static_cast<std::int64_t>(indices.size()));
            codes.push_back(static_cast<std::int32_t>(random() % labels));
            weights.push_back(0.5 + uniform(random));
        }
        indices.shrink_to_fit();
        values.shrink_to_fit();
        append(examples, {indptr, indices, values}, codes, weights);
        order.resize(rows);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
    }

    std::vector<std::vector<double>> dense;
    std::vector<std::int64_t> indptr{0}, order;
    std::vector<std::int32_t> indices, codes;
    std::vector<double> values, weights;
    std::vector<Example> examples;
};

using Weights = std::vector<std::vector<double>>;  // by column: the bias, then one weight per feature

// The residuals of an example, one per column.
std::vector<double> residuals(const Weights& w, const std::vector<double>& x, std::size_t label) {
    std::vector<double> scores, shares(w.size());
    for (const auto& column : w) scores.push_back(std::inner_product(x.begin(), x.end(), column.begin(), 0.0));
    if (w.size() == 1) return {label ? share_of(scores[0]) : -share_of(-scores[0])};
    softmax(scores, shares);
    for (std::size_t k = 0; k < shares.size(); ++k) shares[k] = (k == label ? 1.0 : 0.0) - shares[k];
    return shares;
}

void binary_updates_solve_their_equation() {
    Random random(1);
    for (int k = 0; k < 20000; ++k) {
        const double size = std::pow(10.0, 12 * uniform(random) - 4), a = size * (2 * uniform(random) - 1);
        const double c = k % 10 ? std::pow(10.0, 16 * uniform(random) - 4) : 0;
        const double p = solve_binary_update(a, c);
        EXPECT(p >= 0 && p <= 1);
        EXPECT(std::abs(share_of(a + c * p) - p) <= 1e-9 * (1 + c * p * (1 - p)) * (1 + std::abs(a) * p));
    }
}

void multiclass_updates_solve_their_equation() {
    Random random(2);
    for (int round = 0; round < 5000; ++round) {
        const std::size_t n = 2 + random() % 6, label = random() % n;
        const double c = std::pow(10.0, 16 * uniform(random) - 4), size = std::pow(10.0, 5 * uniform(random) - 2);
        std::vector<double> a(n), residuals(n), z(n), shares(n);
        for (double& each : a) each = size * (2 * uniform(random) - 1);
        solve_multiclass_update(a, label, c, residuals);
        for (std::size_t k = 0; k < n; ++k) z[k] = a[k] + c * residuals[k];
        softmax(z, shares);
        for (std::size_t k = 0; k < n; ++k) {
            // An error of the probabilities is multiplied by c in the scores.
            const double share = k == label ? 1 - residuals[k] : -residuals[k];
            EXPECT(std::abs(shares[k] - share) <= 1e-9 * (1 + c * share * (1 - share)));
        }
    }
}

void two_columns_equal_one_with_twice_the_step() {
    Random random(3);
    for (int round = 0; round < 1000; ++round) {
        const double a = 20 * uniform(random) - 10, c = round ? std::pow(10.0, 6 * uniform(random) - 3) : 0;
        std::vector<double> residuals(2);
        solve_multiclass_update(std::vector<double>{0, a}, 1, c, residuals);
        EXPECT(is_close(residuals[1], solve_binary_update(a, 2 * c)));
        EXPECT(is_close(residuals[0], -residuals[1]));
    }
}

void an_explicit_pass_equals_the_reference(std::size_t columns, bool bias, double l2) {
    Random random(4);
    const std::size_t n = 30, width = 5;
    const Data data(random, n, width, std::max<std::size_t>(columns, 2), columns != 1);
    const SgdSettings settings{0.3, l2, bias, columns};
    std::vector<double> table((width + 1) * columns);
    SgdState state{table};
    Weights w(columns, std::vector<double>(width + 1));
    for (int pass = 0; pass < 3; ++pass) {
        sgd_pass(data.examples, data.order, settings, {static_cast<std::int64_t>(n), false}, state);
        for (const auto i : data.order) {
            auto x = data.dense[static_cast<std::size_t>(i)];
            x[0] = bias;
            const auto lack = residuals(w, x, static_cast<std::size_t>(data.codes[static_cast<std::size_t>(i)]));
            for (std::size_t k = 0; k < columns; ++k)
                for (std::size_t f = 0; f <= width; ++f)
                    w[k][f] += 0.3 * (data.weights[static_cast<std::size_t>(i)] * lack[k] * x[f] -
                                      (f ? l2 * w[k][f] / static_cast<double>(n) : 0.0));
        }
    }
    for (std::size_t k = 0; k < columns; ++k)
        for (std::size_t f = 0; f <= width; ++f)
            EXPECT(is_close(table[f * columns + k] * (f ? state.scale : 1), w[k][f]));
}

// After an implicit step, the weights must satisfy the equation of the step with the residuals there.
void an_implicit_step_satisfies_its_equation(std::size_t columns, bool bias, double l2, bool grows) {
    Random random(5);
    const std::size_t n = 40, width = 6, stride = 2 + 2 * columns;
    const Data data(random, n, width, std::max<std::size_t>(columns, 2), true);
    const SgdSettings settings{4, l2, bias, columns};
    std::vector<double> table((width + 1) * stride), clocks(width + 1), squares(width + 1);
    Weights sums(columns, std::vector<double>(width + 1));
    ImplicitSgdState state{table};
    double counted = 0;
    for (std::size_t i = 0; i < n; ++i) {
        auto x = data.dense[i];
        x[0] = bias;
        const auto before = table;
        const std::int64_t rows = grows ? static_cast<std::int64_t>(i) : static_cast<std::int64_t>(n);
        implicit_sgd_pass(std::span(data.examples).subspan(i, 1), {}, settings, {rows, grows}, state);
        Weights now(columns, std::vector<double>(width + 1));
        for (std::size_t k = 0; k < columns; ++k)
            for (std::size_t f = 0; f <= width; ++f) now[k][f] = table[f * stride + 2 + k];
        const auto lack = residuals(now, x, static_cast<std::size_t>(data.codes[i]));
        const double t = static_cast<double>(i + 1), shared = grows ? t : static_cast<double>(n);
        counted += t;
        for (std::size_t f = 0; f <= width; ++f) {
            if (x[f] != 0) clocks[f] += 1, squares[f] += data.weights[i] * x[f] * x[f];
            EXPECT(table[f * stride] == clocks[f] && is_close(table[f * stride + 1], squares[f]));
            const double step = clocks[f] ? 4 * std::sqrt(clocks[f]) / squares[f] : 0;
            const double share = f && clocks[f] ? l2 * t / shared / clocks[f] : 0;
            for (std::size_t k = 0; k < columns; ++k) {
                const double old = before[f * stride + 2 + k];
                const double expected =
                    x[f] == 0 ? old : (old + step * data.weights[i] * lack[k] * x[f]) / (1 + step * share);
                EXPECT(is_close(now[k][f], expected));
                sums[k][f] += t * now[k][f];
                EXPECT(is_close(now[k][f] - table[f * stride + 2 + columns + k] / counted, sums[k][f] / counted));
            }
        }
    }
    EXPECT(state.steps == static_cast<std::int64_t>(n));
}

}  // namespace

int main() {
    binary_updates_solve_their_equation();
    multiclass_updates_solve_their_equation();
    two_columns_equal_one_with_twice_the_step();
    for (const std::size_t columns : {1, 2, 4})
        for (const bool bias : {true, false})
            // The last penalties flip the sign of the weights or shrink them to zero in one step.
            for (const double l2 : {0.0, 3.0, 60.0, 100.0, 300.0}) {
                an_explicit_pass_equals_the_reference(columns, bias, l2);
                for (const bool grows : {true, false})
                    an_implicit_step_satisfies_its_equation(columns, bias, l2, grows);
            }
    return report();
}
