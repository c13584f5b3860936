// Tests of perceptron passes against a dense reference, on integers, so that all results are exact.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "expect.h"
#include "weigh/perceptron.h"

namespace {

using namespace weigh;

std::size_t below(Random& random, std::size_t bound) { return random() % bound; }

// Exactly sized heap memory, so that the sanitizer detects out-of-bounds reads.
struct Data {
    Data(Random& random, std::size_t rows, std::size_t width, std::size_t labels, bool valued, bool weighted)
        : width(width), dense(rows, std::vector<double>(width)) {
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t f = 0; f < width; ++f) {
                if (below(random, 2)) continue;
                const double value = valued ? static_cast<double>(below(random, 7)) - 3 : 1;
                dense[i][f] = value;
                indices.push_back(static_cast<std::int32_t>(f));
                if (valued) values.push_back(value);
            }
            indptr.push_back(static_cast<std::int64_t>(indices.size()));
            codes.push_back(static_cast<std::int32_t>(below(random, labels)));
            if (weighted) weights.push_back(static_cast<double>(1 + below(random, 3)));
        }
        indices.shrink_to_fit();
        values.shrink_to_fit();
        append(examples, {indptr, indices, values}, codes, weights);
    }
    double weight(std::size_t i) const { return weights.empty() ? 1 : weights[i]; }

    std::size_t width;
    std::vector<std::vector<double>> dense;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices, codes;
    std::vector<double> values, weights;
    std::vector<Example> examples;
};

using Table = std::vector<std::vector<double>>;  // by column: the intercept, then one weight per feature

double dot(const std::vector<double>& w, const std::vector<double>& x) {
    return std::inner_product(x.begin(), x.end(), w.begin() + 1, w[0]);
}

// Reference implementation: every hypothesis is a full vector, and every average a sum of them.
struct Reference {
    Reference(const PerceptronSettings& settings, std::size_t width)
        : settings(settings),
          w(settings.columns, std::vector<double>(width + 1)),
          by_example(w),
          by_update(w),
          updates(settings.columns) {}

    void learn(const Data& data, std::size_t i) {
        x = &data.dense[i];
        amount = settings.rate * data.weight(i);
        label = static_cast<std::size_t>(data.codes[i]);
        const double intercept2 = settings.has_intercept ? 1.0 : 0.0;
        radius2 = std::max(radius2, std::inner_product(x->begin(), x->end(), x->begin(), intercept2));
        ++examples;
        mistakes += settings.columns == 1  ? learn_binary()
                    : settings.one_vs_rest ? learn_one_vs_rest()
                                           : learn_jointly();
        add(by_example, w);
        ++place;
    }

    double length2(std::size_t c) const {
        return std::inner_product(w[c].begin() + 1, w[c].end(), w[c].begin() + 1, 0.0);
    }

    bool is_thin(double lead, std::size_t column) const {
        double length = length2(column);
        for (std::size_t c = 0; c < w.size(); ++c)
            if (c != column && !settings.one_vs_rest) length += length2(c);
        return settings.margin > 0 && lead < settings.margin * (settings.relative_margin ? std::sqrt(length) : 1);
    }

    bool learn_binary() {
        const double score = dot(w[0], *x);
        const bool wrong = (score >= 0) != (label == 1);
        const double lead = label == 1 ? score : -score;
        min_margin = std::min(min_margin, lead);
        if (wrong || is_thin(lead, 0)) label == 1 ? update(0, -1) : update(-1, 0);
        return wrong;
    }

    bool learn_jointly() {
        std::vector<double> scores;
        for (const auto& column : w) scores.push_back(dot(column, *x));
        const auto said = static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
        const double truth = scores[label];
        scores[label] = -std::numeric_limits<double>::infinity();
        const auto rival = std::max_element(scores.begin(), scores.end()) - scores.begin();
        const double lead = truth - scores[static_cast<std::size_t>(rival)];
        min_margin = std::min(min_margin, lead);
        if (said != label || is_thin(lead, label)) update(static_cast<int>(label), static_cast<int>(rival));
        return said != label;
    }

    bool learn_one_vs_rest() {
        bool any = false;
        for (std::size_t c = 0; c < w.size(); ++c) {
            const double score = dot(w[c], *x), lead = c == label ? score : -score;
            const bool wrong = (score >= 0) != (c == label);
            min_margin = std::min(min_margin, lead);
            any = any || wrong;
            const int column = static_cast<int>(c);
            if (wrong || is_thin(lead, c)) c == label ? update(column, -1) : update(-1, column);
        }
        return any;
    }

    void update(int plus, int minus) {
        for (const auto& [column, by] : {std::pair(plus, amount), std::pair(minus, -amount)}) {
            if (column < 0) continue;
            auto& own = w[static_cast<std::size_t>(column)];
            if (settings.has_intercept) own[0] += by;
            for (std::size_t f = 0; f < x->size(); ++f) own[f + 1] += by * (*x)[f];
        }
        record.push_back({place, plus, minus, amount});
        for (std::size_t c = 0; c < w.size(); ++c) {
            const bool own = static_cast<int>(c) == plus || static_cast<int>(c) == minus;
            if (settings.one_vs_rest && !own) continue;
            ++updates[c];
            for (std::size_t f = 0; f < w[c].size(); ++f) by_update[c][f] += w[c][f];
        }
    }

    static void add(Table& sums, const Table& more) {
        for (std::size_t c = 0; c < sums.size(); ++c)
            for (std::size_t f = 0; f < sums[c].size(); ++f) sums[c][f] += more[c][f];
    }

    PerceptronSettings settings;
    Table w, by_example, by_update;
    std::vector<std::int64_t> updates;
    std::vector<Update> record;
    std::int64_t examples = 0, mistakes = 0, place = 0;
    double radius2 = 0, min_margin = std::numeric_limits<double>::infinity();
    const std::vector<double>* x = nullptr;
    double amount = 0;
    std::size_t label = 0;
};

PerceptronSettings random_settings(Random& random) {
    PerceptronSettings settings;
    settings.columns = std::vector<std::size_t>{1, 1, 2, 3, 9}[below(random, 5)];
    settings.rate = static_cast<double>(1 + below(random, 3));
    settings.margin = static_cast<double>(below(random, 4));
    settings.relative_margin = below(random, 3) == 0;
    settings.one_vs_rest = settings.columns > 1 && below(random, 2);
    settings.has_intercept = below(random, 4) != 0;
    settings.average = std::vector<Average>{Average::none, Average::examples, Average::updates}[below(random, 3)];
    return settings;
}

bool are_equal(const Update& a, const Update& b) {
    return a.position == b.position && a.plus == b.plus && a.minus == b.minus && a.amount == b.amount;
}

void check_table(const PerceptronSettings& settings, const PerceptronState& state, const Reference& reference,
                 std::size_t width) {
    const std::size_t slots = settings.average == Average::none ? 1 : 2, columns = settings.columns;
    for (std::size_t f = 0; f <= width; ++f) {
        for (std::size_t c = 0; c < columns; ++c) {
            const double* cell = state.table.data() + f * slots * columns + c;
            EXPECT(cell[0] == reference.w[c][f]);
            if (settings.average == Average::none) continue;
            const bool examples = settings.average == Average::examples;
            const auto ticks = static_cast<double>(examples ? reference.examples : reference.updates[c]);
            EXPECT(ticks * cell[0] - cell[columns] == (examples ? reference.by_example : reference.by_update)[c][f]);
        }
    }
}

void check_final_weights(const PerceptronSettings& settings, const PerceptronState& state, const Reference& reference,
                         std::size_t width) {
    const std::size_t columns = settings.columns;
    std::vector<std::int64_t> rows(width + 1), ticks(columns, reference.examples);
    std::iota(rows.rbegin(), rows.rend(), 0);
    if (settings.average == Average::updates) ticks = reference.updates;
    std::vector<double> kept(rows.size() * columns);
    final_weights(state.table, settings, rows, ticks, kept);
    for (std::size_t k = 0; k < rows.size(); ++k)
        for (std::size_t c = 0; c < columns; ++c) {
            const auto f = static_cast<std::size_t>(rows[k]);
            const double sum =
                (settings.average == Average::examples ? reference.by_example : reference.by_update)[c][f];
            EXPECT(kept[k * columns + c] == (settings.average == Average::none ? reference.w[c][f] : sum));
        }
}

void passes_equal_the_reference(Random& random) {
    const PerceptronSettings settings = random_settings(random);
    const std::size_t rows = below(random, 30), width = below(random, 12);
    const Data data(random, rows, width, std::max<std::size_t>(2, settings.columns), below(random, 2),
                    below(random, 2));
    const std::size_t slots = settings.average == Average::none ? 1 : 2;
    std::vector<double> table((width + 1) * slots * settings.columns);
    std::vector<std::int64_t> updates(settings.columns), order(rows);
    std::vector<double> squared_norms(settings.columns);
    PerceptronState state;
    state.table = table;
    state.updates = updates;
    state.squared_norms = squared_norms;
    Reference reference(settings, width);
    for (int pass = 0; pass < 3; ++pass) {
        std::iota(order.begin(), order.end(), 0);
        const bool shuffled = pass > 0 && below(random, 2);
        if (shuffled) std::shuffle(order.begin(), order.end(), random);
        reference.record.clear();
        reference.place = 0;
        reference.min_margin = std::numeric_limits<double>::infinity();
        const std::int64_t before = reference.mistakes;
        for (const std::int64_t i : order) reference.learn(data, static_cast<std::size_t>(i));
        std::vector<Update> record;
        const std::span<const std::int64_t> none;
        const PassResult result = perceptron_pass(data.examples, shuffled ? order : none, settings, state, &record);
        EXPECT(result.mistakes == reference.mistakes - before);
        for (std::size_t c = 0; c < settings.columns; ++c)
            EXPECT(!settings.relative_margin || squared_norms[c] == reference.length2(c));
        EXPECT(result.updates == static_cast<std::int64_t>(reference.record.size()) &&
               result.min_margin == reference.min_margin);
        EXPECT(std::equal(record.begin(), record.end(), reference.record.begin(), reference.record.end(), are_equal));
        EXPECT(state.examples == reference.examples && state.radius2 == reference.radius2 &&
               updates == reference.updates);
        check_table(settings, state, reference, width);
        check_final_weights(settings, state, reference, width);
    }
}

void recording_does_not_change_the_result(Random& random) {
    const PerceptronSettings settings = random_settings(random);
    const Data data(random, 20, 5, std::max<std::size_t>(2, settings.columns), true, false);
    const std::size_t slots = settings.average == Average::none ? 1 : 2;
    std::vector<std::vector<double>> tables(2, std::vector<double>(6 * slots * settings.columns));
    std::vector<PassResult> results;
    std::vector<Update> record;
    for (auto& table : tables) {
        std::vector<std::int64_t> updates(settings.columns);
        std::vector<double> squared_norms(settings.columns);
        PerceptronState state;
        state.table = table;
        state.updates = updates;
        state.squared_norms = squared_norms;
        results.push_back(perceptron_pass(data.examples, {}, settings, state, results.empty() ? nullptr : &record));
    }
    EXPECT(tables[0] == tables[1] && results[0].mistakes == results[1].mistakes);
    EXPECT(results[0].updates == static_cast<std::int64_t>(record.size()));
}

// The norm is maintained by increments, which must not drift in long runs.
void the_norm_of_integer_weights_is_exact() {
    Random random(5);
    PerceptronSettings settings;
    settings.margin = 1;
    settings.relative_margin = true;
    const Data data(random, 300, 20, 2, true, false);
    std::vector<double> table(21), squared_norms(1);
    std::vector<std::int64_t> updates(1);
    PerceptronState state;
    state.table = table;
    state.updates = updates;
    state.squared_norms = squared_norms;
    for (int pass = 0; pass < 50; ++pass) perceptron_pass(data.examples, {}, settings, state, nullptr);
    EXPECT(updates[0] > 1000);
    EXPECT(squared_norms[0] == std::inner_product(table.begin() + 1, table.end(), table.begin() + 1, 0.0));
}

// A score of zero predicts the second of two classes, and the first of three.
void ties_follow_the_tie_rule() {
    const std::vector<std::int64_t> indptr{0, 1, 2};
    const std::vector<std::int32_t> indices{0, 0}, labels{1, 0};
    std::vector<Example> examples;
    append(examples, {indptr, indices, {}}, labels, {});
    for (const std::size_t columns : {1u, 3u}) {
        PerceptronSettings settings;
        settings.columns = columns;
        std::vector<double> table(2 * columns), squared_norms(columns);
        std::vector<std::int64_t> updates(columns);
        PerceptronState state;
        state.table = table;
        state.updates = updates;
        state.squared_norms = squared_norms;
        std::vector<Update> record;
        perceptron_pass(examples, {}, settings, state, &record);
        const std::int64_t first = columns == 1 ? 1 : 0;
        EXPECT(!record.empty() && record[0].position == first);
    }
}

}  // namespace

int main() {
    Random random(1);
    for (int round = 0; round < 4000; ++round) passes_equal_the_reference(random);
    for (int round = 0; round < 200; ++round) recording_does_not_change_the_result(random);
    the_norm_of_integer_weights_is_exact();
    ties_follow_the_tie_rule();
    return report();
}
