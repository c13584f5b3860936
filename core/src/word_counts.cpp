#include "weigh/word_counts.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>

#include "bucket_names.h"
#include "count_rows.h"

namespace weigh {

class WordCounts::Impl {
public:
    explicit Impl(const CountSettings& settings)
        : settings_(settings),
          tokenizer_(settings.tokens),
          vocabulary_(settings.buckets),
          names_(settings.buckets),
          head_(vocabulary_.is_hashed() ? kRankCells : 0) {
        near_.reach(settings.buckets, head_);
    }

    void add(const Documents& documents, Codes classes, std::size_t n_classes, std::span<const double> weights) {
        reach_classes(n_classes);
        const bool is_whole = weights.empty() && documents.values.empty();
        std::size_t row = 0;
        const Tokenizer::Consume take = [&](std::span<const Token> tokens) {
            const auto c = static_cast<std::size_t>(classes[row]);
            if (is_whole) return take_whole(find(tokens, c), c);
            take_weighted(find(tokens, c), tokens, c, weights.empty() ? 1.0 : weights[row]);
        };
        for (; row < documents.rows(); ++row) {
            // A row without weight must leave no trace, not even the names of its words.
            if (classes[row] < 0 || (!weights.empty() && weights[row] == 0)) continue;
            ++document_;
            tokenizer_.each(documents, row, take);
        }
    }

    void join(const Impl& other, std::span<const std::int64_t> places, std::size_t n_classes) {
        reach_classes(n_classes);
        // Wide counts are a table of their own: used only if the narrow one cannot hold both.
        const bool fits = other.far_.rows() == 0 && gathered_ + other.gathered_ <= settings_.most;
        gathered_ = fits ? gathered_ + other.gathered_ : settings_.most + 1;
        if (vocabulary_.is_hashed()) {
            for (std::size_t k = 0; k < other.near_.rows(); ++k) {
                if (const std::uint64_t rank = other.rank(k); rank > this->rank(k)) set_name(k, rank, other.names_[k]);
                join_row(other, k, k, places);
            }
            return;
        }
        const Names names = other.vocabulary_.names();
        const NamesView view{names.text, names.offsets};
        for (std::size_t k = 0; k < view.size(); ++k) {
            const std::size_t number = vocabulary_.number({key_of(view[k], false), view[k]});
            reach_words(number + 1);
            join_row(other, k, number, places);
        }
    }

    WordTable table(std::span<const std::int64_t> places) const {
        WordTable table;
        table.classes = places.size();
        std::vector<std::int32_t> order(near_.rows());
        std::iota(order.begin(), order.end(), 0);
        if (vocabulary_.is_hashed()) {
            for (std::size_t k = 0; k < near_.rows(); ++k) table.names.add(names_[k]);
        } else {
            const Names names = vocabulary_.names();
            order = sorted_order({names.text, names.offsets});
            table.names = taken({names.text, names.offsets}, order);
        }
        table.words = order.size();
        const auto put = [&]<class Cell>(Cell, const auto& value) { table.cells = filled<Cell>(order, places, value); };
        const auto count = [&](std::size_t k, std::size_t c) { return whole(k, c); };
        const std::int64_t most = largest();
        if (weighted_.rows() != 0)
            put(double{}, [&](auto k, auto c) { return static_cast<double>(whole(k, c)) + extra(k, c); });
        else if (most <= std::numeric_limits<std::uint8_t>::max()) put(std::uint8_t{}, count);
        else if (most <= std::numeric_limits<std::uint16_t>::max()) put(std::uint16_t{}, count);
        else if (most <= std::numeric_limits<std::uint32_t>::max()) put(std::uint32_t{}, count);
        else put(std::int64_t{}, count);
        return table;
    }

private:
    static constexpr std::size_t kBatch = 128, kRankCells = 2;
    using Numbers = std::span<const std::size_t>;

    void reach_classes(std::size_t n_classes) {
        classes_ = std::max(classes_, n_classes);
        near_.reach(settings_.buckets, head_ + classes_);
    }

    void reach_words(std::size_t words) {
        if (words > near_.rows()) near_.reach(words, near_.width());
    }

    // The numbers of tokens, with the memory of their counts on its way.
    Numbers find(std::span<const Token> tokens, std::size_t c) {
        for (const Token& token : tokens) vocabulary_.prefetch(token.key);
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            numbers_[i] = vocabulary_.number(tokens[i]);
            reach_words(numbers_[i] + 1);
            near_.prefetch(numbers_[i], 0);
            near_.prefetch(numbers_[i], head_ + c);
        }
        if (head_ != 0) name(tokens);
        return {numbers_.data(), tokens.size()};
    }

    void name(std::span<const Token> tokens) {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const std::uint64_t rank = BucketNames::rank(tokens[i].key.hash, tokens[i].text.size());
            if (rank > this->rank(numbers_[i])) set_name(numbers_[i], rank, tokens[i].text);
        }
    }

    std::uint64_t rank(std::size_t number) const {
        std::uint64_t rank = 0;
        std::memcpy(&rank, near_[number], sizeof rank);
        return rank;
    }

    void set_name(std::size_t number, std::uint64_t rank, std::string_view name) {
        std::memcpy(near_[number], &rank, sizeof rank);
        names_.put(number, name);
    }

    void take_whole(Numbers numbers, std::size_t c) {
        if (gathered_ + numbers.size() > settings_.most) drain();
        gathered_ += numbers.size();
        for (const std::size_t number : numbers)
            if (!settings_.presence || is_first(number)) ++near_[number][head_ + c];
    }

    void take_weighted(Numbers numbers, std::span<const Token> tokens, std::size_t c, double weight) {
        weighted_.reach(near_.rows(), classes_);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            if (!settings_.presence || is_first(numbers[i]))
                weighted_[numbers[i]][c] += settings_.presence ? weight : weight * tokens[i].value;
    }

    // Whether this is the token's first occurrence in its document.
    bool is_first(std::size_t number) {
        if (number >= last_seen_.size()) last_seen_.resize(std::max(number + 1, 2 * last_seen_.size()), 0);
        if (last_seen_[number] == document_) return false;
        last_seen_[number] = document_;
        return true;
    }

    // Move what was gathered into the wide counts.
    void drain() {
        far_.reach(near_.rows(), classes_);
        for (std::size_t k = 0; k < near_.rows(); ++k) {
            for (std::size_t c = 0; c < near_.width() - head_; ++c) {
                far_[k][c] += near_[k][head_ + c];
                near_[k][head_ + c] = 0;
            }
        }
        gathered_ = 0;
    }

    void join_row(const Impl& other, std::size_t from, std::size_t to, std::span<const std::int64_t> places) {
        const std::size_t known = std::min(places.size(), other.near_.width() - head_);
        const std::uint32_t* theirs = other.near_[from] + head_;
        if (gathered_ <= settings_.most) {
            std::uint32_t* ours = near_[to] + head_;
            for (std::size_t c = 0; c < known; ++c) ours[places[c]] += theirs[c];
        } else {
            far_.reach(near_.rows(), classes_);
            for (std::size_t c = 0; c < known; ++c) far_[to][places[c]] += other.whole(from, c);
        }
        if (other.weighted_.rows() == 0) return;
        weighted_.reach(near_.rows(), classes_);
        for (std::size_t c = 0; c < known; ++c) weighted_[to][places[c]] += other.extra(from, c);
    }

    std::int64_t whole(std::size_t k, std::size_t c) const {
        std::int64_t count = head_ + c < near_.width() ? near_[k][head_ + c] : 0;
        if (k < far_.rows() && c < far_.width()) count += far_[k][c];
        return count;
    }

    std::int64_t largest() const {
        std::int64_t most = 0;
        for (std::size_t k = 0; k < near_.rows(); ++k)
            for (std::size_t c = 0; c < near_.width() - head_; ++c) most = std::max(most, whole(k, c));
        return most;
    }

    double extra(std::size_t k, std::size_t c) const {
        return k < weighted_.rows() && c < weighted_.width() ? weighted_[k][c] : 0.0;
    }

    // Turn rows of words into rows of classes, a few words at a time: one that is written to `places`
    // rows at once would touch as many pages for every word.
    template <class Cell, class Value>
    static Zeroed<Cell> filled(std::span<const std::int32_t> order, std::span<const std::int64_t> places,
                               const Value& value) {
        constexpr std::size_t kStep = 64;
        Zeroed<Cell> cells(order.size() * places.size());
        for (std::size_t first = 0; first < order.size(); first += kStep) {
            const std::size_t last = std::min(first + kStep, order.size());
            for (std::size_t c = 0; c < places.size(); ++c) {
                Cell* row = cells.data() + static_cast<std::size_t>(places[c]) * order.size();
                for (std::size_t at = first; at < last; ++at)
                    row[at] = static_cast<Cell>(value(static_cast<std::size_t>(order[at]), c));
            }
        }
        return cells;
    }

    CountSettings settings_;
    Tokenizer tokenizer_;
    Vocabulary vocabulary_;
    BucketNames names_;
    std::size_t head_;  // cells before the counts: the rank of the bucket's name
    std::size_t classes_ = 0;
    CountRows<std::uint32_t> near_;
    CountRows<std::int64_t> far_;
    CountRows<double> weighted_;
    std::uint64_t gathered_ = 0;  // how much has been added to `near_` since it was drained
    std::uint64_t document_ = 0;
    std::vector<std::uint64_t> last_seen_;  // the document in which each token was seen last
    std::array<std::size_t, kBatch> numbers_;
};

WordCounts::WordCounts(const CountSettings& settings) : impl_(std::make_unique<Impl>(settings)) {}
WordCounts::WordCounts(WordCounts&&) noexcept = default;
WordCounts::~WordCounts() = default;

void WordCounts::add(const Documents& documents, Codes classes, std::size_t n_classes,
                     std::span<const double> weights) {
    impl_->add(documents, classes, n_classes, weights);
}

void WordCounts::join(const WordCounts& other, std::span<const std::int64_t> places, std::size_t n_classes) {
    impl_->join(*other.impl_, places, n_classes);
}

WordTable WordCounts::table(std::span<const std::int64_t> places) const { return impl_->table(places); }

}  // namespace weigh
