#include "weigh/name_indexer.h"

#include "bucket_names.h"
#include "token_rows.h"

namespace weigh {

// The preferred name of each bucket so far.
class NameIndexer::BucketTable {
public:
    explicit BucketTable(std::size_t buckets) : names_(buckets), ranks_(buckets, BucketNames::kNoRank) {}

    void offer(std::size_t bucket, const Token& token) {
        const std::uint64_t rank = BucketNames::rank(token.key.hash, token.text.size());
        if (rank <= ranks_[bucket]) return;
        ranks_[bucket] = rank;
        names_.set(bucket, token.text);
    }

    void prefetch(std::size_t bucket) const { __builtin_prefetch(&ranks_[bucket]); }

    void merge(const BucketTable& other) {
        for (std::size_t bucket = 0; bucket < ranks_.size(); ++bucket) {
            if (other.ranks_[bucket] <= ranks_[bucket]) continue;
            ranks_[bucket] = other.ranks_[bucket];
            names_.set(bucket, other.names_[bucket]);
        }
    }

    Names names() const {
        Names names;
        for (std::size_t bucket = 0; bucket < ranks_.size(); ++bucket) names.add(names_[bucket]);
        return names;
    }

private:
    BucketNames names_;
    std::vector<std::uint64_t> ranks_;
};

NameIndexer::NameIndexer(std::size_t buckets)
    : vocabulary_(buckets), builder_(std::make_unique<FirstSeenRowBuilder>()) {
    if (buckets != 0) buckets_ = std::make_unique<BucketTable>(buckets);
}

NameIndexer::NameIndexer(NameIndexer&&) noexcept = default;
NameIndexer::~NameIndexer() = default;

std::size_t NameIndexer::size() const { return vocabulary_.size(); }

std::vector<std::int32_t> NameIndexer::index(NamesView names, bool grow) {
    constexpr std::size_t kAhead = 16;
    std::vector<Token> tokens(names.size());
    for (std::size_t k = 0; k < names.size(); ++k) tokens[k] = {key_of(names[k], false), names[k]};
    std::vector<std::int32_t> indices(names.size());
    for (std::size_t k = 0; k < names.size(); ++k) {
        if (k + kAhead < names.size()) vocabulary_.prefetch(tokens[k + kAhead].key);
        const Token& token = tokens[k];
        indices[k] = grow ? static_cast<std::int32_t>(vocabulary_.find_or_add(token)) : vocabulary_.find(token);
        if (grow && buckets_) buckets_->offer(static_cast<std::size_t>(indices[k]), token);
    }
    return indices;
}

CsrRows NameIndexer::index_tokens(const Documents& documents, const TokenSettings& settings) {
    return build_rows(documents, settings, *builder_, [&](std::span<const Token> tokens, FirstSeenRowBuilder& builder) {
        for (const Token& token : tokens) {
            vocabulary_.prefetch(token.key);
            if (!buckets_) continue;
            builder.prefetch(vocabulary_.find_or_add(token));
            buckets_->prefetch(vocabulary_.find_or_add(token));
        }
        for (const Token& token : tokens) {
            const std::size_t index = vocabulary_.find_or_add(token);
            if (buckets_) buckets_->offer(index, token);
            builder.add(static_cast<std::int32_t>(index), token.value);
        }
    });
}

void NameIndexer::merge(const NameIndexer& other) { buckets_->merge(*other.buckets_); }

Names NameIndexer::names() const { return buckets_ ? buckets_->names() : vocabulary_.names(); }

std::vector<std::int32_t> IndexCompactor::compact(std::span<const std::int32_t> items, bool grow) {
    std::vector<std::int32_t> indices(items.size());
    for (std::size_t k = 0; k < items.size(); ++k) {
        std::int32_t& index = mapping_[static_cast<std::size_t>(items[k])];
        if (index < 0 && grow) index = static_cast<std::int32_t>(size_++);
        indices[k] = index;
    }
    return indices;
}

}  // namespace weigh
