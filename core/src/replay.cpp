#include "weigh/replay.h"

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
                rows_[place] = i;
                values_[place] = rows.value(e);
            }
        }
    }

    // sums[row · step] += amount · value, for all rows that have the feature
    void add(std::size_t feature, double amount, double* sums, std::size_t step) const {
        for (std::size_t e = begins_[feature]; e < begins_[feature + 1]; ++e)
            sums[rows_[e] * step] += amount * values_[e];
    }

private:
    std::vector<std::size_t> begins_, rows_;
    std::vector<double> values_;
};

class Ballot {
public:
    Ballot(const Run& run, const SparseRows& rows, std::size_t width, std::span<double> votes)
        : run_(run), columns_(run.columns), n_rows_(rows.rows()), postings_(rows, width),
          scores_(n_rows_ * columns_), biases_(columns_), votes_(votes) {}

    void count() {
        vote(run_.lives[0]);
        for (std::size_t k = 0; k < run_.amounts.size(); ++k) {
            change(k, run_.plus[k], run_.amounts[k]);
            change(k, run_.minus[k], -run_.amounts[k]);
            vote(run_.lives[k + 1]);
        }
    }

private:
    void change(std::size_t k, std::int32_t column, double amount) {
        if (column < 0) return;
        const auto c = static_cast<std::size_t>(column);
        if (run_.bias) biases_[c] += amount;
        for (auto e = static_cast<std::size_t>(run_.rows.indptr[k]); e < static_cast<std::size_t>(run_.rows.indptr[k + 1]); ++e)
            postings_.add(static_cast<std::size_t>(run_.rows.indices[e]), amount * run_.rows.value(e),
                          scores_.data() + c, columns_);
    }

    void vote(std::int64_t lives) {
        if (lives == 0) return;
        const auto weight = static_cast<double>(lives);
        if (columns_ == 1 || run_.separate) vote_signs(weight);
        else vote_best(weight);
    }

    void vote_signs(double weight) {
        for (std::size_t i = 0; i < n_rows_; ++i)
            for (std::size_t c = 0; c < columns_; ++c) {
                const std::size_t at = i * columns_ + c;
                votes_[at] += scores_[at] + biases_[c] >= 0 ? weight : -weight;
            }
    }

    void vote_best(double weight) {
        for (std::size_t i = 0; i < n_rows_; ++i) {
            const double* scores = scores_.data() + i * columns_;
            std::size_t best = 0;
            for (std::size_t c = 1; c < columns_; ++c)
                if (scores[c] + biases_[c] > scores[best] + biases_[best]) best = c;
            votes_[i * columns_ + best] += weight;
        }
    }

    const Run& run_;
    std::size_t columns_, n_rows_;
    Postings postings_;
    std::vector<double> scores_, biases_;
    std::span<double> votes_;
};

}  // namespace

void replay(const Run& run, const SparseRows& rows, std::size_t width, std::span<double> votes) {
    Ballot(run, rows, width, votes).count();
}

}  // namespace weigh
