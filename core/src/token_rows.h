// Documents as sparse rows, token by token.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "weigh/vocabulary.h"

namespace weigh {

// Rows of numbered tokens, each number once per row and in order.
class RowBuilder {
public:
    RowBuilder(std::size_t rows) { rows_.indptr.reserve(rows + 1), rows_.indptr.push_back(0); }

    void add(std::int32_t number, double value) {
        // A row may be a whole book: what repeats is added up before it takes much room.
        if (row_.size() >= most_) {
            unite();
            most_ = std::max(kMost, 2 * row_.size());
        }
        row_.push_back({number, value});
    }

    void end_row() {
        unite();
        for (const Entry& entry : row_) {
            rows_.indices.push_back(entry.number);
            rows_.values.push_back(entry.value);
        }
        row_.clear();
        rows_.indptr.push_back(static_cast<std::int64_t>(rows_.indices.size()));
    }

    TokenRows finish() { return std::move(rows_); }

private:
    static constexpr std::size_t kMost = 1 << 20;

    struct Entry {
        std::int32_t number;
        double value;
    };

    // Sort the row's entries, those of the same number made one.
    void unite() {
        std::sort(row_.begin(), row_.end(), [](const Entry& a, const Entry& b) { return a.number < b.number; });
        std::size_t kept = 0;
        for (const Entry& entry : row_) {
            if (kept > 0 && row_[kept - 1].number == entry.number) row_[kept - 1].value += entry.value;
            else row_[kept++] = entry;
        }
        row_.resize(kept);
    }

    TokenRows rows_;
    std::vector<Entry> row_;
    std::size_t most_ = kMost;
};

// The same in order of first appearance, which costs no sorting and, unlike the numbers, depends on
// nothing but the document. One may make many batches of rows: its memory is used again.
class SeenBuilder {
public:
    void prefetch(std::size_t number) const {
        if (number < seen_.size()) __builtin_prefetch(&seen_[number]);
    }

    void add(std::int32_t number, double value) {
        const auto at = static_cast<std::size_t>(number);
        if (at >= seen_.size()) seen_.resize(std::max(at + 1, 2 * seen_.size()));
        Seen& seen = seen_[at];
        if (seen.row == row_) {
            values_[seen.place] += value;
            return;
        }
        seen = {row_, static_cast<std::uint32_t>(indices_.size())};
        indices_.push_back(number);
        values_.push_back(value);
    }

    void end_row() {
        ends_.push_back(static_cast<std::int64_t>(indices_.size()));
        if (++row_ == 0) {
            std::fill(seen_.begin(), seen_.end(), Seen{});
            row_ = 1;
        }
    }

    // The rows so far, in memory of just their size.
    TokenRows finish() {
        TokenRows rows{ends_, indices_, values_};
        ends_.assign(1, 0);
        indices_.clear();
        values_.clear();
        return rows;
    }

private:
    struct Seen {
        std::uint32_t row = 0, place = 0;
    };
    std::vector<Seen> seen_;  // of each number, in which row it was last, and where it was put
    std::uint32_t row_ = 1;
    std::vector<std::int64_t> ends_{0};
    std::vector<std::int32_t> indices_;
    std::vector<double> values_;
};

// Rows of documents; `number` puts the numbers of some tokens into the row under way.
template <class Builder, class Number>
TokenRows rows_of(const Documents& documents, const TokenSettings& settings, Builder& builder, const Number& number) {
    Tokenizer tokenizer(settings);
    const Tokenizer::Consume take = [&](std::span<const Token> tokens) { number(tokens, builder); };
    for (std::size_t row = 0; row < documents.rows(); ++row) {
        tokenizer.each(documents, row, take);
        builder.end_row();
    }
    return builder.finish();
}

}  // namespace weigh
