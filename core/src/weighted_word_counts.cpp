#include "weigh/weighted_word_counts.h"

#include <numeric>
#include <stdexcept>

#include "bucket_names.h"
#include "growing_table.h"
#include "token_rows.h"

namespace weigh {

class WeightedWordCounts::Impl {
public:
    explicit Impl(const WeightedCountSettings& settings)
        : tokenizer_(settings.tokens),
          vocabulary_(settings.buckets),
          names_(settings.buckets),
          ranks_(settings.buckets, BucketNames::kNoRank),
          weigher_(settings.weighting) {
        documents_.resize(settings.buckets, 0.0);
    }

    void add(const Documents& documents, Codes classes, std::size_t n_classes, std::span<const double> weights) {
        classes_ = std::max(classes_, n_classes);
        const Tokenizer::Consume take = [&](std::span<const Token> tokens) { collect(tokens); };
        for (std::size_t row = 0; row < documents.rows(); ++row) {
            // A row of zero weight must leave no trace, not even new names.
            if (classes[row] < 0 || (!weights.empty() && weights[row] == 0)) continue;
            tokenizer_.for_each_token(documents, row, take);
            counts_.end_row();
            const double weight = weights.empty() ? 1.0 : weights[row];
            add_document(counts_.finish(), static_cast<std::size_t>(classes[row]), weight);
        }
    }

    void merge(const Impl& other, std::span<const std::int64_t> class_map, std::size_t n_classes) {
        classes_ = std::max(classes_, n_classes);
        if (vocabulary_.is_hashed()) {
            for (std::size_t k = 0; k < other.ranks_.size(); ++k) {
                update_name(k, other.ranks_[k], other.names_[k]);
                merge_row(other, k, k, class_map);
            }
            return;
        }
        const Names names = other.vocabulary_.names();
        const NamesView view{names.text, names.offsets};
        for (std::size_t k = 0; k < view.size(); ++k)
            merge_row(other, k, vocabulary_.find_or_add({key_of(view[k], false), view[k]}), class_map);
    }

    WeightedWordTable table(std::span<const std::int64_t> class_map) const {
        WeightedWordTable table;
        table.classes = class_map.size();
        std::vector<std::int32_t> order(documents_.size());
        std::iota(order.begin(), order.end(), 0);
        if (vocabulary_.is_hashed()) {
            for (std::size_t k = 0; k < order.size(); ++k) table.names.add(names_[k]);
        } else {
            const Names names = vocabulary_.names();
            order = argsort_names({names.text, names.offsets});
            table.names = take_names({names.text, names.offsets}, order);
        }
        table.words = order.size();
        table.sums = transpose_cells<std::int64_t>(order, class_map, [&](auto k, auto c) { return sum_at(k, c); });
        for (const std::int32_t k : order) table.documents.push_back(documents_[static_cast<std::size_t>(k)]);
        return table;
    }

private:
    // Add tokens to the counts of the current document.
    void collect(std::span<const Token> tokens) {
        for (const Token& token : tokens) vocabulary_.prefetch(token.key);
        for (const Token& token : tokens) {
            const std::size_t index = vocabulary_.find_or_add(token);
            if (vocabulary_.is_hashed())
                update_name(index, BucketNames::rank(token.key.hash, token.text.size()), token.text);
            counts_.add(static_cast<std::int32_t>(index), token.value);
        }
    }

    void update_name(std::size_t bucket, std::uint64_t rank, std::string_view name) {
        if (rank <= ranks_[bucket]) return;
        ranks_[bucket] = rank;
        names_.set(bucket, name);
    }

    void add_document(CsrRows document, std::size_t c, double weight) {
        ensure_words();
        for (std::size_t i = 0; i < document.indices.size(); ++i)
            if (document.values[i] != 0) documents_[static_cast<std::size_t>(document.indices[i])] += weight;
        weigher_.weigh(document.values, document.indices, {});
        for (std::size_t i = 0; i < document.indices.size(); ++i) {
            // Round the value before it is multiplied: a row of weight 2 is the same as two rows.
            const auto value = static_cast<double>(to_fixed_point(document.values[i]));
            add_to(sums_[static_cast<std::size_t>(document.indices[i])][c],
                   to_fixed_point(value * weight / kFixedPointScale));
        }
    }

    void ensure_words() {
        if (vocabulary_.size() > documents_.size()) documents_.resize(vocabulary_.size(), 0.0);
        sums_.ensure_size(documents_.size(), std::max<std::size_t>(classes_, 1));
    }

    void merge_row(const Impl& other, std::size_t from, std::size_t to, std::span<const std::int64_t> class_map) {
        ensure_words();
        documents_[to] += other.documents_[from];
        for (std::size_t c = 0; c < class_map.size(); ++c)
            add_to(sums_[to][static_cast<std::size_t>(class_map[c])], other.sum_at(from, c));
    }

    static void add_to(std::int64_t& sum, std::int64_t amount) {
        if (__builtin_add_overflow(sum, amount, &sum)) throw std::overflow_error("a sum is too large for fixed point");
    }

    std::int64_t sum_at(std::size_t k, std::size_t c) const {
        return k < sums_.rows() && c < sums_.width() ? sums_[k][c] : 0;
    }

    Tokenizer tokenizer_;
    Vocabulary vocabulary_;
    BucketNames names_;
    std::vector<std::uint64_t> ranks_;  // of the bucket names
    TermWeigher weigher_;
    FirstSeenRowBuilder counts_;
    std::size_t classes_ = 0;
    GrowingTable<std::int64_t> sums_;
    std::vector<double> documents_;
};

WeightedWordCounts::WeightedWordCounts(const WeightedCountSettings& settings)
    : impl_(std::make_unique<Impl>(settings)) {}
WeightedWordCounts::WeightedWordCounts(WeightedWordCounts&&) noexcept = default;
WeightedWordCounts::~WeightedWordCounts() = default;

void WeightedWordCounts::add(const Documents& documents, Codes classes, std::size_t n_classes,
                             std::span<const double> weights) {
    impl_->add(documents, classes, n_classes, weights);
}

void WeightedWordCounts::merge(const WeightedWordCounts& other, std::span<const std::int64_t> class_map,
                               std::size_t n_classes) {
    impl_->merge(*other.impl_, class_map, n_classes);
}

WeightedWordTable WeightedWordCounts::table(std::span<const std::int64_t> class_map) const {
    return impl_->table(class_map);
}

}  // namespace weigh
