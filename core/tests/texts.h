// Random texts and a reference tokenizer, shared by the tests of text processing.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expect.h"
#include "weigh/tokenizer.h"
#include "weigh/vocabulary.h"

namespace weigh::tests {

using namespace std::string_view_literals;

using Strings = std::vector<std::string>;

inline std::size_t below(Random& random, std::size_t n) { return static_cast<std::size_t>(random() % n); }

// Letters, white space and other characters of one to four bytes; or arbitrary bytes.
inline std::string random_text(Random& random, std::size_t size) {
    static const std::array<std::string_view, 14> kCharacters{
        "a",    "B", "_", " ",        "\t",           "\xE3\x80\x80",     ".",
        "\0"sv, "7", "-", "\xC3\x89", "\xE4\xB8\xAD", "\xF0\x9D\x90\x80", "\xF0\x9F\x98\x80"};
    const bool any = below(random, 4) == 0;
    std::string text;
    while (text.size() < size) {
        if (any) {
            text += static_cast<char>(random());
            continue;
        }
        for (std::size_t n = below(random, 6); n-- > 0;) text += kCharacters[below(random, 3)];
        text += kCharacters[below(random, kCharacters.size())];
    }
    return text;
}

// Texts in exactly sized memory, so that the sanitizer detects out-of-bounds reads; nullopt is a missing text.
class ExactTexts {
public:
    explicit ExactTexts(const std::vector<std::optional<std::string>>& texts) {
        for (const auto& text : texts) {
            bytes_.push_back(text ? std::vector<char>(text->begin(), text->end()) : std::vector<char>());
            if (text) texts_.push_back({bytes_.back().empty() ? "" : bytes_.back().data(), text->size()});
            else texts_.push_back({});
        }
    }
    Documents view() const { return {texts_, {}, {}}; }

private:
    std::vector<std::vector<char>> bytes_;
    std::vector<Text> texts_;
};

inline Strings characters_of(std::string_view text) {
    Strings found;
    for (const char *at = text.data(), *end = at + text.size(); at != end;) {
        const char* begin = at;
        unicode::decode(at, end);
        found.emplace_back(begin, at);
    }
    return found;
}

inline bool is_space(const std::string& character) {
    const char* at = character.data();
    return unicode::is_space(unicode::decode(at, at + character.size()));
}

inline void add_ngrams(Strings& found, const Strings& units, std::string_view between, const TokenSettings& settings) {
    for (std::size_t n = settings.min_n; n <= std::min(settings.max_n, units.size()); ++n) {
        for (std::size_t begin = 0; begin + n <= units.size(); ++begin) {
            std::string ngram = units[begin];
            for (std::size_t i = 1; i < n; ++i) ngram.append(between).append(units[begin + i]);
            found.push_back(ngram);
        }
    }
}

inline Strings words_of(const Strings& characters, const TokenSettings& settings) {
    Strings words, found;
    std::string word;
    std::size_t length = 0;
    const auto end_word = [&] {
        const auto& stop_words = settings.stop_words;
        if (length >= settings.min_length && std::find(stop_words.begin(), stop_words.end(), word) == stop_words.end())
            words.push_back(word);
        word.clear(), length = 0;
    };
    for (const auto& character : characters) {
        const char* at = character.data();
        if (unicode::is_word(unicode::decode(at, at + character.size()))) word += character, ++length;
        else end_word();
    }
    end_word();
    add_ngrams(found, words, " ", settings);
    return found;
}

// Reference implementation of the tokenizer, with the tokens in a different order.
inline Strings reference_tokens(std::string_view text, const TokenSettings& settings) {
    std::string folded;
    unicode::fold(text, settings.folding, folded);
    const Strings characters = characters_of(folded);
    if (settings.unit == Unit::words) return words_of(characters, settings);
    Strings found, units;
    const bool is_within_words = settings.unit == Unit::characters_within_words;
    for (std::size_t i = 0; i <= characters.size(); ++i) {
        const bool at_end = i == characters.size();
        if (!is_within_words) {
            if (at_end) add_ngrams(found, units, "", settings);
            else if (i == 0 || !is_space(characters[i]) || !is_space(characters[i - 1])) units.push_back(characters[i]);
            else units.back().assign(1, ' ');
        } else if (!at_end && !is_space(characters[i])) {
            units.push_back(characters[i]);
        } else if (!units.empty()) {
            units.insert(units.begin(), " ");
            units.push_back(" ");
            add_ngrams(found, units, "", settings);
            std::string whole;
            for (const auto& unit : units) whole += unit;
            if (units.size() < settings.min_n) found.push_back(whole);
            units.clear();
        }
    }
    return found;
}

inline TokenSettings random_settings(Random& random) {
    TokenSettings settings;
    settings.unit = static_cast<Unit>(below(random, 3));
    settings.folding = {below(random, 2) == 0, below(random, 2) == 0};
    settings.min_length = 1 + below(random, 3);
    settings.min_n = 1 + below(random, 4);
    settings.max_n = settings.min_n + below(random, 3);
    if (below(random, 2) == 0) settings.stop_words = {"aa", "ab", "\xC3\xA9", "a_", std::string(20, 'a')};
    return settings;
}

inline Names names_of(const Strings& words) {
    Names names;
    for (const auto& word : words) names.add(word);
    return names;
}
inline NamesView view_of(const Names& names) { return {names.text, names.offsets}; }
inline Strings strings_of(const Names& names) {
    Strings words;
    for (std::size_t k = 0; k < view_of(names).size(); ++k) words.emplace_back(view_of(names)[k]);
    return words;
}

}  // namespace weigh::tests
