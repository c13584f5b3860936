#include "word_splitter.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "weigh/unicode.h"

namespace weigh::mail {
namespace {

enum Kind : std::uint8_t { kWord, kSeparator, kNonAscii };

constexpr auto kKinds = [] {
    std::array<Kind, 256> kinds{};
    for (std::size_t c = 0x80; c < 256; ++c) kinds[c] = kNonAscii;
    for (const char c : std::string_view("\t\n\v\f\r\x1C\x1D\x1E\x1F <>()[]{}\"`,;:=|*#&?/\\~^_"))
        kinds[static_cast<unsigned char>(c)] = kSeparator;
    return kinds;
}();

Kind kind(char c) { return kKinds[static_cast<unsigned char>(c)]; }

// The end of the non-ASCII white space character at `at`; `at` if it is not one.
const char* skip_blank(const char* at, const char* end) {
    const char* next = at;
    return unicode::is_space(unicode::decode(next, end)) ? next : at;
}

const char* skip_separators(const char* at, const char* end) {
    while (at != end) {
        if (kind(*at) == kWord) return at;
        const char* next = kind(*at) == kSeparator ? at + 1 : skip_blank(at, end);
        if (next == at) return at;
        at = next;
    }
    return at;
}

const char* end_of_word(const char* at, const char* end, bool& has_non_ascii) {
    for (; at != end; ++at) {
        if (kind(*at) == kWord) continue;
        if (kind(*at) == kSeparator || skip_blank(at, end) != at) return at;
        has_non_ascii = true;
    }
    return at;
}

std::size_t count_characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

bool is_edge(char c) { return c == '.' || c == '-' || c == '\''; }

}  // namespace

bool WordSplitter::next(std::string_view& word) {
    while ((at_ = skip_separators(at_, end_)) != end_) {
        const char* begin = at_;
        has_non_ascii_ = false;
        const char* end = at_ = end_of_word(at_, end_, has_non_ascii_);
        while (begin != end && is_edge(*begin)) ++begin;
        while (begin != end && is_edge(end[-1])) --end;
        if (begin == end) continue;
        word = {begin, static_cast<std::size_t>(end - begin)};
        const std::size_t characters = word.size() <= kMaxCharacters ? word.size() : count_characters(word);
        is_long_ = characters > kMaxCharacters;
        if (is_long_) word = arena_.keep("long:" + std::to_string(characters / 10));
        return true;
    }
    return false;
}

}  // namespace weigh::mail
