#include "weigh/numbering.h"

#include "bucket_names.h"
#include "token_rows.h"

namespace weigh {

// The best name of each bucket so far.
class Numbering::Buckets {
public:
    explicit Buckets(std::size_t buckets) : names_(buckets), ranks_(buckets, BucketNames::kNone) {}

    void claim(std::size_t bucket, const Token& token) {
        const std::uint64_t rank = BucketNames::rank(token.key.hash, token.text.size());
        if (rank <= ranks_[bucket]) return;
        ranks_[bucket] = rank;
        names_.put(bucket, token.text);
    }

    void prefetch(std::size_t bucket) const { __builtin_prefetch(&ranks_[bucket]); }

    void join(const Buckets& other) {
        for (std::size_t bucket = 0; bucket < ranks_.size(); ++bucket) {
            if (other.ranks_[bucket] <= ranks_[bucket]) continue;
            ranks_[bucket] = other.ranks_[bucket];
            names_.put(bucket, other.names_[bucket]);
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

Numbering::Numbering(std::size_t buckets) : vocabulary_(buckets), builder_(std::make_unique<SeenBuilder>()) {
    if (buckets != 0) buckets_ = std::make_unique<Buckets>(buckets);
}

Numbering::Numbering(Numbering&&) noexcept = default;
Numbering::~Numbering() = default;

std::size_t Numbering::size() const { return vocabulary_.size(); }

std::vector<std::int32_t> Numbering::numbers(NamesView names, bool grow) {
    constexpr std::size_t kAhead = 16;
    std::vector<Token> tokens(names.size());
    for (std::size_t k = 0; k < names.size(); ++k) tokens[k] = {key_of(names[k], false), names[k]};
    std::vector<std::int32_t> found(names.size());
    for (std::size_t k = 0; k < names.size(); ++k) {
        if (k + kAhead < names.size()) vocabulary_.prefetch(tokens[k + kAhead].key);
        const Token& token = tokens[k];
        found[k] = grow ? static_cast<std::int32_t>(vocabulary_.number(token)) : vocabulary_.find(token);
        if (grow && buckets_) buckets_->claim(static_cast<std::size_t>(found[k]), token);
    }
    return found;
}

TokenRows Numbering::learn(const Documents& documents, const TokenSettings& settings) {
    return rows_of(documents, settings, *builder_, [&](std::span<const Token> tokens, SeenBuilder& builder) {
        for (const Token& token : tokens) {
            vocabulary_.prefetch(token.key);
            if (!buckets_) continue;
            builder.prefetch(vocabulary_.number(token));
            buckets_->prefetch(vocabulary_.number(token));
        }
        for (const Token& token : tokens) {
            const std::size_t number = vocabulary_.number(token);
            if (buckets_) buckets_->claim(number, token);
            builder.add(static_cast<std::int32_t>(number), token.value);
        }
    });
}

void Numbering::join(const Numbering& other) { buckets_->join(*other.buckets_); }

Names Numbering::names() const { return buckets_ ? buckets_->names() : vocabulary_.names(); }

std::vector<std::int32_t> Places::numbers(std::span<const std::int32_t> items, bool grow) {
    std::vector<std::int32_t> found(items.size());
    for (std::size_t k = 0; k < items.size(); ++k) {
        std::int32_t& place = places_[static_cast<std::size_t>(items[k])];
        if (place < 0 && grow) place = static_cast<std::int32_t>(size_++);
        found[k] = place;
    }
    return found;
}

}  // namespace weigh
