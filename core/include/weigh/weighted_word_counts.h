// Sums of the values of words by class, and document frequencies, directly from documents.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "weigh/term_weights.h"
#include "weigh/views.h"
#include "weigh/vocabulary.h"

namespace weigh {

struct WeightedCountSettings {
    TokenSettings tokens;
    std::size_t buckets = 0;  // zero means one row per token
    TermWeighting weighting;  // applied to each document, without document frequencies
};

// One name and one column per token, sorted by code points; with buckets, one per bucket, as in `WordTable`.
struct WeightedWordTable {
    Names names;
    std::size_t classes = 0, words = 0;
    ZeroedArray<std::int64_t> sums;  // class-major, in units of 2⁻³²
    std::vector<double> documents;   // total weight of the documents that contain each token
};

class WeightedWordCounts {
public:
    explicit WeightedWordCounts(const WeightedCountSettings& settings);
    WeightedWordCounts(WeightedWordCounts&&) noexcept;
    ~WeightedWordCounts();

    // Add documents; row i belongs to classes[i], an empty `weights` span means unit weights.
    // Throws std::overflow_error if a sum leaves the range of 64 bits.
    void add(const Documents& documents, Codes classes, std::size_t n_classes, std::span<const double> weights);

    // Add the sums of another instance with the same settings, whose class c is class_map[c] here.
    void merge(const WeightedWordCounts& other, std::span<const std::int64_t> class_map, std::size_t n_classes);

    // The sums, with class c in row class_map[c].
    WeightedWordTable table(std::span<const std::int64_t> class_map) const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weigh
