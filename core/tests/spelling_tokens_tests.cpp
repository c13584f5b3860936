// Tests of prose tokens: kinds, names, compounds, and arbitrary bytes.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "expect.h"
#include "texts.h"
#include "weigh/spelling/tokens.h"

namespace {

namespace spelling = weigh::spelling;
using namespace std::string_view_literals;
using spelling::Kind;
using weigh::tests::below;
using weigh::tests::Strings;

std::vector<spelling::Token> tokens_of(std::string_view text) {
    std::vector<spelling::Token> found;
    spelling::Token token;
    for (spelling::TokenScanner tokens(text); tokens.next(token);) found.push_back(token);
    return found;
}

Strings names_of(std::string_view text) {
    Strings names;
    std::string scratch;
    for (const auto& token : tokens_of(text)) names.emplace_back(spelling::name_of(token, scratch));
    return names;
}

void words_have_letters_digits_and_inner_apostrophes() {
    EXPECT(names_of("It's ITS\u2019 \u2018tis' a_b _x __ _ \u00C9t\u00C9 12 1st") ==
           (Strings{"it's", "its", "'", "'", "tis", "'", "a_b", "_x", "__", "_", "\u00E9t\u00E9", "0", "1st"}));
    EXPECT(names_of("O\u2019Neil rock'n'roll x''y") == (Strings{"o'neil", "rock'n'roll", "x", "'", "y"}));
    EXPECT(names_of(std::string(40, 'X')) == Strings{std::string(40, 'x')});
    EXPECT(names_of(std::string(41, 'X')) == Strings{"<long>"});
    EXPECT(names_of(std::string(41, '7')) == Strings{"0"});
}

void marks_are_runs_of_one_character() {
    EXPECT(names_of("...?!! - -- \u2013\u2015\u201C\u201D\u00AB") ==
           (Strings{".", "?", "!", "-", "\u2014", "\u2014", "\u2014", "\"", "\"", "\""}));
    EXPECT(names_of("\x1A\x1A.\x1A") == (Strings{"<code>", ".", "<code>"}));
}

void paragraphs_end_with_blank_lines_and_pilcrows() {
    const std::string text = "a\nb\n\nc\r\n \t\r\n\n\nd \u00B6\u00B6 e\n\n";
    EXPECT(names_of(text) == (Strings{"a", "b", "\u00B6", "c", "\u00B6", "d", "\u00B6", "e", "\u00B6"}));
    EXPECT(tokens_of(text).back().kind == Kind::paragraph);
    EXPECT(names_of("a\n\x1A\nb") == (Strings{"a", "<code>", "b"}));
}

void paragraphs_end_with_separators_and_headings_with_their_line() {
    const std::string end = "\u00B6";
    EXPECT(names_of("a \x1D b\nc\n\x1D d\x1D") == (Strings{"a", end, "b", "c", end, "d", end}));
    EXPECT(names_of("a\n\x1D\x1D b\nc\nd") == (Strings{"a", end, "b", end, "c", "d"}));
    EXPECT(names_of("\x1D\x1D\x1D a \x1D b\r\nc\n\n") == (Strings{end, "a", end, "b", end, "c", end}));
    EXPECT(names_of("\x1D \x1D a\nb") == (Strings{end, end, "a", "b"}));
}

void every_invalid_byte_is_a_mark() {
    for (const std::string_view bad :
         {"\x80\x80"sv, "\xC3\xC3"sv, "\xE2\x82"sv, "\xED\xA0\x80"sv, "\xF4\x90\x80\x80"sv}) {
        const auto found = tokens_of(bad);
        EXPECT(found.size() == bad.size());
        for (const auto& token : found) EXPECT(token.raw.size() == 1 && token.kind == Kind::mark);
        for (const auto& name : names_of(bad)) EXPECT(name == "\uFFFD");
    }
    EXPECT(names_of("\uFFFD\uFFFD") == Strings{"\uFFFD"});
}

bool is_part_of_compound(std::string_view text) {
    const std::size_t at = text.find("its");
    return spelling::is_part_of_compound(text, text.substr(at, 3));
}

void compounds_are_detected() {
    for (const std::string_view text :
         {"its-own",      "an-its",    "its/",       "@its",   "its.py",   "a:its",     "its:3",
          "\u2011its",    "its\u2010", "\u00E9.its", "-its",   "\\its",    "its\u0301", "a\u0300its",
          "its\u00ADelf", "its\u200D", "[b]its",     "(b)its", "its(elf)", "b{its}"})
        EXPECT(is_part_of_compound(text));
    for (const std::string_view text :
         {"its", "its--own", "own--its", "its. Own", "its.", "own. its", ".its", ":its", "'its'", "\u2014its\u2014",
          "\x80.its", "its.\x80", "its.\xC3", "(its)", "see [its] own", "\x1A{its}\x1A", "its\u200B", "its\u02FF"})
        EXPECT(!is_part_of_compound(text));
}

void capitals_are_letters_that_lower_case_changes() {
    using spelling::begins_with_capital, spelling::is_in_capitals;
    for (const std::string_view word : {"Its", "ITS", "\u00C9t\u00E9", "\u01C5"}) EXPECT(begins_with_capital(word));
    for (const std::string_view word : {"its", "iTS", "1A", "_A", "\u00E9T"}) EXPECT(!begins_with_capital(word));
    for (const std::string_view word : {"ITS", "IT'S", "IT\u2019S", "\u00C9T", "A1B", "A_B"})
        EXPECT(is_in_capitals(word));
    for (const std::string_view word : {"Its", "I", "I1", "12", "ITs", "\u4E2D\u4E2D", ""})
        EXPECT(!is_in_capitals(word));
}

// Whether everything from `at` to `end` is white space; moves `at` to `end`.
bool skip_white_space(const char*& at, const char* end) {
    bool are = true;
    while (at != end) are = weigh::unicode::is_space(weigh::unicode::decode(at, end)) && are;
    return are;
}

// Uses exactly sized memory, so that the sanitizer detects out-of-bounds reads.
void tokens_and_white_space_cover_the_text(Random& random) {
    std::string scratch;
    for (int round = 0; round < 3000; ++round) {
        const std::string made = weigh::tests::random_text(random, below(random, 80));
        const std::vector<char> bytes(made.begin(), made.end());
        const std::string_view text(bytes.data(), bytes.size());
        const char* at = bytes.data();
        for (const auto& token : tokens_of(text)) {
            EXPECT(!token.raw.empty());
            EXPECT(skip_white_space(at, token.raw.data()));
            at += token.raw.size();
            EXPECT(!spelling::name_of(token, scratch).empty());
            spelling::is_part_of_compound(text, token.raw);
            spelling::begins_with_capital(token.raw), spelling::is_in_capitals(token.raw);
        }
        EXPECT(skip_white_space(at, bytes.data() + bytes.size()));
    }
}

}  // namespace

int main() {
    Random random(1);
    words_have_letters_digits_and_inner_apostrophes();
    marks_are_runs_of_one_character();
    paragraphs_end_with_blank_lines_and_pilcrows();
    paragraphs_end_with_separators_and_headings_with_their_line();
    every_invalid_byte_is_a_mark();
    compounds_are_detected();
    capitals_are_letters_that_lower_case_changes();
    tokens_and_white_space_cover_the_text(random);
    return report();
}
