#include "weigh/online.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "weigh/each_example.h"

namespace weigh {
namespace {

class Pass {
public:
    Pass(const OnlineSettings& settings, OnlineState& state, std::vector<Update>* record)
        : settings_(settings), state_(state), record_(record), columns_(settings.columns),
          stride_(columns_ * (settings.mean == Mean::none ? 1 : 2)), bias_(state.table.data()),
          weights_(bias_ + stride_), scores_(columns_) {}

    PassResult run(std::span<const Example> examples, std::span<const std::int64_t> order) {
        each_example(examples, order, [&](const Example& example, const Example&, std::size_t k) {
            number_ = static_cast<std::int64_t>(k);
            learn(example);
        });
        return result_;
    }

private:
    void learn(const Example& example) {
        ++state_.examples;
        score(example);
        bool wrong;
        if (columns_ == 1) wrong = learn_two(example);
        else if (settings_.separate) wrong = learn_separately(example);
        else wrong = learn_jointly(example);
        result_.mistakes += wrong;
    }

    void score(const Example& example) {
        if (columns_ == 1) {
            scores_[0] = example.values ? score_one<true>(example) : score_one<false>(example);
        } else {
            for (std::size_t c = 0; c < columns_; ++c) scores_[c] = bias_[c];
            example.values ? score_many<true>(example) : score_many<false>(example);
        }
        if (state_.measures) state_.radius2 = std::max(state_.radius2, square_of(example) + (settings_.bias ? 1.0 : 0.0));
    }

    static double square_of(const Example& example) {
        if (!example.values) return static_cast<double>(example.size);
        double square = 0;
        for (std::uint32_t j = 0; j < example.size; ++j) square += example.values[j] * example.values[j];
        return square;
    }

    template <bool kValued>
    double score_one(const Example& example) const {
        double sum = bias_[0];
        for (std::uint32_t j = 0; j < example.size; ++j) {
            const double x = kValued ? example.values[j] : 1.0;
            sum += x * weights_[static_cast<std::size_t>(example.indices[j]) * stride_];
        }
        return sum;
    }

    template <bool kValued>
    void score_many(const Example& example) {
        constexpr std::uint32_t kSoon = 16;
        double* scores = scores_.data();
        for (std::uint32_t j = 0; j < example.size; ++j) {
            if (j + kSoon < example.size) {
                const double* soon = weights_ + static_cast<std::size_t>(example.indices[j + kSoon]) * stride_;
                for (std::size_t c = 0; c < columns_; c += 8) __builtin_prefetch(soon + c);
            }
            const double x = kValued ? example.values[j] : 1.0;
            const double* row = weights_ + static_cast<std::size_t>(example.indices[j]) * stride_;
            for (std::size_t c = 0; c < columns_; ++c) scores[c] += x * row[c];
        }
    }

    double margin(std::size_t column) const {
        if (!settings_.relative) return settings_.margin;
        double length2 = state_.lengths2[column];
        if (!settings_.separate) length2 = std::reduce(state_.lengths2.begin(), state_.lengths2.end());
        return settings_.margin * std::sqrt(std::max(0.0, length2));
    }

    // Two classes: a score of zero or more speaks for the second.
    bool learn_two(const Example& example) {
        const bool second = example.label != 0, said = scores_[0] >= 0;
        const double lead = second ? scores_[0] : -scores_[0];
        result_.least = std::min(result_.least, lead);
        const bool wrong = said != second;
        if (wrong || (settings_.margin > 0 && lead < margin(0)))
            update(example, second ? 0 : -1, second ? -1 : 0);
        return wrong;
    }

    // All classes against each other; of equal scores the first wins.
    bool learn_jointly(const Example& example) {
        const auto truth = static_cast<std::size_t>(example.label);
        std::size_t rival = truth == 0 ? 1 : 0;
        for (std::size_t c = rival + 1; c < columns_; ++c)
            if (c != truth && scores_[c] > scores_[rival]) rival = c;
        const double lead = scores_[truth] - scores_[rival];
        result_.least = std::min(result_.least, lead);
        const bool wrong = lead < 0 || (lead == 0 && rival < truth);
        if (wrong || (settings_.margin > 0 && lead < margin(truth)))
            update(example, static_cast<std::int32_t>(truth), static_cast<std::int32_t>(rival));
        return wrong;
    }

    // Every class by itself: is it this one, or any other?
    bool learn_separately(const Example& example) {
        bool wrong = false;
        for (std::size_t c = 0; c < columns_; ++c) {
            const auto column = static_cast<std::int32_t>(c);
            const bool own = example.label == column, said = scores_[c] >= 0;
            const double lead = own ? scores_[c] : -scores_[c];
            result_.least = std::min(result_.least, lead);
            wrong = wrong || said != own;
            if (said != own || (settings_.margin > 0 && lead < margin(c)))
                update(example, own ? column : -1, own ? -1 : column);
        }
        return wrong;
    }

    void update(const Example& example, std::int32_t plus, std::int32_t minus) {
        const double amount = settings_.rate * example.weight;
        ++result_.updates;
        if (settings_.relative) lengthen(example, plus, minus, amount);
        if (plus >= 0) change(example, static_cast<std::size_t>(plus), amount);
        if (minus >= 0) change(example, static_cast<std::size_t>(minus), -amount);
        // Classes against each other are one hypothesis, which is new in all its columns.
        if (columns_ > 1 && !settings_.separate) {
            for (std::int64_t& count : state_.updates) ++count;
        } else {
            ++state_.updates[static_cast<std::size_t>(std::max(plus, minus))];
        }
        if (record_) record_->push_back({number_, plus, minus, amount});
    }

    void change(const Example& example, std::size_t column, double amount) {
        const std::int64_t ticks =
            settings_.mean == Mean::examples ? state_.examples - 1 : state_.updates[column];
        const double late = amount * static_cast<double>(ticks);
        const std::size_t sums = settings_.mean == Mean::none ? 0 : columns_;
        if (settings_.bias) add(bias_ + column, 1.0, amount, late, sums);
        for (std::uint32_t j = 0; j < example.size; ++j) {
            double* cell = weights_ + static_cast<std::size_t>(example.indices[j]) * stride_ + column;
            add(cell, example.values ? example.values[j] : 1.0, amount, late, sums);
        }
    }

    static void add(double* cell, double x, double amount, double late, std::size_t sums) {
        cell[0] += amount * x;
        if (sums != 0) cell[sums] += late * x;
    }

    // ‖w + a x‖² = ‖w‖² + 2 a w·x + a² ‖x‖², for each column that changes.
    void lengthen(const Example& example, std::int32_t plus, std::int32_t minus, double amount) {
        const double square = square_of(example);
        const auto one = [&](std::int32_t column, double by) {
            if (column < 0) return;
            const auto c = static_cast<std::size_t>(column);
            state_.lengths2[c] += 2 * by * (scores_[c] - bias_[c]) + by * by * square;
        };
        one(plus, amount);
        one(minus, -amount);
    }

    const OnlineSettings& settings_;
    OnlineState& state_;
    std::vector<Update>* record_;
    std::size_t columns_, stride_;
    double* bias_;
    double* weights_;
    std::vector<double> scores_;
    std::int64_t number_ = 0;
    PassResult result_;
};

}  // namespace

void append(std::vector<Example>& examples, const SparseRows& rows, Codes labels, std::span<const double> weights) {
    examples.reserve(examples.size() + rows.rows());
    for (std::size_t i = 0; i < rows.rows(); ++i) {
        const auto begin = static_cast<std::size_t>(rows.indptr[i]), end = static_cast<std::size_t>(rows.indptr[i + 1]);
        examples.push_back({rows.indices.data() + begin, rows.values.empty() ? nullptr : rows.values.data() + begin,
                            static_cast<std::uint32_t>(end - begin), labels[i], weights.empty() ? 1.0 : weights[i]});
    }
}

PassResult online_pass(std::span<const Example> examples, std::span<const std::int64_t> order,
                       const OnlineSettings& settings, OnlineState& state, std::vector<Update>* record) {
    return Pass(settings, state, record).run(examples, order);
}

void kept_weights(std::span<const double> table, const OnlineSettings& settings, std::span<const std::int64_t> rows,
                  std::span<const std::int64_t> ticks, std::span<double> kept) {
    const std::size_t columns = settings.columns;
    const bool is_mean = settings.mean != Mean::none;
    double* out = kept.data();
    for (const std::int64_t row : rows) {
        const double* cells = table.data() + static_cast<std::size_t>(row) * columns * (is_mean ? 2 : 1);
        for (std::size_t c = 0; c < columns; ++c) {
            const auto n = static_cast<double>(std::max<std::int64_t>(1, ticks[c]));
            *out++ = is_mean ? n * cells[c] - cells[columns + c] : cells[c];
        }
    }
}

}  // namespace weigh
