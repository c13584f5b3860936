// Splits texts into word or character n-grams.
//
// A text is folded (lower case, accents) and then split like scikit-learn's CountVectorizer: a word is a sequence of
// Unicode letters, digits and underscores; stop words are removed before word n-grams are formed, which are joined by
// one space; for character n-grams, runs of white space become one space.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weigh/dictionary.h"
#include "weigh/documents.h"
#include "weigh/unicode.h"

namespace weigh {

// Units of n-grams: words, characters of the whole text, or characters of each white-space-separated word padded with
// one space on both sides.
enum class Unit { words, characters, characters_within_words };

struct TokenSettings {
    Unit unit = Unit::words;
    unicode::Folding folding;
    std::size_t min_length = 2;        // of a word, in characters
    std::size_t min_n = 1, max_n = 1;  // n-gram range
    std::vector<std::string> stop_words;
};

struct Token {
    Key key;
    std::string_view text;
    double value = 1;
};

// Tokenizes documents one by one. Tokens are passed to the consumer in batches, and are valid until it returns.
class Tokenizer {
public:
    using Consume = std::function<void(std::span<const Token>)>;

    explicit Tokenizer(TokenSettings settings);

    void for_each_token(const Documents& documents, std::size_t row, const Consume& consume);

private:
    static constexpr std::size_t kBatch = 128;
    static constexpr std::size_t kMaxScratch = 1 << 20;  // bytes of scratch memory kept between documents

    void emit_listed(const Documents& documents, std::size_t row);
    void split_words(std::string_view text);
    void split_characters(std::string_view text);
    void split_characters_within_words(std::string_view text);

    void emit_word(std::string_view word);
    void emit_word_ngrams(std::string_view word);
    void emit_character_ngrams(std::string_view text);
    void emit(const Key& key, std::string_view text, double value = 1);
    void flush();
    void reserve_joined(std::size_t size);

    TokenSettings settings_;
    Dictionary stop_words_;
    const Consume* consume_ = nullptr;
    std::string encoded_, folded_, spaced_;
    std::string joined_;                    // tokens that are not substrings of the folded text
    std::vector<std::string_view> recent_;  // recent words, for n-grams
    std::vector<std::size_t> starts_;       // start offsets of recent characters
    std::array<Token, kBatch> batch_;
    std::size_t filled_ = 0;
};

}  // namespace weigh
