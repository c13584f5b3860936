#include "weigh/word_counts.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>

#include "bucket_names.h"
#include "growing_table.h"

namespace weigh {

class WordCounts::Impl {
public:
    explicit Impl(const CountSettings& settings)
        : settings_(settings),
          tokenizer_(settings.tokens),
          vocabulary_(settings.buckets),
          names_(settings.buckets),
          header_cells_(vocabulary_.is_hashed() ? kRankCells : 0) {
        narrow_.ensure_size(settings.buckets, header_cells_);
    }

    void add(const Documents& documents, Codes classes, std::size_t n_classes, std::span<const double> weights) {
        ensure_classes(n_classes);
        const bool is_unweighted = weights.empty() && documents.values.empty();
        std::size_t row = 0;
        const Tokenizer::Consume take = [&](std::span<const Token> tokens) {
            const auto c = static_cast<std::size_t>(classes[row]);
            if (is_unweighted) return add_counts(find_or_add(tokens, c), c);
            add_weighted(find_or_add(tokens, c), tokens, c, weights.empty() ? 1.0 : weights[row]);
        };
        for (; row < documents.rows(); ++row) {
            // A row of zero weight must leave no trace, not even new names.
            if (classes[row] < 0 || (!weights.empty() && weights[row] == 0)) continue;
            ++document_;
            tokenizer_.for_each_token(documents, row, take);
        }
    }

    void merge(const Impl& other, std::span<const std::int64_t> class_map, std::size_t n_classes) {
        ensure_classes(n_classes);
        // Add to the wide table only if the narrow one cannot hold both counts.
        const bool fits = other.wide_.rows() == 0 && narrow_total_ + other.narrow_total_ <= settings_.max_count;
        narrow_total_ = fits ? narrow_total_ + other.narrow_total_ : settings_.max_count + 1;
        if (vocabulary_.is_hashed()) {
            for (std::size_t k = 0; k < other.narrow_.rows(); ++k) {
                if (const std::uint64_t rank = other.rank(k); rank > this->rank(k)) set_name(k, rank, other.names_[k]);
                merge_row(other, k, k, class_map);
            }
            return;
        }
        const Names names = other.vocabulary_.names();
        const NamesView view{names.text, names.offsets};
        for (std::size_t k = 0; k < view.size(); ++k) {
            const std::size_t index = vocabulary_.find_or_add({key_of(view[k], false), view[k]});
            ensure_words(index + 1);
            merge_row(other, k, index, class_map);
        }
    }

    WordTable table(std::span<const std::int64_t> class_map) const {
        WordTable table;
        table.classes = class_map.size();
        std::vector<std::int32_t> order(narrow_.rows());
        std::iota(order.begin(), order.end(), 0);
        if (vocabulary_.is_hashed()) {
            for (std::size_t k = 0; k < narrow_.rows(); ++k) table.names.add(names_[k]);
        } else {
            const Names names = vocabulary_.names();
            order = argsort_names({names.text, names.offsets});
            table.names = take_names({names.text, names.offsets}, order);
        }
        table.words = order.size();
        const auto fill = [&]<class Cell>(Cell, const auto& value) {
            table.cells = transpose_cells<Cell>(order, class_map, value);
        };
        const auto count = [&](std::size_t k, std::size_t c) { return count_at(k, c); };
        const std::int64_t max_count = largest_count();
        if (weighted_.rows() != 0)
            fill(double{}, [&](auto k, auto c) { return static_cast<double>(count_at(k, c)) + weighted_at(k, c); });
        else if (max_count <= std::numeric_limits<std::uint8_t>::max()) fill(std::uint8_t{}, count);
        else if (max_count <= std::numeric_limits<std::uint16_t>::max()) fill(std::uint16_t{}, count);
        else if (max_count <= std::numeric_limits<std::uint32_t>::max()) fill(std::uint32_t{}, count);
        else fill(std::int64_t{}, count);
        return table;
    }

private:
    static constexpr std::size_t kBatch = 128, kRankCells = 2;
    using Indices = std::span<const std::size_t>;

    void ensure_classes(std::size_t n_classes) {
        classes_ = std::max(classes_, n_classes);
        narrow_.ensure_size(settings_.buckets, header_cells_ + classes_);
    }

    void ensure_words(std::size_t n_words) {
        if (n_words > narrow_.rows()) narrow_.ensure_size(n_words, narrow_.width());
    }

    // The indices of tokens, with their counts prefetched.
    Indices find_or_add(std::span<const Token> tokens, std::size_t c) {
        for (const Token& token : tokens) vocabulary_.prefetch(token.key);
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            indices_[i] = vocabulary_.find_or_add(tokens[i]);
            ensure_words(indices_[i] + 1);
            narrow_.prefetch(indices_[i], 0);
            narrow_.prefetch(indices_[i], header_cells_ + c);
        }
        if (header_cells_ != 0) update_names(tokens);
        return {indices_.data(), tokens.size()};
    }

    void update_names(std::span<const Token> tokens) {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const std::uint64_t rank = BucketNames::rank(tokens[i].key.hash, tokens[i].text.size());
            if (rank > this->rank(indices_[i])) set_name(indices_[i], rank, tokens[i].text);
        }
    }

    std::uint64_t rank(std::size_t index) const {
        std::uint64_t rank = 0;
        std::memcpy(&rank, narrow_[index], sizeof rank);
        return rank;
    }

    void set_name(std::size_t index, std::uint64_t rank, std::string_view name) {
        std::memcpy(narrow_[index], &rank, sizeof rank);
        names_.set(index, name);
    }

    void add_counts(Indices indices, std::size_t c) {
        if (narrow_total_ + indices.size() > settings_.max_count) flush_to_wide();
        narrow_total_ += indices.size();
        for (const std::size_t index : indices)
            if (!settings_.presence || is_first(index)) ++narrow_[index][header_cells_ + c];
    }

    void add_weighted(Indices indices, std::span<const Token> tokens, std::size_t c, double weight) {
        weighted_.ensure_size(narrow_.rows(), classes_);
        for (std::size_t i = 0; i < indices.size(); ++i)
            if (!settings_.presence || is_first(indices[i]))
                weighted_[indices[i]][c] += settings_.presence ? weight : weight * tokens[i].value;
    }

    // Whether this is the token's first occurrence in its document.
    bool is_first(std::size_t index) {
        if (index >= last_seen_.size()) last_seen_.resize(std::max(index + 1, 2 * last_seen_.size()), 0);
        if (last_seen_[index] == document_) return false;
        last_seen_[index] = document_;
        return true;
    }

    // Move the narrow counts to the wide table.
    void flush_to_wide() {
        wide_.ensure_size(narrow_.rows(), classes_);
        for (std::size_t k = 0; k < narrow_.rows(); ++k) {
            for (std::size_t c = 0; c < narrow_.width() - header_cells_; ++c) {
                wide_[k][c] += narrow_[k][header_cells_ + c];
                narrow_[k][header_cells_ + c] = 0;
            }
        }
        narrow_total_ = 0;
    }

    void merge_row(const Impl& other, std::size_t from, std::size_t to, std::span<const std::int64_t> class_map) {
        const std::size_t n_classes = std::min(class_map.size(), other.narrow_.width() - header_cells_);
        const std::uint32_t* other_counts = other.narrow_[from] + header_cells_;
        if (narrow_total_ <= settings_.max_count) {
            std::uint32_t* own_counts = narrow_[to] + header_cells_;
            for (std::size_t c = 0; c < n_classes; ++c) own_counts[class_map[c]] += other_counts[c];
        } else {
            wide_.ensure_size(narrow_.rows(), classes_);
            for (std::size_t c = 0; c < n_classes; ++c) wide_[to][class_map[c]] += other.count_at(from, c);
        }
        if (other.weighted_.rows() == 0) return;
        weighted_.ensure_size(narrow_.rows(), classes_);
        for (std::size_t c = 0; c < n_classes; ++c) weighted_[to][class_map[c]] += other.weighted_at(from, c);
    }

    std::int64_t count_at(std::size_t k, std::size_t c) const {
        std::int64_t count = header_cells_ + c < narrow_.width() ? narrow_[k][header_cells_ + c] : 0;
        if (k < wide_.rows() && c < wide_.width()) count += wide_[k][c];
        return count;
    }

    std::int64_t largest_count() const {
        std::int64_t max_count = 0;
        for (std::size_t k = 0; k < narrow_.rows(); ++k)
            for (std::size_t c = 0; c < narrow_.width() - header_cells_; ++c)
                max_count = std::max(max_count, count_at(k, c));
        return max_count;
    }

    double weighted_at(std::size_t k, std::size_t c) const {
        return k < weighted_.rows() && c < weighted_.width() ? weighted_[k][c] : 0.0;
    }

    CountSettings settings_;
    Tokenizer tokenizer_;
    Vocabulary vocabulary_;
    BucketNames names_;
    std::size_t header_cells_;  // cells before the counts: the rank of the bucket's name
    std::size_t classes_ = 0;
    GrowingTable<std::uint32_t> narrow_;
    GrowingTable<std::int64_t> wide_;
    GrowingTable<double> weighted_;
    std::uint64_t narrow_total_ = 0;  // number of increments since the narrow table was last flushed
    std::uint64_t document_ = 0;
    std::vector<std::uint64_t> last_seen_;  // the last document that contained each token
    std::array<std::size_t, kBatch> indices_;
};

WordCounts::WordCounts(const CountSettings& settings) : impl_(std::make_unique<Impl>(settings)) {}
WordCounts::WordCounts(WordCounts&&) noexcept = default;
WordCounts::~WordCounts() = default;

void WordCounts::add(const Documents& documents, Codes classes, std::size_t n_classes,
                     std::span<const double> weights) {
    impl_->add(documents, classes, n_classes, weights);
}

void WordCounts::merge(const WordCounts& other, std::span<const std::int64_t> class_map, std::size_t n_classes) {
    impl_->merge(*other.impl_, class_map, n_classes);
}

WordTable WordCounts::table(std::span<const std::int64_t> class_map) const { return impl_->table(class_map); }

}  // namespace weigh
