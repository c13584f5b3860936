#include "weigh/spelling/tokens.h"

#include "weigh/unicode.h"

namespace weigh::spelling {
namespace {

constexpr char32_t kApostrophe = U'\u2019', kPilcrow = U'\u00B6', kEnd = 0x1D;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_letter(char32_t c) { return c != U'_' && unicode::is_word(c); }

bool begins_with_letter(const char* at, const char* end) { return at != end && is_letter(unicode::decode(at, end)); }

const char* behind_word(const char* at, const char* end) {
    while (at != end) {
        const char* behind = at;
        const char32_t c = unicode::decode(behind, end);
        const bool is_apostrophe = c == U'\'' || c == kApostrophe;
        if (!(is_apostrophe ? begins_with_letter(behind, end) : unicode::is_word(c))) return at;
        at = behind;
    }
    return at;
}

const char* behind_run(const char* at, const char* end, std::string_view unit) {
    while (std::string_view(at, end).starts_with(unit)) at += unit.size();
    return at;
}

// Pass over blanks, and tell how many lines ended.
std::size_t skip_blanks(const char*& at, const char* end) {
    std::size_t lines = 0;
    while (at != end) {
        const char* behind = at;
        const char32_t c = unicode::decode(behind, end);
        if (!unicode::is_space(c) || c == kEnd) break;
        lines += c == U'\n';
        at = behind;
    }
    return lines;
}

bool is_no_utf8(char32_t c, std::string_view bytes) {
    return (c == unicode::kReplacement && bytes != kReplacement) || (c >= 0xD800 && c < 0xE000);
}

// The character that ends at `at`, which moves to its beginning; U+FFFD of what is none.
char32_t step_back(const char* begin, const char*& at) {
    const char* start = at - 1;
    while (start != begin && at - start < 4 && unicode::non_ascii::is_continuation(*start)) --start;
    const char* behind = start;
    const char32_t c = unicode::decode(behind, at);
    const bool is_whole = behind == at;
    at = is_whole ? start : at - 1;
    return is_whole ? c : unicode::kReplacement;
}

bool is_one_of(std::u32string_view signs, char32_t c) { return signs.find(c) != signs.npos; }

// Accents that are characters of their own, soft hyphens, and what joins without being seen.
bool is_within_words(char32_t c) { return (c >= 0x300 && c < 0x370) || is_one_of(U"\u00AD\u200C\u200D\u2060", c); }

// Whether a neighbour joins, by what lies beyond it; two hyphens are a dash, "3:its" or "its.py" are names, and
// "[t]here" or "(w)hole" are one word.
bool joins(char32_t neighbour, char32_t beyond) {
    if (is_one_of(U".:()[]{}", neighbour)) return is_letter(beyond);
    if (neighbour == U'-' && beyond == U'-') return false;
    return is_one_of(U"-\u2010\u2011/\\@#=+~^|", neighbour) || is_within_words(neighbour);
}

}  // namespace

Token Tokens::take(const char* behind, Kind kind) {
    const Token token{{at_, behind}, kind};
    at_ = behind;
    return token;
}

bool Tokens::next(Token& token) {
    const char* const begin = at_;
    const std::size_t lines = skip_blanks(at_, end_);
    const bool is_end = lines > (is_alone_ ? 0 : 1);
    is_alone_ = is_alone_ && lines == 0;
    if (is_end) return token = {{begin, at_}, Kind::paragraph}, true;
    if (at_ == end_) return false;
    const char* behind = at_;
    const char32_t c = unicode::decode(behind, end_);
    const std::string_view unit(at_, behind);
    if (is_letter(c) || (c == U'_' && behind != end_ && unicode::is_word(unicode::decode(behind, end_)))) {
        token = take(behind_word(behind, end_), Kind::word);
    } else if (is_no_utf8(c, unit)) {
        token = take(at_ + 1, Kind::mark);
    } else {
        const bool ends = c == kPilcrow || c == kEnd;
        token = take(behind_run(at_, end_, unit), c == 0x1A ? Kind::code : ends ? Kind::paragraph : Kind::mark);
        is_alone_ = is_alone_ || (c == kEnd && token.raw.size() > 1);
    }
    return true;
}

bool is_joined(std::string_view text, std::string_view raw) {
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const char* left = raw.data();
    const char* right = left + raw.size();
    const auto back = [&] { return left == begin ? U' ' : step_back(begin, left); };
    const auto forth = [&] { return right == end ? U' ' : unicode::decode(right, end); };
    const char32_t before = back(), after = forth();
    return joins(before, back()) || joins(after, forth());
}

}  // namespace weigh::spelling
