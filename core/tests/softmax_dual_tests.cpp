// Tests of dual coordinate ascent for several classes: at the optimum the gradient of the primal is zero.
#include "weigh/softmax_dual.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "expect.h"

namespace {

using namespace weigh;

double uniform(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

// Exactly sized heap memory, so that the sanitizer detects out-of-bounds reads.
struct Data {
    Data(Random& random, std::size_t n, std::size_t d, std::size_t k, bool valued) : width(d), classes(k), dense(n * d) {
        indptr.push_back(0);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < d; ++j) {
                if (random() % 3 == 0) continue;
                dense[i * d + j] = valued ? 2 * uniform(random) - 1 : 1.0;
                indices.push_back(static_cast<std::int32_t>(j));
                if (valued) values.push_back(dense[i * d + j]);
            }
            indptr.push_back(static_cast<std::int64_t>(indices.size()));
            y.push_back(static_cast<std::int32_t>(random() % k));
            order.push_back(static_cast<std::int32_t>(i));
            weights.push_back(static_cast<double>(random() % 3));
            for (std::size_t c = 0; c < k; ++c) offset.push_back(uniform(random));
        }
        indices.shrink_to_fit();
        values.shrink_to_fit();
    }
    SparseRows view() const { return {indptr, indices, values}; }

    std::size_t width, classes;
    std::vector<double> dense, values, weights, offset;
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices, order, y;
};

void dual_ascent_reaches_the_optimum(const Data& data, std::size_t threads, double variance, bool with_bias) {
    const std::size_t n = data.y.size(), d = data.width, k = data.classes;
    SoftmaxDual dual(data.view(), d, k, data.y, data.weights, data.offset,
                     {variance, with_bias ? 0.05 : 0.0, 2, threads});
    // Every pass starts threads, which is slow under sanitizers, so passes end at the optimum. With a bias its
    // prior moves on every third pass, and a small gap says nothing about that.
    const int min_passes = with_bias ? 60 : 1, max_passes = 400;
    double gap = 1;
    for (int pass = 0; pass < min_passes || (gap > 1e-9 && pass < max_passes); ++pass) {
        gap = dual.run_pass(data.order);
        if (with_bias && pass % 3 == 2) dual.recentre_bias_prior(3);
    }
    EXPECT(gap < 1e-8);
    std::vector<double> w(d * k), b(k), slopes((d + 1) * k), p(n * k), gaps(n);
    dual.weights(w);
    dual.bias(b);
    dual.probabilities(p);
    dual.gaps(gaps);
    double sum_of_gaps = 0;
    for (std::size_t i = 0; i < n; ++i) {
        sum_of_gaps += gaps[i];
        std::vector<double> z(b);
        for (std::size_t c = 0; c < k; ++c) {
            z[c] += data.offset[i * k + c];
            for (std::size_t j = 0; j < d; ++j) z[c] += data.dense[i * d + j] * w[j * k + c];
        }
        double sum = 0;
        for (const double score : z) sum += std::exp(score);
        for (std::size_t c = 0; c < k; ++c) {
            const double slope =
                data.weights[i] * (std::exp(z[c]) / sum - (data.y[i] == static_cast<std::int32_t>(c) ? 1 : 0));
            for (std::size_t j = 0; j < d; ++j) slopes[j * k + c] += data.dense[i * d + j] * slope;
            slopes[d * k + c] += slope;
        }
    }
    EXPECT(std::abs(sum_of_gaps - gap) < 1e-12);
    bool flat = true;
    for (std::size_t c = 0; c < k; ++c) {
        flat = flat && (!with_bias || std::abs(slopes[d * k + c]) < 1e-3);
        for (std::size_t j = 0; j < d; ++j)
            flat = flat && std::abs(slopes[j * k + c] + w[j * k + c] / variance) < 1e-3;
    }
    EXPECT(flat);
}

void empty_input_is_accepted() {
    Random random(1);
    const Data none(random, 0, 3, 4, true);
    SoftmaxDual dual(none.view(), 3, 4, none.y, {}, {}, {1, 0, 4, 2});
    EXPECT(dual.run_pass(none.order) == 0);
}

}  // namespace

int main() {
    Random random(7);
    for (const bool valued : {true, false})
        for (const std::size_t classes : {3, 4, 9}) {
            const Data data(random, 60, 5, classes, valued);
            for (const std::size_t threads : {1, 2, 3})
                for (const bool with_bias : {false, true}) {
                    dual_ascent_reaches_the_optimum(data, threads, 0.5, with_bias);
                    dual_ascent_reaches_the_optimum(data, threads, 0.05, with_bias);
                }
        }
    empty_input_is_accepted();
    return report();
}
