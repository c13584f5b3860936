#include "weigh/perceptron.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "weigh/examples.h"

namespace weigh {
namespace {

class PerceptronPass {
public:
    PerceptronPass(const PerceptronSettings& settings, PerceptronState& state, std::vector<Update>* record)
        : settings_(settings),
          state_(state),
          record_(record),
          columns_(settings.columns),
          stride_(columns_ * (settings.average == Average::none ? 1 : 2)),
          intercept_(state.table.data()),
          weights_(intercept_ + stride_),
          scores_(columns_) {}

    PassResult run(std::span<const Example> examples, std::span<const std::int64_t> order) {
        for_each_example(examples, order, [&](const Example& example, const Example&, std::size_t k) {
            position_ = static_cast<std::int64_t>(k);
            learn(example);
        });
        return result_;
    }

private:
    void learn(const Example& example) {
        ++state_.examples;
        score(example);
        bool is_wrong;
        if (columns_ == 1) is_wrong = learn_binary(example);
        else if (settings_.one_vs_rest) is_wrong = learn_one_vs_rest(example);
        else is_wrong = learn_jointly(example);
        result_.mistakes += is_wrong;
    }

    void score(const Example& example) {
        if (columns_ == 1) {
            scores_[0] = example.values ? score_one<true>(example) : score_one<false>(example);
        } else {
            for (std::size_t c = 0; c < columns_; ++c) scores_[c] = intercept_[c];
            example.values ? score_many<true>(example) : score_many<false>(example);
        }
        if (state_.track_radius)
            state_.radius2 = std::max(state_.radius2, squared_norm(example) + (settings_.has_intercept ? 1.0 : 0.0));
    }

    static double squared_norm(const Example& example) {
        if (!example.values) return static_cast<double>(example.size);
        double square = 0;
        for (std::uint32_t j = 0; j < example.size; ++j) square += example.values[j] * example.values[j];
        return square;
    }

    template <bool kHasValues>
    double score_one(const Example& example) const {
        double sum = intercept_[0];
        for (std::uint32_t j = 0; j < example.size; ++j) {
            const double x = kHasValues ? example.values[j] : 1.0;
            sum += x * weights_[static_cast<std::size_t>(example.indices[j]) * stride_];
        }
        return sum;
    }

    template <bool kHasValues>
    void score_many(const Example& example) {
        constexpr std::uint32_t kAhead = 16;
        double* scores = scores_.data();
        for (std::uint32_t j = 0; j < example.size; ++j) {
            if (j + kAhead < example.size) {
                const double* ahead = weights_ + static_cast<std::size_t>(example.indices[j + kAhead]) * stride_;
                for (std::size_t c = 0; c < columns_; c += 8) __builtin_prefetch(ahead + c);
            }
            const double x = kHasValues ? example.values[j] : 1.0;
            const double* row = weights_ + static_cast<std::size_t>(example.indices[j]) * stride_;
            for (std::size_t c = 0; c < columns_; ++c) scores[c] += x * row[c];
        }
    }

    double margin(std::size_t column) const {
        if (!settings_.relative_margin) return settings_.margin;
        double length2 = state_.squared_norms[column];
        if (!settings_.one_vs_rest) length2 = std::reduce(state_.squared_norms.begin(), state_.squared_norms.end());
        return settings_.margin * std::sqrt(std::max(0.0, length2));
    }

    // Binary: a score ≥ 0 predicts the second class.
    bool learn_binary(const Example& example) {
        const bool is_second = example.label != 0, predicted = scores_[0] >= 0;
        const double score_margin = is_second ? scores_[0] : -scores_[0];
        result_.min_margin = std::min(result_.min_margin, score_margin);
        const bool is_wrong = predicted != is_second;
        if (is_wrong || (settings_.margin > 0 && score_margin < margin(0)))
            update(example, is_second ? 0 : -1, is_second ? -1 : 0);
        return is_wrong;
    }

    // Multiclass, trained jointly; the first of equal scores wins.
    bool learn_jointly(const Example& example) {
        const auto truth = static_cast<std::size_t>(example.label);
        std::size_t rival = truth == 0 ? 1 : 0;
        for (std::size_t c = rival + 1; c < columns_; ++c)
            if (c != truth && scores_[c] > scores_[rival]) rival = c;
        const double score_margin = scores_[truth] - scores_[rival];
        result_.min_margin = std::min(result_.min_margin, score_margin);
        const bool is_wrong = score_margin < 0 || (score_margin == 0 && rival < truth);
        if (is_wrong || (settings_.margin > 0 && score_margin < margin(truth)))
            update(example, static_cast<std::int32_t>(truth), static_cast<std::int32_t>(rival));
        return is_wrong;
    }

    // One binary perceptron per class.
    bool learn_one_vs_rest(const Example& example) {
        bool is_wrong = false;
        for (std::size_t c = 0; c < columns_; ++c) {
            const auto column = static_cast<std::int32_t>(c);
            const bool is_class = example.label == column, predicted = scores_[c] >= 0;
            const double score_margin = is_class ? scores_[c] : -scores_[c];
            result_.min_margin = std::min(result_.min_margin, score_margin);
            is_wrong = is_wrong || predicted != is_class;
            if (predicted != is_class || (settings_.margin > 0 && score_margin < margin(c)))
                update(example, is_class ? column : -1, is_class ? -1 : column);
        }
        return is_wrong;
    }

    void update(const Example& example, std::int32_t plus, std::int32_t minus) {
        const double amount = settings_.rate * example.weight;
        ++result_.updates;
        if (settings_.relative_margin) update_norms(example, plus, minus, amount);
        if (plus >= 0) add_to_column(example, static_cast<std::size_t>(plus), amount);
        if (minus >= 0) add_to_column(example, static_cast<std::size_t>(minus), -amount);
        // A joint update changes the hypothesis of all columns.
        if (columns_ > 1 && !settings_.one_vs_rest) {
            for (std::int64_t& count : state_.updates) ++count;
        } else {
            ++state_.updates[static_cast<std::size_t>(std::max(plus, minus))];
        }
        if (record_) record_->push_back({position_, plus, minus, amount});
    }

    void add_to_column(const Example& example, std::size_t column, double amount) {
        const std::int64_t steps =
            settings_.average == Average::examples ? state_.examples - 1 : state_.updates[column];
        const double step_weighted = amount * static_cast<double>(steps);
        const std::size_t sum_offset = settings_.average == Average::none ? 0 : columns_;
        if (settings_.has_intercept) add(intercept_ + column, 1.0, amount, step_weighted, sum_offset);
        for (std::uint32_t j = 0; j < example.size; ++j) {
            double* cell = weights_ + static_cast<std::size_t>(example.indices[j]) * stride_ + column;
            add(cell, example.values ? example.values[j] : 1.0, amount, step_weighted, sum_offset);
        }
    }

    static void add(double* cell, double x, double amount, double step_weighted, std::size_t sum_offset) {
        cell[0] += amount * x;
        if (sum_offset != 0) cell[sum_offset] += step_weighted * x;
    }

    // Update ‖w + a x‖² = ‖w‖² + 2 a w·x + a² ‖x‖² for each column that changes.
    void update_norms(const Example& example, std::int32_t plus, std::int32_t minus, double amount) {
        const double square = squared_norm(example);
        const auto one = [&](std::int32_t column, double by) {
            if (column < 0) return;
            const auto c = static_cast<std::size_t>(column);
            state_.squared_norms[c] += 2 * by * (scores_[c] - intercept_[c]) + by * by * square;
        };
        one(plus, amount);
        one(minus, -amount);
    }

    const PerceptronSettings& settings_;
    PerceptronState& state_;
    std::vector<Update>* record_;
    std::size_t columns_, stride_;
    double* intercept_;
    double* weights_;
    std::vector<double> scores_;
    std::int64_t position_ = 0;
    PassResult result_;
};

}  // namespace

PassResult perceptron_pass(std::span<const Example> examples, std::span<const std::int64_t> order,
                           const PerceptronSettings& settings, PerceptronState& state, std::vector<Update>* record) {
    return PerceptronPass(settings, state, record).run(examples, order);
}

void final_weights(std::span<const double> table, const PerceptronSettings& settings,
                   std::span<const std::int64_t> rows, std::span<const std::int64_t> steps, std::span<double> out) {
    const std::size_t columns = settings.columns;
    const bool is_averaged = settings.average != Average::none;
    double* to = out.data();
    for (const std::int64_t row : rows) {
        const double* cells = table.data() + static_cast<std::size_t>(row) * columns * (is_averaged ? 2 : 1);
        for (std::size_t c = 0; c < columns; ++c) {
            const auto n = static_cast<double>(std::max<std::int64_t>(1, steps[c]));
            *to++ = is_averaged ? n * cells[c] - cells[columns + c] : cells[c];
        }
    }
}

}  // namespace weigh
