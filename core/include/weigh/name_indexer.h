// Consecutive indices for names that arrive in batches, or hash buckets; and compaction of sparse index ranges.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "weigh/vocabulary.h"

namespace weigh {

class FirstSeenRowBuilder;

class NameIndexer {
public:
    // With buckets (a power of two), the index of a name is its bucket.
    explicit NameIndexer(std::size_t buckets = 0);
    NameIndexer(NameIndexer&&) noexcept;
    ~NameIndexer();

    std::size_t size() const;
    bool is_hashed() const { return vocabulary_.is_hashed(); }

    // The indices of the names. Without `grow`, a new name gets `Vocabulary::kUnknown`.
    std::vector<std::int32_t> index(NamesView names, bool grow);

    // Tokenize documents into sparse rows in order of first appearance, adding new tokens.
    CsrRows index_tokens(const Documents& documents, const TokenSettings& settings);

    // Merge the bucket names of another indexer with the same number of buckets.
    void merge(const NameIndexer& other);

    // The names by index. The name of a bucket is its shortest token, on ties the one with the smallest hash.
    Names names() const;

private:
    class BucketTable;
    Vocabulary vocabulary_;
    std::unique_ptr<BucketTable> buckets_;
    std::unique_ptr<FirstSeenRowBuilder> builder_;
};

// Maps indices of a large range, of which few are used, to consecutive indices in order of first use.
class IndexCompactor {
public:
    explicit IndexCompactor(std::vector<std::int32_t> mapping) : mapping_(std::move(mapping)) {
        for (const std::int32_t index : mapping_) size_ = std::max(size_, static_cast<std::size_t>(index + 1));
    }

    std::size_t size() const { return size_; }
    std::span<const std::int32_t> mapping() const { return mapping_; }

    // The compact indices of the items. Without `grow`, an unused item gets a negative index.
    std::vector<std::int32_t> compact(std::span<const std::int32_t> items, bool grow);

private:
    std::vector<std::int32_t> mapping_;  // compact index of each item, negative if unused
    std::size_t size_ = 0;
};

}  // namespace weigh
