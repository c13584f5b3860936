#include "weigh/replay.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weigh {
namespace {

// The rows by feature: where each feature occurs, and with which value.
class Postings {
public:
    Postings(const SparseRows& rows, std::size_t width) : begins_(width + 1), rows_(rows.indices.size()),
                                                          values_(rows.indices.size()) {
        for (const std::int32_t index : rows.indices) ++begins_[static_cast<std::size_t>(index) + 1];
        for (std::size_t f = 0; f < width; ++f) begins_[f + 1] += begins_[f];
        std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
        for (std::size_t i = 0; i < rows.rows(); ++i) {
            for (auto e = static_cast<std::size_t>(rows.indptr[i]); e < static_cast<std::size_t>(rows.indptr[i + 1]); ++e) {
                const std::size_t place = next[static_cast<std::size_t>(rows.indices[e])]++;
                rows_[place] = static_cast<std::uint32_t>(i);
                values_[place] = rows.value(e);
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

// A verdict counts from the update that brought it to the one that ends it, so that only rows whose
// verdict changes cost anything beyond their scores.
class Ballot {
public:
    Ballot(const Run& run, const SparseRows& rows, std::size_t width, std::span<double> votes)
        : run_(run), columns_(run.columns), signs_(run.columns == 1 || run.separate), n_rows_(rows.rows()),
          postings_(rows, width), products_(n_rows_), scores_(n_rows_ * columns_),
          best_(signs_ ? 0 : n_rows_), since_(signs_ ? n_rows_ * columns_ : n_rows_), votes_(votes) {}

    void count() {
        clock_ = run_.lives[0];
        for (std::size_t k = 0; k < run_.amounts.size(); ++k) {
            change(k);
            clock_ += run_.lives[k + 1];
        }
        for (std::size_t i = 0; i < n_rows_; ++i) {
            if (!signs_) settle(i, best_[i]);
            else for (std::size_t c = 0; c < columns_; ++c) settle_sign(i * columns_ + c, is_for(scores_[i * columns_ + c]));
        }
    }

private:
    static bool is_for(double score) { return score >= 0; }

    // Update k: what it adds to every row's scores is their product with row k, and the bias's one.
    void change(std::size_t k) {
        std::fill(products_.begin(), products_.end(), run_.bias ? 1.0 : 0.0);
        const auto end = static_cast<std::size_t>(run_.rows.indptr[k + 1]);
        for (auto e = static_cast<std::size_t>(run_.rows.indptr[k]); e < end; ++e)
            postings_.add(static_cast<std::size_t>(run_.rows.indices[e]), run_.rows.value(e), products_.data());
        const std::int32_t plus = run_.plus[k], minus = run_.minus[k];
        if (signs_) {
            if (plus >= 0) change_signs(static_cast<std::size_t>(plus), run_.amounts[k]);
            if (minus >= 0) change_signs(static_cast<std::size_t>(minus), -run_.amounts[k]);
        } else {
            change_best(static_cast<std::size_t>(plus), static_cast<std::size_t>(minus), run_.amounts[k]);
        }
    }

    void change_signs(std::size_t column, double amount) {
        for (std::size_t i = 0; i < n_rows_; ++i) {
            const std::size_t at = i * columns_ + column;
            const bool before = is_for(scores_[at]);
            scores_[at] += amount * products_[i];
            if (is_for(scores_[at]) != before) settle_sign(at, before);
        }
    }

    void change_best(std::size_t plus, std::size_t minus, double amount) {
        for (std::size_t i = 0; i < n_rows_; ++i) {
            double* scores = scores_.data() + i * columns_;
            scores[plus] += amount * products_[i];
            scores[minus] -= amount * products_[i];
            const std::size_t before = best_[i];
            const std::size_t now = before == plus || before == minus ? best(scores) : better(scores, before, plus, minus);
            if (now == before) continue;
            settle(i, before);
            best_[i] = static_cast<std::uint32_t>(now);
        }
    }

    std::size_t best(const double* scores) const {
        std::size_t found = 0;
        for (std::size_t c = 1; c < columns_; ++c)
            if (scores[c] > scores[found]) found = c;
        return found;
    }

    // The best of three columns, of equal ones the first.
    static std::size_t better(const double* scores, std::size_t found, std::size_t second, std::size_t third) {
        for (const std::size_t c : {second, third})
            if (scores[c] > scores[found] || (scores[c] == scores[found] && c < found)) found = c;
        return found;
    }

    void settle(std::size_t row, std::size_t column) {
        votes_[row * columns_ + column] += static_cast<double>(clock_ - since_[row]);
        since_[row] = clock_;
    }

    void settle_sign(std::size_t at, bool was_for) {
        const auto lived = static_cast<double>(clock_ - since_[at]);
        votes_[at] += was_for ? lived : -lived;
        since_[at] = clock_;
    }

    const Run& run_;
    std::size_t columns_;
    bool signs_;
    std::size_t n_rows_;
    Postings postings_;
    std::vector<double> products_, scores_;
    std::vector<std::uint32_t> best_;
    std::vector<std::int64_t> since_;  // up to when votes were counted
    std::int64_t clock_ = 0;
    std::span<double> votes_;
};

}  // namespace

void replay(const Run& run, const SparseRows& rows, std::size_t width, std::span<double> votes) {
    Ballot(run, rows, width, votes).count();
}

}  // namespace weigh
