// A vocabulary: tokens and their numbers, known by name or only by bucket.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "weigh/tokens.h"

namespace weigh {

// Names end to end, as model files hold them: name k is text[offsets[k]] .. text[offsets[k + 1]].
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

// Numbers for tokens. With buckets (a power of two) a token's number is its hash's last bits, or the
// place that is given to that bucket; else numbers are given in order of first appearance.
class Vocabulary {
public:
    static constexpr std::int32_t kUnknown = Dictionary::kNew;

    explicit Vocabulary(std::size_t buckets = 0) : buckets_(buckets), size_(buckets) {}
    // One place for every bucket; a negative one means that the bucket is unknown.
    explicit Vocabulary(std::span<const std::int32_t> places)
        : buckets_(places.size()), places_(places.begin(), places.end()) {
        for (const std::int32_t place : places) size_ = std::max(size_, static_cast<std::size_t>(place + 1));
    }

    bool is_hashed() const { return buckets_ != 0; }
    std::size_t size() const { return is_hashed() ? size_ : dictionary_.size(); }

    void prefetch(const Key& key) const {
        if (!is_hashed()) dictionary_.prefetch(key);
        else if (!places_.empty()) __builtin_prefetch(&places_[bucket(key)]);
    }

    // The token's number; a token that is new gets the next one.
    std::size_t number(const Token& token) {
        if (is_hashed()) return bucket(token.key);
        std::int32_t& code = dictionary_.code(token.key, token.text);
        if (code == Dictionary::kNew) {
            if (dictionary_.size() > kMost) throw std::length_error("there are too many different tokens");
            code = static_cast<std::int32_t>(dictionary_.size() - 1);
        }
        return static_cast<std::size_t>(code);
    }

    // The token's number, or `kUnknown`.
    std::int32_t find(const Token& token) const {
        if (!is_hashed()) return dictionary_.find(token.key, token.text);
        if (places_.empty()) return static_cast<std::int32_t>(bucket(token.key));
        const std::int32_t place = places_[bucket(token.key)];
        return place < 0 ? kUnknown : place;
    }

    // Number the names 0, 1, ...; false if one of them occurs twice.
    bool add_all(NamesView names);

    // The names by number.
    Names names() const;

private:
    static constexpr std::size_t kMost = 0x7FFFFFFF;

    std::size_t bucket(const Key& key) const { return key.hash & (buckets_ - 1); }

    std::size_t buckets_;
    std::size_t size_ = 0;
    std::vector<std::int32_t> places_;
    Dictionary dictionary_;
};

// The numbers that put names into the order of their code points.
std::vector<std::int32_t> sorted_order(NamesView names);

// The names with the given numbers.
Names taken(NamesView names, std::span<const std::int32_t> order);

// Two sorted lists of names as one, and the places of the first's and of the second's names in it.
struct MergedNames {
    Names names;
    std::vector<std::int64_t> first, second;
};
MergedNames merged(NamesView first, NamesView second);

// Of two lists of names of buckets the better name of each: the shorter one, of equally short ones
// that of the smaller hash; an empty one is none.
Names shorter(NamesView first, NamesView second);

// Documents as sparse rows over a vocabulary, every token once per row, in order of their numbers.
struct TokenRows {
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<double> values;
};

// The tokens that the vocabulary knows; with `kUnknown` ones passed over.
TokenRows find_tokens(const Documents& documents, const TokenSettings& settings, const Vocabulary& vocabulary);

// The same, with new tokens taken into the vocabulary.
TokenRows learn_tokens(const Documents& documents, const TokenSettings& settings, Vocabulary& vocabulary);

// scores[i] += Σ value · table[number] over the row's known tokens; the table is token-major.
void score_tokens(const Documents& documents, const TokenSettings& settings, const Vocabulary& vocabulary,
                  std::span<const double> table, std::size_t classes, std::span<double> scores);

}  // namespace weigh
