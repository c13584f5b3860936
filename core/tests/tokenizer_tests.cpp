// Tests of the tokenizer, the dictionary and names against references, on random texts and bytes.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "texts.h"
#include "weigh/dictionary.h"

namespace {

using namespace weigh;
using namespace weigh::tests;

Strings tokens_of(const Documents& documents, std::size_t row, const TokenSettings& settings) {
    Strings found;
    Tokenizer(settings).for_each_token(documents, row, [&](std::span<const Token> tokens) {
        for (const Token& token : tokens) {
            EXPECT(token.key.hash == key_of(token.text, false).hash);
            found.emplace_back(token.text);
        }
    });
    return found;
}

void tokens_equal_the_reference(Random& random, std::size_t n) {
    const TokenSettings settings = random_settings(random);
    const std::string text = random_text(random, n);
    const ExactTexts held({text, std::nullopt, std::string()});
    Strings found = tokens_of(held.view(), 0, settings), expected = reference_tokens(text, settings);
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    EXPECT(found == expected);
    EXPECT(tokens_of(held.view(), 1, settings).empty());
    EXPECT(tokens_of(held.view(), 2, settings).empty());
}

void all_encodings_have_the_same_tokens(Random& random, std::size_t n) {
    std::vector<unsigned char> narrow;
    for (std::size_t i = 0; i < n; ++i) narrow.push_back(static_cast<unsigned char>(32 + random() % 224));
    const std::vector<std::uint16_t> two(narrow.begin(), narrow.end());
    const std::vector<std::uint32_t> four(narrow.begin(), narrow.end());
    std::string utf8;
    unicode::append_latin1(utf8, narrow.data(), narrow.size());
    const std::vector<Text> texts{{utf8.data(), utf8.size(), Encoding::utf8},
                                  {n ? narrow.data() : static_cast<const void*>(""), n, Encoding::latin1},
                                  {n ? two.data() : static_cast<const void*>(""), n, Encoding::ucs2},
                                  {n ? four.data() : static_cast<const void*>(""), n, Encoding::ucs4}};
    const TokenSettings settings = random_settings(random);
    const Strings expected = tokens_of({texts, {}, {}}, 0, settings);
    for (std::size_t row = 1; row < texts.size(); ++row) EXPECT(tokens_of({texts, {}, {}}, row, settings) == expected);
    // Listed tokens are not split, whatever their encoding.
    const std::vector<std::int64_t> indptr{0, 0, 4};
    EXPECT(tokens_of({texts, indptr, {}}, 0, settings).empty());
    EXPECT(tokens_of({texts, indptr, {}}, 1, settings) == Strings(4, utf8));
}

void a_dictionary_distinguishes_all_texts(Random& random, std::size_t n) {
    Dictionary dictionary;
    std::map<std::string, std::int32_t> reference;
    if (n % 2 != 0) dictionary.reserve(n);
    for (std::size_t i = 0; i < 20 * n; ++i) {
        std::string text(below(random, 40), '\0');
        for (char& letter : text) letter = static_cast<char>(random() % 3);
        std::int32_t& code = dictionary.code(text, false);
        const auto [entry, is_new] = reference.try_emplace(text, static_cast<std::int32_t>(reference.size()));
        EXPECT(code == (is_new ? Dictionary::kNew : entry->second));
        code = entry->second;
    }
    EXPECT(dictionary.size() == reference.size());
    std::map<std::string, std::int32_t> visited;
    dictionary.for_each([&](std::string_view text, std::int32_t code) { visited.emplace(text, code); });
    EXPECT(visited == reference);
    for (const auto& [text, code] : reference) EXPECT(dictionary.find(key_of(text, false), text) == code);
    const std::string absent(41, 'x');
    EXPECT(dictionary.find(key_of(absent, false), absent) == Dictionary::kNew);
}

void names_are_sorted_merged_and_looked_up(Random& random, std::size_t n) {
    std::array<std::set<std::string>, 2> sets;
    for (auto& set : sets)
        for (std::size_t i = 0; i < n; ++i) set.insert(random_text(random, below(random, 30)));
    const Strings first(sets[0].begin(), sets[0].end()), second(sets[1].begin(), sets[1].end());
    Strings shuffled = first, both;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    const Names names = names_of(shuffled), one = names_of(first), two = names_of(second);
    EXPECT(strings_of(take_names(view_of(names), argsort_names(view_of(names)))) == first);
    std::set_union(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(both));
    const MergedNames all = merge_names(view_of(one), view_of(two));
    EXPECT(strings_of(all.names) == both);
    const auto have_positions = [&](const Strings& words, const std::vector<std::int64_t>& places) {
        return std::equal(words.begin(), words.end(), places.begin(), places.end(),
                          [&](const auto& word, auto place) { return both[static_cast<std::size_t>(place)] == word; });
    };
    EXPECT(have_positions(first, all.first) && have_positions(second, all.second));
    Vocabulary vocabulary, twice;
    EXPECT(vocabulary.add_all(view_of(names)) && strings_of(vocabulary.names()) == shuffled);
    if (n == 0) return;
    shuffled.push_back(std::string(shuffled.front()));
    const Names repeated = names_of(shuffled);
    EXPECT(!twice.add_all(view_of(repeated)));
}

void the_shorter_name_is_preferred() {
    const auto preferred = [](const std::string& one, const std::string& other) {
        const Names first = names_of({one}), second = names_of({other});
        return strings_of(select_shorter_names(view_of(first), view_of(second)));
    };
    const std::string longest(63, 'y'), too_long(64, 'x');
    EXPECT(preferred("", "a") == Strings{"a"} && preferred("a", "") == Strings{"a"});
    EXPECT(preferred("", "") == Strings{""});
    EXPECT(preferred("abc", "ab") == Strings{"ab"} && preferred("ab", "abc") == Strings{"ab"});
    EXPECT(preferred(too_long, longest) == Strings{longest} && preferred(longest, too_long) == Strings{longest});
    const bool ab_wins = key_of("ab", false).hash < key_of("cd", false).hash;
    for (const auto& [one, other] : {std::pair("ab", "cd"), std::pair("cd", "ab")})
        EXPECT(preferred(one, other) == Strings{ab_wins ? "ab" : "cd"});
}

}  // namespace

int main() {
    Random random(1);
    the_shorter_name_is_preferred();
    for (std::size_t n = 0; n < 400; ++n) {
        tokens_equal_the_reference(random, n);
        all_encodings_have_the_same_tokens(random, n);
    }
    for (std::size_t n = 0; n < 40; ++n) {
        a_dictionary_distinguishes_all_texts(random, n * n);
        names_are_sorted_merged_and_looked_up(random, n);
    }
    return report();
}
