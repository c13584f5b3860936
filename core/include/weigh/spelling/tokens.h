// Tokens of prose: words, punctuation marks, masked code and paragraph ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weigh::spelling {

enum class Kind : std::uint8_t { word, mark, code, paragraph };

// A word consists of letters and digits with `_` and apostrophes inside, or of at least two characters beginning with
// `_`. A mark is a run of one other character; an invalid UTF-8 byte is a mark of its own. Masked code is a run of
// 0x1A. A paragraph ends with a blank line, a pilcrow, or 0x1D; two or more 0x1D in a row start a heading, which ends
// with its line.
struct Token {
    std::string_view raw;
    Kind kind = Kind::mark;
};

// Iterates over the tokens of a text; white space is skipped.
class TokenScanner {
public:
    explicit TokenScanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    // False at the end of the text.
    bool next(Token& token);

private:
    Token take(const char* end, Kind kind);

    const char* at_;
    const char* end_;
    bool is_heading_line_ = false;  // the line is a paragraph of its own
};

// Whether a word is part of a larger unit, joined by a hyphen, slash, accent, ...; `raw` is a substring of `text`.
bool is_part_of_compound(std::string_view text, std::string_view raw);

inline constexpr std::string_view kParagraph = "\xC2\xB6", kCode = "<code>", kLong = "<long>";

// The name of a token in features: a word in lower case with ' for every apostrophe, "0" for a number of ASCII
// digits, `kLong` beyond 40 characters; a mark by its character, with all forms of quotes and of dashes unified. The
// result refers to the token, to `scratch`, or to static storage.
std::string_view name_of(const Token& token, std::string& scratch);

// A capital is a letter that lower case changes; ASCII digits, `_` and apostrophes are not letters.
bool begins_with_capital(std::string_view word);
bool is_in_capitals(std::string_view word);  // at least two letters, all capitals

}  // namespace weigh::spelling
