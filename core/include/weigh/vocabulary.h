// Vocabulary: indices for tokens by name or by hash bucket.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "weigh/tokenizer.h"
#include "weigh/views.h"

namespace weigh {

// Concatenated names, as in model files: name k is text[offsets[k]] .. text[offsets[k + 1]].
struct Names {
    std::string text;
    std::vector<std::int64_t> offsets{0};

    void add(std::string_view name) {
        text.append(name);
        offsets.push_back(static_cast<std::int64_t>(text.size()));
    }
};

struct NamesView {
    std::string_view text;
    std::span<const std::int64_t> offsets;

    std::size_t size() const { return offsets.size() - 1; }
    std::string_view operator[](std::size_t k) const {
        const auto begin = static_cast<std::size_t>(offsets[k]);
        return text.substr(begin, static_cast<std::size_t>(offsets[k + 1]) - begin);
    }
};

// Indices for tokens. With buckets (a power of two), the index is the low bits of the hash, optionally remapped;
// otherwise indices are assigned in order of first appearance.
class Vocabulary {
public:
    static constexpr std::int32_t kUnknown = Dictionary::kNew;

    explicit Vocabulary(std::size_t buckets = 0) : buckets_(buckets), size_(buckets) {}
    // The index of every bucket; a negative one means that the bucket is unknown.
    explicit Vocabulary(std::span<const std::int32_t> index_map)
        : buckets_(index_map.size()), index_map_(index_map.begin(), index_map.end()) {
        for (const std::int32_t index : index_map) size_ = std::max(size_, static_cast<std::size_t>(index + 1));
    }

    bool is_hashed() const { return buckets_ != 0; }
    std::size_t size() const { return is_hashed() ? size_ : dictionary_.size(); }

    void prefetch(const Key& key) const {
        if (!is_hashed()) dictionary_.prefetch(key);
        else if (!index_map_.empty()) __builtin_prefetch(&index_map_[bucket(key)]);
    }

    // The index of the token; a new token gets the next one.
    std::size_t find_or_add(const Token& token) {
        if (is_hashed()) return bucket(token.key);
        std::int32_t& code = dictionary_.code(token.key, token.text);
        if (code == Dictionary::kNew) {
            if (dictionary_.size() > kMaxTokens) throw std::length_error("there are too many distinct tokens");
            code = static_cast<std::int32_t>(dictionary_.size() - 1);
        }
        return static_cast<std::size_t>(code);
    }

    // The index of the token, or `kUnknown`.
    std::int32_t find(const Token& token) const {
        if (!is_hashed()) return dictionary_.find(token.key, token.text);
        if (index_map_.empty()) return static_cast<std::int32_t>(bucket(token.key));
        const std::int32_t index = index_map_[bucket(token.key)];
        return index < 0 ? kUnknown : index;
    }

    // Assign the indices 0, 1, ... to the names; false if a name occurs twice.
    bool add_all(NamesView names);

    // The names by index.
    Names names() const;

private:
    static constexpr std::size_t kMaxTokens = 0x7FFFFFFF;

    std::size_t bucket(const Key& key) const { return key.hash & (buckets_ - 1); }

    std::size_t buckets_;
    std::size_t size_ = 0;
    std::vector<std::int32_t> index_map_;
    Dictionary dictionary_;
};

// The permutation that sorts names by code points.
std::vector<std::int32_t> argsort_names(NamesView names);

// The names with the given indices.
Names take_names(NamesView names, std::span<const std::int32_t> order);

// Two sorted lists of names merged, and the positions of both lists' names in the result.
struct MergedNames {
    Names names;
    std::vector<std::int64_t> first, second;
};
MergedNames merge_names(NamesView first, NamesView second);

// The preferred name of every bucket from two lists: the shorter one, on ties the one with the smaller hash. An empty
// name means none.
Names select_shorter_names(NamesView first, NamesView second);

// Tokenize documents into rows over the vocabulary, with ascending indices; unknown tokens are skipped.
CsrRows find_tokens(const Documents& documents, const TokenSettings& settings, const Vocabulary& vocabulary);

// The same with indices in order of first appearance, which saves sorting.
CsrRows find_unsorted_tokens(const Documents& documents, const TokenSettings& settings, const Vocabulary& vocabulary);

// Rows with ascending indices, adding new tokens to the vocabulary.
CsrRows find_or_add_tokens(const Documents& documents, const TokenSettings& settings, Vocabulary& vocabulary);

// scores[i] += Σ value · table[index] over the known tokens of the row; the table is token-major.
void score_tokens(const Documents& documents, const TokenSettings& settings, const Vocabulary& vocabulary,
                  std::span<const double> table, std::size_t classes, std::span<double> scores);

}  // namespace weigh
