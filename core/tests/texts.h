// Random texts, and the tokens they have by definition, for the tests of whatever splits texts.
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

// Letters, blanks and signs of one to four bytes; or any bytes at all.
inline std::string random_text(Random& random, std::size_t size) {
    static const std::array<std::string_view, 14> kSigns{
        "a",    "B", "_", " ",        "\t",           "\xE3\x80\x80",     ".",
        "\0"sv, "7", "-", "\xC3\x89", "\xE4\xB8\xAD", "\xF0\x9D\x90\x80", "\xF0\x9F\x98\x80"};
    const bool any = below(random, 4) == 0;
    std::string text;
    while (text.size() < size) {
        if (any) {
            text += static_cast<char>(random());
            continue;
        }
        for (std::size_t n = below(random, 6); n-- > 0;) text += kSigns[below(random, 3)];
        text += kSigns[below(random, kSigns.size())];
    }
    return text;
}

// Texts in memory of exactly their size, so that a sanitizer sees a byte too many; no value is a missing
// text.
class Held {
public:
    explicit Held(const std::vector<std::optional<std::string>>& texts) {
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

inline void add_runs(Strings& found, const Strings& units, std::string_view between, const TokenSettings& settings) {
    for (std::size_t n = settings.min_n; n <= std::min(settings.max_n, units.size()); ++n) {
        for (std::size_t begin = 0; begin + n <= units.size(); ++begin) {
            std::string run = units[begin];
            for (std::size_t i = 1; i < n; ++i) run.append(between).append(units[begin + i]);
            found.push_back(run);
        }
    }
}

inline Strings words_of(const Strings& characters, const TokenSettings& settings) {
    Strings words, found;
    std::string word;
    std::size_t length = 0;
    const auto end_word = [&] {
        const auto& stops = settings.stop_words;
        if (length >= settings.min_length && std::find(stops.begin(), stops.end(), word) == stops.end())
            words.push_back(word);
        word.clear(), length = 0;
    };
    for (const auto& character : characters) {
        const char* at = character.data();
        if (unicode::is_word(unicode::decode(at, at + character.size()))) word += character, ++length;
        else end_word();
    }
    end_word();
    add_runs(found, words, " ", settings);
    return found;
}

// The same tokens as the tokenizer's, in another order: the text is split as its definition says.
inline Strings plain_tokens(std::string_view text, const TokenSettings& settings) {
    std::string folded;
    unicode::fold(text, settings.folding, folded);
    const Strings characters = characters_of(folded);
    if (settings.unit == Unit::words) return words_of(characters, settings);
    Strings found, units;
    const bool within = settings.unit == Unit::characters_within_words;
    for (std::size_t i = 0; i <= characters.size(); ++i) {
        const bool at_end = i == characters.size();
        if (!within) {
            if (at_end) add_runs(found, units, "", settings);
            else if (i == 0 || !is_space(characters[i]) || !is_space(characters[i - 1])) units.push_back(characters[i]);
            else units.back().assign(1, ' ');
        } else if (!at_end && !is_space(characters[i])) {
            units.push_back(characters[i]);
        } else if (!units.empty()) {
            units.insert(units.begin(), " ");
            units.push_back(" ");
            add_runs(found, units, "", settings);
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
