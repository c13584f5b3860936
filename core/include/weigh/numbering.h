// Numbers for names that come in batches: the next free one for a new name, or its bucket's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "weigh/vocabulary.h"

namespace weigh {

class Numbering {
public:
    // With buckets (a power of two) a name's number is its bucket.
    explicit Numbering(std::size_t buckets = 0);
    Numbering(Numbering&&) noexcept;
    ~Numbering();

    std::size_t size() const;

    // The names' numbers; unless they may grow, a new name has the number `Vocabulary::kUnknown`.
    std::vector<std::int32_t> numbers(NamesView names, bool grow);

    // The names by number; of a bucket its shortest, of equally short ones that of the smallest hash.
    Names names() const;

private:
    class Buckets;
    Vocabulary vocabulary_;
    std::unique_ptr<Buckets> buckets_;
};

}  // namespace weigh
