// Counting tokens by class, straight from the documents, with no matrix in between.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "weigh/views.h"
#include "weigh/vocabulary.h"

namespace weigh {

struct CountSettings {
    TokenSettings tokens;
    std::size_t buckets = 0;  // zero: every token has a name and a row of its own
    bool presence = false;    // count documents that have a token, not its occurrences
    // Counts are gathered in 32 bits and moved into 64 before they can overflow.
    std::uint64_t most = 0xFFFFFFFF;
};

// All counts: one name and one column per token, in the order of the names' code points; with
// buckets one column per bucket, whose name is that of the shortest token seen in it (of at most 63
// bytes; a bucket with none such has no name).
struct WordTable {
    Names names;
    std::size_t classes = 0, words = 0;
    // Class-major, in the narrowest type that holds all counts; doubles if rows had weights or tokens
    // had values.
    std::variant<Zeroed<std::uint8_t>, Zeroed<std::uint16_t>, Zeroed<std::uint32_t>, Zeroed<std::int64_t>,
                 Zeroed<double>>
        cells;
};

class WordCounts {
public:
    explicit WordCounts(const CountSettings& settings);
    WordCounts(WordCounts&&) noexcept;
    ~WordCounts();

    // Count documents; row i belongs to classes[i], an empty weights span means one each.
    void add(const Documents& documents, Codes classes, std::size_t n_classes, std::span<const double> weights);

    // Take over the counts of others with the same settings, whose class c is places[c] here.
    void join(const WordCounts& other, std::span<const std::int64_t> places, std::size_t n_classes);

    // The table, its class c in row places[c].
    WordTable table(std::span<const std::int64_t> places) const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weigh
