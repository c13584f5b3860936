#include "weigh/numbering.h"

#include "bucket_names.h"

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

    Names names() const {
        Names names;
        for (std::size_t bucket = 0; bucket < ranks_.size(); ++bucket) names.add(names_[bucket]);
        return names;
    }

private:
    BucketNames names_;
    std::vector<std::uint64_t> ranks_;
};

Numbering::Numbering(std::size_t buckets) : vocabulary_(buckets) {
    if (buckets != 0) buckets_ = std::make_unique<Buckets>(buckets);
}

Numbering::Numbering(Numbering&&) noexcept = default;
Numbering::~Numbering() = default;

std::size_t Numbering::size() const { return vocabulary_.size(); }

std::vector<std::int32_t> Numbering::numbers(NamesView names, bool grow) {
    std::vector<std::int32_t> found(names.size());
    for (std::size_t k = 0; k < names.size(); ++k) {
        const Token token{key_of(names[k], false), names[k]};
        found[k] = grow ? static_cast<std::int32_t>(vocabulary_.number(token)) : vocabulary_.find(token);
        if (grow && buckets_) buckets_->claim(static_cast<std::size_t>(found[k]), token);
    }
    return found;
}

Names Numbering::names() const { return buckets_ ? buckets_->names() : vocabulary_.names(); }

}  // namespace weigh
