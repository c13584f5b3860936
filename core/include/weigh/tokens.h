// Tokens: the words of a text, runs of neighbouring words, or runs of characters.
//
// A text is folded first (lower case, accents), then split as scikit-learn's CountVectorizer splits:
// a word is a run of letters, digits and underscores of Unicode; stop words are dropped before
// neighbours are joined, by one space; among characters, two blanks or more count as one space.
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

// What tokens are made of: words, characters of the whole text, or characters of each word between
// blanks, with one space before and behind it.
enum class Unit { words, characters, characters_within_words };

struct TokenSettings {
    Unit unit = Unit::words;
    unicode::Folding folding;
    std::size_t min_length = 2;     // of a word, in characters
    std::size_t low = 1, high = 1;  // how many units are joined to a token
    std::vector<std::string> stop_words;
};

struct Token {
    Key key;
    std::string_view text;
    double value = 1;
};

// Finds the tokens of one document after the other. They are handed over some at a time, and are
// valid until the consumer returns.
class Tokenizer {
public:
    using Consume = std::function<void(std::span<const Token>)>;

    explicit Tokenizer(TokenSettings settings);

    void each(const Documents& documents, std::size_t row, const Consume& consume);

private:
    static constexpr std::size_t kBatch = 128;
    static constexpr std::size_t kKept = 1 << 20;  // bytes of scratch that are kept between documents

    void each_given(const Documents& documents, std::size_t row);
    void each_word(std::string_view text);
    void each_character(std::string_view text);
    void each_character_within_words(std::string_view text);

    void take_word(std::string_view word);
    void take_runs(std::string_view word);
    void take_character_runs(std::string_view text);
    void push(const Key& key, std::string_view text, double value = 1);
    void flush();
    void make_room(std::size_t size);

    TokenSettings settings_;
    Dictionary stops_;
    const Consume* consume_ = nullptr;
    std::string encoded_, folded_, spaced_;
    std::string joined_;                    // tokens that are no part of the folded text
    std::vector<std::string_view> recent_;  // the last words, of which runs are made
    std::vector<std::size_t> starts_;       // where the last characters begin
    std::array<Token, kBatch> batch_;
    std::size_t filled_ = 0;
};

}  // namespace weigh
