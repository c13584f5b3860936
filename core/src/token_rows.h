// Builders of sparse rows from tokens.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "weigh/vocabulary.h"

namespace weigh {

// Builds rows with ascending, unique indices.
class SortedRowBuilder {
public:
    SortedRowBuilder(std::size_t rows) { rows_.indptr.reserve(rows + 1), rows_.indptr.push_back(0); }

    void add(std::int32_t index, double value) {
        // A document may be very long: merge duplicates before they take much memory.
        if (row_.size() >= limit_) {
            merge_duplicates();
            limit_ = std::max(kMinLimit, 2 * row_.size());
        }
        row_.push_back({index, value});
    }

    void end_row() {
        merge_duplicates();
        for (const Entry& entry : row_) {
            rows_.indices.push_back(entry.index);
            rows_.values.push_back(entry.value);
        }
        row_.clear();
        rows_.indptr.push_back(static_cast<std::int64_t>(rows_.indices.size()));
    }

    CsrRows finish() { return std::move(rows_); }

private:
    static constexpr std::size_t kMinLimit = 1 << 20;

    struct Entry {
        std::int32_t index;
        double value;
    };

    // Sort the entries of the row, and add up those with the same index.
    void merge_duplicates() {
        std::sort(row_.begin(), row_.end(), [](const Entry& a, const Entry& b) { return a.index < b.index; });
        std::size_t kept = 0;
        for (const Entry& entry : row_) {
            if (kept > 0 && row_[kept - 1].index == entry.index) row_[kept - 1].value += entry.value;
            else row_[kept++] = entry;
        }
        row_.resize(kept);
    }

    CsrRows rows_;
    std::vector<Entry> row_;
    std::size_t limit_ = kMinLimit;
};

// Builds rows with unique indices in order of first appearance, which needs no sorting and depends on nothing but the
// document. Its memory is reused between batches.
class FirstSeenRowBuilder {
public:
    void prefetch(std::size_t index) const {
        if (index < last_seen_.size()) __builtin_prefetch(&last_seen_[index]);
    }

    void add(std::int32_t index, double value) {
        const auto at = static_cast<std::size_t>(index);
        if (at >= last_seen_.size()) last_seen_.resize(std::max(at + 1, 2 * last_seen_.size()));
        LastSeen& last = last_seen_[at];
        if (last.row == row_) {
            values_[last.position] += value;
            return;
        }
        last = {row_, static_cast<std::uint32_t>(indices_.size())};
        indices_.push_back(index);
        values_.push_back(value);
    }

    void end_row() {
        ends_.push_back(static_cast<std::int64_t>(indices_.size()));
        if (++row_ == 0) {
            std::fill(last_seen_.begin(), last_seen_.end(), LastSeen{});
            row_ = 1;
        }
    }

    // Return the rows so far in exactly sized arrays.
    CsrRows finish() {
        CsrRows rows{ends_, indices_, values_};
        ends_.assign(1, 0);
        indices_.clear();
        values_.clear();
        return rows;
    }

private:
    struct LastSeen {
        std::uint32_t row = 0, position = 0;
    };
    std::vector<LastSeen> last_seen_;  // last row and position of each index
    std::uint32_t row_ = 1;
    std::vector<std::int64_t> ends_{0};
    std::vector<std::int32_t> indices_;
    std::vector<double> values_;
};

// Tokenize documents into rows; add_tokens(tokens, builder) adds a batch of tokens to the current row.
template <class Builder, class AddTokens>
CsrRows build_rows(const Documents& documents, const TokenSettings& settings, Builder& builder,
                   const AddTokens& add_tokens) {
    Tokenizer tokenizer(settings);
    const Tokenizer::Consume take = [&](std::span<const Token> tokens) { add_tokens(tokens, builder); };
    for (std::size_t row = 0; row < documents.rows(); ++row) {
        tokenizer.for_each_token(documents, row, take);
        builder.end_row();
    }
    return builder.finish();
}

}  // namespace weigh
