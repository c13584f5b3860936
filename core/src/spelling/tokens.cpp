#include "weigh/spelling/tokens.h"

#include <algorithm>

#include "weigh/unicode.h"

namespace weigh::spelling {
namespace {

constexpr char32_t kApostrophe = U'\u2019', kPilcrow = U'\u00B6', kEnd = 0x1D;
constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";

bool is_letter(char32_t c) { return c != U'_' && unicode::is_word(c); }

bool begins_with_letter(const char* at, const char* end) { return at != end && is_letter(unicode::decode(at, end)); }

const char* word_end(const char* at, const char* end) {
    while (at != end) {
        const char* next = at;
        const char32_t c = unicode::decode(next, end);
        const bool is_apostrophe = c == U'\'' || c == kApostrophe;
        if (!(is_apostrophe ? begins_with_letter(next, end) : unicode::is_word(c))) return at;
        at = next;
    }
    return at;
}

const char* run_end(const char* at, const char* end, std::string_view unit) {
    while (std::string_view(at, end).starts_with(unit)) at += unit.size();
    return at;
}

// Skip white space; return the number of line ends.
std::size_t skip_blanks(const char*& at, const char* end) {
    std::size_t lines = 0;
    while (at != end) {
        const char* next = at;
        const char32_t c = unicode::decode(next, end);
        if (!unicode::is_space(c) || c == kEnd) break;
        lines += c == U'\n';
        at = next;
    }
    return lines;
}

bool is_invalid_utf8(char32_t c, std::string_view bytes) {
    return (c == unicode::kReplacement && bytes != kReplacementUtf8) || (c >= 0xD800 && c < 0xE000);
}

// Decode the character that ends at `at`, and move `at` to its beginning; U+FFFD if invalid.
char32_t step_back(const char* begin, const char*& at) {
    const char* start = at - 1;
    while (start != begin && at - start < 4 && unicode::non_ascii::is_continuation(*start)) --start;
    const char* next = start;
    const char32_t c = unicode::decode(next, at);
    const bool is_whole = next == at;
    at = is_whole ? start : at - 1;
    return is_whole ? c : unicode::kReplacement;
}

bool contains(std::u32string_view signs, char32_t c) { return signs.find(c) != signs.npos; }

// Combining accents, soft hyphens and invisible joiners.
bool is_invisible_joiner(char32_t c) { return (c >= 0x300 && c < 0x370) || contains(U"\u00AD\u200C\u200D\u2060", c); }

// Whether a neighbouring character joins the word, given the one beyond it: two hyphens are a dash, "3:its" and
// "its.py" are names, "[t]here" and "(w)hole" are one word.
bool joins_word(char32_t neighbour, char32_t beyond) {
    if (contains(U".:()[]{}", neighbour)) return is_letter(beyond);
    if (neighbour == U'-' && beyond == U'-') return false;
    return contains(U"-\u2010\u2011/\\@#=+~^|", neighbour) || is_invisible_joiner(neighbour);
}

constexpr std::size_t kMaxCharacters = 40;
constexpr std::string_view kApostropheUtf8 = "\xE2\x80\x99", kDash = "\xE2\x80\x94";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_long(std::string_view word) {
    if (word.size() <= kMaxCharacters) return false;
    std::size_t characters = 0;
    for (const char byte : word)
        if (!unicode::non_ascii::is_continuation(byte) && ++characters > kMaxCharacters) return true;
    return false;
}

// Fast path for ASCII words; false if there are other characters.
bool fold_ascii(std::string_view raw, std::string& scratch) {
    scratch.resize(raw.size());
    int any = 0;
    for (std::size_t i = 0; i < raw.size(); ++i) {
        any |= raw[i];
        scratch[i] = unicode::to_lower_ascii(raw[i]);
    }
    return !(any & 0x80);
}

std::string_view word_name(std::string_view raw, std::string& scratch) {
    if (std::all_of(raw.begin(), raw.end(), is_digit)) return "0";
    if (is_long(raw)) return kLong;
    if (fold_ascii(raw, scratch)) return scratch;
    unicode::fold(raw, {}, scratch);
    for (std::size_t at = 0; (at = scratch.find(kApostropheUtf8, at)) != scratch.npos;) {
        scratch[at] = '\'';
        scratch.erase(at + 1, kApostropheUtf8.size() - 1);
    }
    return scratch;
}

std::string_view mark_name(std::string_view raw) {
    const char* next = raw.data();
    switch (unicode::decode(next, raw.data() + raw.size())) {
        case U'-': return raw.size() > 1 ? kDash : raw;
        case U'\u2013':
        case U'\u2015': return kDash;
        case U'\u2018':
        case U'\u2019': return "'";
        case U'\u00AB':
        case U'\u00BB':
        case U'\u201C':
        case U'\u201D':
        case U'\u201E': return "\"";
        case unicode::kReplacement: return kReplacementUtf8;
        default: return {raw.data(), next};
    }
}

// Call visit(is capital) for the letters of a word until it returns false.
template <class Visit>
void for_each_letter(std::string_view word, Visit visit) {
    std::string to_lower_ascii;
    const char* const end = word.data() + word.size();
    for (const char* at = word.data(); at != end;) {
        const char* const begin = at;
        const char32_t c = unicode::decode(at, end);
        if (!unicode::is_word(c) || c == U'_' || (c >= U'0' && c <= U'9')) continue;
        const std::string_view letter(begin, at);
        unicode::fold(letter, {}, to_lower_ascii);
        if (!visit(to_lower_ascii != letter)) return;
    }
}

}  // namespace

Token TokenScanner::take(const char* end, Kind kind) {
    const Token token{{at_, end}, kind};
    at_ = end;
    return token;
}

bool TokenScanner::next(Token& token) {
    const char* const begin = at_;
    const std::size_t lines = skip_blanks(at_, end_);
    const bool ends_paragraph = lines > (is_heading_line_ ? 0 : 1);
    is_heading_line_ = is_heading_line_ && lines == 0;
    if (ends_paragraph) return token = {{begin, at_}, Kind::paragraph}, true;
    if (at_ == end_) return false;
    const char* next = at_;
    const char32_t c = unicode::decode(next, end_);
    const std::string_view unit(at_, next);
    if (is_letter(c) || (c == U'_' && next != end_ && unicode::is_word(unicode::decode(next, end_)))) {
        token = take(word_end(next, end_), Kind::word);
    } else if (is_invalid_utf8(c, unit)) {
        token = take(at_ + 1, Kind::mark);
    } else {
        const bool ends = c == kPilcrow || c == kEnd;
        token = take(run_end(at_, end_, unit), c == 0x1A ? Kind::code : ends ? Kind::paragraph : Kind::mark);
        is_heading_line_ = is_heading_line_ || (c == kEnd && token.raw.size() > 1);
    }
    return true;
}

bool is_part_of_compound(std::string_view text, std::string_view raw) {
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const char* left = raw.data();
    const char* right = left + raw.size();
    const auto previous = [&] { return left == begin ? U' ' : step_back(begin, left); };
    const auto following = [&] { return right == end ? U' ' : unicode::decode(right, end); };
    const char32_t before = previous(), after = following();
    return joins_word(before, previous()) || joins_word(after, following());
}

std::string_view name_of(const Token& token, std::string& scratch) {
    switch (token.kind) {
        case Kind::word: return word_name(token.raw, scratch);
        case Kind::mark: return mark_name(token.raw);
        case Kind::code: return kCode;
        case Kind::paragraph: break;
    }
    return kParagraph;
}

bool begins_with_capital(std::string_view word) {
    const char* next = word.data();
    unicode::decode(next, word.data() + word.size());
    bool is_capital = false;
    for_each_letter({word.data(), next}, [&](bool found) { return is_capital = found; });
    return is_capital;
}

bool is_in_capitals(std::string_view word) {
    std::size_t capitals = 0;
    bool are_all = true;
    for_each_letter(word, [&](bool is_capital) { return ++capitals, are_all = is_capital; });
    return are_all && capitals > 1;
}

}  // namespace weigh::spelling
