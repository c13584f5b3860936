// Numbers for names that come in batches: the next free one for a new name, or its bucket's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "weigh/vocabulary.h"

namespace weigh {

class SeenBuilder;

class Numbering {
public:
    // With buckets (a power of two) a name's number is its bucket.
    explicit Numbering(std::size_t buckets = 0);
    Numbering(Numbering&&) noexcept;
    ~Numbering();

    std::size_t size() const;
    bool is_hashed() const { return vocabulary_.is_hashed(); }

    // The names' numbers; unless they may grow, a new name has the number `Vocabulary::kUnknown`.
    std::vector<std::int32_t> numbers(NamesView names, bool grow);

    // Documents as rows over the numbers, new tokens taken up; within a row in order of first appearance.
    TokenRows learn(const Documents& documents, const TokenSettings& settings);

    // Take over the names of other buckets, as many as these.
    void join(const Numbering& other);

    // The names by number; of a bucket its shortest, of equally short ones that of the smallest hash.
    Names names() const;

private:
    class Buckets;
    Vocabulary vocabulary_;
    std::unique_ptr<Buckets> buckets_;
    std::unique_ptr<SeenBuilder> builder_;
};

// Numbers in order of first use for items that are already numbered, but of which few may be used.
class Places {
public:
    explicit Places(std::vector<std::int32_t> places) : places_(std::move(places)) {
        for (const std::int32_t place : places_) size_ = std::max(size_, static_cast<std::size_t>(place + 1));
    }

    std::size_t size() const { return size_; }
    std::span<const std::int32_t> places() const { return places_; }

    // The items' numbers; unless they may grow, one that was never used has a negative number.
    std::vector<std::int32_t> numbers(std::span<const std::int32_t> items, bool grow);

private:
    std::vector<std::int32_t> places_;  // of each item its number, negative if it has none
    std::size_t size_ = 0;
};

}  // namespace weigh
