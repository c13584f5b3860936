// Counts tokens by class directly from documents, without an intermediate matrix.
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
    std::size_t buckets = 0;  // zero means one row per token
    bool presence = false;    // count documents that contain a token, not its occurrences
    // Counts are accumulated in 32 bits and moved to 64 bits before they can overflow.
    std::uint64_t max_count = 0xFFFFFFFF;
};

// All counts: one name and one column per token, sorted by code points. With buckets, one column per bucket, named
// after its shortest token of at most 63 bytes; a bucket without one has no name.
struct WordTable {
    Names names;
    std::size_t classes = 0, words = 0;
    // Class-major, in the narrowest type that holds all counts; doubles if rows have weights or tokens have values.
    std::variant<ZeroedArray<std::uint8_t>, ZeroedArray<std::uint16_t>, ZeroedArray<std::uint32_t>,
                 ZeroedArray<std::int64_t>, ZeroedArray<double>>
        cells;
};

class WordCounts {
public:
    explicit WordCounts(const CountSettings& settings);
    WordCounts(WordCounts&&) noexcept;
    ~WordCounts();

    // Count documents; row i belongs to classes[i], an empty `weights` span means unit weights.
    void add(const Documents& documents, Codes classes, std::size_t n_classes, std::span<const double> weights);

    // Add the counts of another instance with the same settings, whose class c is class_map[c] here.
    void merge(const WordCounts& other, std::span<const std::int64_t> class_map, std::size_t n_classes);

    // The counts, with class c in row class_map[c].
    WordTable table(std::span<const std::int64_t> class_map) const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weigh
