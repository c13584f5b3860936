// Tests of the voted perceptron against all of its hypotheses, each one evaluated by itself.
#include <algorithm>
#include <vector>

#include "expect.h"
#include "weigh/perceptron.h"

namespace {

using namespace weigh;

std::size_t below(Random& random, std::size_t bound) { return random() % bound; }

struct Rows {
    Rows(Random& random, std::size_t rows, std::size_t width, bool valued) : dense(rows, std::vector<double>(width)) {
        for (auto& row : dense) {
            for (std::size_t f = 0; f < width; ++f) {
                if (below(random, 2)) continue;
                row[f] = valued ? static_cast<double>(below(random, 7)) - 3 : 1;
                indices.push_back(static_cast<std::int32_t>(f));
                if (valued) values.push_back(row[f]);
            }
            indptr.push_back(static_cast<std::int64_t>(indices.size()));
        }
        indices.shrink_to_fit();
        values.shrink_to_fit();
    }
    SparseRows view() const { return {indptr, indices, values}; }

    std::vector<std::vector<double>> dense;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<double> values;
};

struct RandomHistory {
    RandomHistory(Random& random, std::size_t updates, std::size_t width, std::size_t columns)
        : rows(random, updates, width, below(random, 2)),
          columns(columns),
          bias(below(random, 3) != 0),
          one_vs_rest(columns > 1 && below(random, 2)) {
        const std::size_t none = columns == 1 || one_vs_rest;  // joint updates change two columns
        survival_counts.push_back(static_cast<std::int64_t>(below(random, 3)));
        for (std::size_t k = 0; k < updates; ++k) {
            for (auto* side : {&plus, &minus})
                side->push_back(static_cast<std::int32_t>(below(random, columns + none)) - static_cast<int>(none));
            amounts.push_back(static_cast<double>(1 + below(random, 3)));
            survival_counts.push_back(static_cast<std::int64_t>(below(random, 4)));
        }
    }
    UpdateHistory run() const {
        return {rows.view(), plus, minus, amounts, survival_counts, bias, one_vs_rest, columns};
    }

    Rows rows;
    std::size_t columns;
    bool bias, one_vs_rest;
    std::vector<std::int32_t> plus, minus;
    std::vector<double> amounts;
    std::vector<std::int64_t> survival_counts;
};

// The weights after a number of updates, by column: the bias, then one per feature.
std::vector<std::vector<double>> hypothesis(const RandomHistory& history, std::size_t updates, std::size_t width) {
    std::vector<std::vector<double>> w(history.columns, std::vector<double>(width + 1));
    for (std::size_t k = 0; k < updates; ++k) {
        const auto change = [&](std::int32_t column, double amount) {
            if (column < 0) return;
            auto& own = w[static_cast<std::size_t>(column)];
            if (history.bias) own[0] += amount;
            for (std::size_t f = 0; f < width; ++f) own[f + 1] += amount * history.rows.dense[k][f];
        };
        change(history.plus[k], history.amounts[k]);
        change(history.minus[k], -history.amounts[k]);
    }
    return w;
}

void vote(const RandomHistory& history, const std::vector<double>& scores, double survival_counts, double* votes) {
    if (history.columns == 1 || history.one_vs_rest) {
        for (std::size_t c = 0; c < scores.size(); ++c) votes[c] += scores[c] >= 0 ? survival_counts : -survival_counts;
    } else {
        votes[std::max_element(scores.begin(), scores.end()) - scores.begin()] += survival_counts;
    }
}

void votes_equal_those_of_all_hypotheses(Random& random) {
    const std::size_t width = below(random, 7), columns = std::vector<std::size_t>{1, 1, 2, 4}[below(random, 4)];
    const RandomHistory history(random, below(random, 9), width, columns);
    const Rows queries(random, below(random, 6), width, below(random, 2));
    std::vector<double> expected(queries.dense.size() * columns, 0.5), found = expected;
    for (std::size_t k = 0; k < history.survival_counts.size(); ++k) {
        const auto w = hypothesis(history, k, width);
        for (std::size_t i = 0; i < queries.dense.size(); ++i) {
            std::vector<double> scores;
            for (const auto& own : w) {
                scores.push_back(own[0]);
                for (std::size_t f = 0; f < width; ++f) scores.back() += own[f + 1] * queries.dense[i][f];
            }
            vote(history, scores, static_cast<double>(history.survival_counts[k]), expected.data() + i * columns);
        }
    }
    add_perceptron_votes(history.run(), queries.view(), width, found);
    EXPECT(found == expected);
}

// Zero weights predict the second of two classes, and the first of several.
void without_updates_votes_follow_the_tie_rule() {
    const std::vector<std::int64_t> survival_counts{5}, none{0}, indptr{0, 0};
    for (const std::size_t columns : {1u, 3u}) {
        UpdateHistory run;
        run.rows = {none, {}, {}};
        run.survival_counts = survival_counts;
        run.columns = columns;
        std::vector<double> votes(columns);
        add_perceptron_votes(run, {indptr, {}, {}}, 0, votes);
        EXPECT(votes[0] == 5 && std::count(votes.begin(), votes.end(), 0.0) == static_cast<int>(columns) - 1);
    }
}

}  // namespace

int main() {
    Random random(1);
    for (int round = 0; round < 5000; ++round) votes_equal_those_of_all_hypotheses(random);
    without_updates_votes_follow_the_tie_rule();
    return report();
}
