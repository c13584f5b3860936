#include <algorithm>

#include "weigh/spelling/tokens.h"
#include "weigh/unicode.h"

namespace weigh::spelling {
namespace {

constexpr std::size_t kLongest = 40;
constexpr std::string_view kApostrophe = "\xE2\x80\x99", kDash = "\xE2\x80\x94", kReplacement = "\xEF\xBF\xBD";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_long(std::string_view word) {
    if (word.size() <= kLongest) return false;
    std::size_t characters = 0;
    for (const char byte : word)
        if (!unicode::non_ascii::is_continuation(byte) && ++characters > kLongest) return true;
    return false;
}

// Most words are ASCII, and short enough to spare them all that `fold` prepares; false if one is not ASCII.
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
    for (std::size_t at = 0; (at = scratch.find(kApostrophe, at)) != scratch.npos;) {
        scratch[at] = '\'';
        scratch.erase(at + 1, kApostrophe.size() - 1);
    }
    return scratch;
}

std::string_view mark_name(std::string_view raw) {
    const char* behind = raw.data();
    switch (unicode::decode(behind, raw.data() + raw.size())) {
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
        case unicode::kReplacement: return kReplacement;
        default: return {raw.data(), behind};
    }
}

// Call visit(whether it is a capital) for the letters of a word until one visit returns false.
template <class Visit>
void each_letter(std::string_view word, Visit visit) {
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
    const char* behind = word.data();
    unicode::decode(behind, word.data() + word.size());
    bool is_capital = false;
    each_letter({word.data(), behind}, [&](bool found) { return is_capital = found; });
    return is_capital;
}

bool is_in_capitals(std::string_view word) {
    std::size_t capitals = 0;
    bool are_all = true;
    each_letter(word, [&](bool is_capital) { return ++capitals, are_all = is_capital; });
    return are_all && capitals > 1;
}

}  // namespace weigh::spelling
