#include "weigh/perceptron.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weigh {
namespace {

// Inverted index: for every feature, the rows that have it and their values.
class Postings {
public:
    Postings(const SparseRows& rows, std::size_t width)
        : begins_(width + 1), rows_(rows.indices.size()), values_(rows.indices.size()) {
        for (const std::int32_t index : rows.indices) ++begins_[static_cast<std::size_t>(index) + 1];
        for (std::size_t f = 0; f < width; ++f) begins_[f + 1] += begins_[f];
        std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
        for (std::size_t i = 0; i < rows.rows(); ++i) {
            for (auto e = static_cast<std::size_t>(rows.indptr[i]); e < static_cast<std::size_t>(rows.indptr[i + 1]);
                 ++e) {
                const std::size_t entry = next[static_cast<std::size_t>(rows.indices[e])]++;
                rows_[entry] = static_cast<std::uint32_t>(i);
                values_[entry] = rows.value(e);
            }
        }
    }

    // sums[row] += amount · value, for all rows that have the feature
    void add(std::size_t feature, double amount, double* sums) const {
        for (std::size_t e = begins_[feature]; e < begins_[feature + 1]; ++e) sums[rows_[e]] += amount * values_[e];
    }

private:
    std::vector<std::size_t> begins_;
    std::vector<std::uint32_t> rows_;
    std::vector<double> values_;
};

// Counts votes incrementally: a prediction is credited only when it changes, for the time that it was valid. Rows
// whose prediction does not change cost nothing beyond their scores.
class VoteCounter {
public:
    VoteCounter(const UpdateHistory& history, const SparseRows& rows, std::size_t width, std::span<double> votes)
        : history_(history),
          columns_(history.columns),
          by_sign_(history.columns == 1 || history.one_vs_rest),
          n_rows_(rows.rows()),
          postings_(rows, width),
          products_(n_rows_),
          scores_(n_rows_ * columns_),
          best_(by_sign_ ? 0 : n_rows_),
          credited_until_(by_sign_ ? n_rows_ * columns_ : n_rows_),
          votes_(votes) {}

    void count_votes() {
        time_ = history_.survival_counts[0];
        for (std::size_t k = 0; k < history_.amounts.size(); ++k) {
            apply_update(k);
            time_ += history_.survival_counts[k + 1];
        }
        for (std::size_t i = 0; i < n_rows_; ++i) {
            if (!by_sign_) credit(i, best_[i]);
            else
                for (std::size_t c = 0; c < columns_; ++c)
                    credit_sign(i * columns_ + c, is_nonnegative(scores_[i * columns_ + c]));
        }
    }

private:
    static bool is_nonnegative(double score) { return score >= 0; }

    // Apply update k: the scores of every row change by its dot product with row k, plus one for the intercept.
    void apply_update(std::size_t k) {
        std::fill(products_.begin(), products_.end(), history_.has_intercept ? 1.0 : 0.0);
        const auto end = static_cast<std::size_t>(history_.rows.indptr[k + 1]);
        for (auto e = static_cast<std::size_t>(history_.rows.indptr[k]); e < end; ++e)
            postings_.add(static_cast<std::size_t>(history_.rows.indices[e]), history_.rows.value(e), products_.data());
        const std::int32_t plus = history_.plus[k], minus = history_.minus[k];
        if (by_sign_) {
            if (plus >= 0) update_signs(static_cast<std::size_t>(plus), history_.amounts[k]);
            if (minus >= 0) update_signs(static_cast<std::size_t>(minus), -history_.amounts[k]);
        } else {
            update_best(static_cast<std::size_t>(plus), static_cast<std::size_t>(minus), history_.amounts[k]);
        }
    }

    void update_signs(std::size_t column, double amount) {
        for (std::size_t i = 0; i < n_rows_; ++i) {
            const std::size_t at = i * columns_ + column;
            const bool before = is_nonnegative(scores_[at]);
            scores_[at] += amount * products_[i];
            if (is_nonnegative(scores_[at]) != before) credit_sign(at, before);
        }
    }

    void update_best(std::size_t plus, std::size_t minus, double amount) {
        for (std::size_t i = 0; i < n_rows_; ++i) {
            double* scores = scores_.data() + i * columns_;
            scores[plus] += amount * products_[i];
            scores[minus] -= amount * products_[i];
            const std::size_t before = best_[i];
            const std::size_t now =
                before == plus || before == minus ? best(scores) : best_of_three(scores, before, plus, minus);
            if (now == before) continue;
            credit(i, before);
            best_[i] = static_cast<std::uint32_t>(now);
        }
    }

    std::size_t best(const double* scores) const {
        std::size_t found = 0;
        for (std::size_t c = 1; c < columns_; ++c)
            if (scores[c] > scores[found]) found = c;
        return found;
    }

    // The best of three columns, the first one on ties.
    static std::size_t best_of_three(const double* scores, std::size_t found, std::size_t second, std::size_t third) {
        for (const std::size_t c : {second, third})
            if (scores[c] > scores[found] || (scores[c] == scores[found] && c < found)) found = c;
        return found;
    }

    void credit(std::size_t row, std::size_t column) {
        votes_[row * columns_ + column] += static_cast<double>(time_ - credited_until_[row]);
        credited_until_[row] = time_;
    }

    void credit_sign(std::size_t at, bool was_nonnegative) {
        const auto duration = static_cast<double>(time_ - credited_until_[at]);
        votes_[at] += was_nonnegative ? duration : -duration;
        credited_until_[at] = time_;
    }

    const UpdateHistory& history_;
    std::size_t columns_;
    bool by_sign_;
    std::size_t n_rows_;
    Postings postings_;
    std::vector<double> products_, scores_;
    std::vector<std::uint32_t> best_;
    std::vector<std::int64_t> credited_until_;  // time up to which votes have been credited
    std::int64_t time_ = 0;
    std::span<double> votes_;
};

}  // namespace

void add_perceptron_votes(const UpdateHistory& history, const SparseRows& rows, std::size_t width,
                          std::span<double> votes) {
    VoteCounter(history, rows, width, votes).count_votes();
}

}  // namespace weigh
