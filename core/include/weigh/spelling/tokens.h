// Tokens of running text: words, the marks between them, masked code, and the ends of paragraphs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weigh::spelling {

enum class Kind : std::uint8_t { word, mark, code, paragraph };

// A word is letters and digits with `_` and apostrophes inside, or two characters or more that begin with `_`.
// A mark is a run of one other character; a byte that is no UTF-8 is a mark of its own. Masked code is a run of
// 0x1A. A paragraph ends with a blank line, a pilcrow, or 0x1D, of which two or more in a row end another one
// where their line ends: it is a heading.
struct Token {
    std::string_view raw;
    Kind kind = Kind::mark;
};

// The tokens of a text from its beginning to its end; blanks are none.
class Tokens {
public:
    explicit Tokens(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    // False at the end of the text.
    bool next(Token& token);

private:
    Token take(const char* behind, Kind kind);

    const char* at_;
    const char* end_;
    bool is_alone_ = false;  // the line is a paragraph of its own
};

// Whether a word hangs on a neighbour by a hyphen, a slash, an accent, ... and is no word by itself: `raw` is a
// part of `text`.
bool is_joined(std::string_view text, std::string_view raw);

inline constexpr std::string_view kParagraph = "\xC2\xB6", kCode = "<code>", kLong = "<long>";

// What a token is called in features: a word in lower case with ' for every apostrophe, "0" for a number of
// ASCII digits, `kLong` beyond 40 characters; a mark by its character, quotes and dashes of all forms by one.
// The name is a part of the token, of `scratch`, or of nothing that ends.
std::string_view name_of(const Token& token, std::string& scratch);

// A capital is what lower case changes; only ASCII digits, `_` and apostrophes are no letters.
bool begins_with_capital(std::string_view word);
bool is_in_capitals(std::string_view word);  // more than one letter, and all capitals

}  // namespace weigh::spelling
