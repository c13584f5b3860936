#include "words.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "weigh/unicode.h"

namespace weigh::mail {
namespace {

enum Kind : std::uint8_t { kWord, kSeparator, kWide };

constexpr auto kKinds = [] {
    std::array<Kind, 256> kinds{};
    for (std::size_t c = 0x80; c < 256; ++c) kinds[c] = kWide;
    for (const char c : std::string_view("\t\n\v\f\r\x1C\x1D\x1E\x1F <>()[]{}\"`,;:=|*#&?/\\~^_"))
        kinds[static_cast<unsigned char>(c)] = kSeparator;
    return kinds;
}();

Kind kind(char c) { return kKinds[static_cast<unsigned char>(c)]; }

// The end of the blank at `at`, which begins with a byte beyond ASCII; `at` if it is none.
const char* behind_blank(const char* at, const char* end) {
    const char* behind = at;
    return unicode::is_space(unicode::decode(behind, end)) ? behind : at;
}

const char* behind_separators(const char* at, const char* end) {
    while (at != end) {
        if (kind(*at) == kWord) return at;
        const char* behind = kind(*at) == kSeparator ? at + 1 : behind_blank(at, end);
        if (behind == at) return at;
        at = behind;
    }
    return at;
}

const char* end_of_word(const char* at, const char* end, bool& is_wide) {
    for (; at != end; ++at) {
        if (kind(*at) == kWord) continue;
        if (kind(*at) == kSeparator || behind_blank(at, end) != at) return at;
        is_wide = true;
    }
    return at;
}

std::size_t length(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

bool is_edge(char c) { return c == '.' || c == '-' || c == '\''; }

}  // namespace

bool Words::next(std::string_view& word) {
    while ((at_ = behind_separators(at_, end_)) != end_) {
        const char* begin = at_;
        is_wide_ = false;
        const char* end = at_ = end_of_word(at_, end_, is_wide_);
        while (begin != end && is_edge(*begin)) ++begin;
        while (begin != end && is_edge(end[-1])) --end;
        if (begin == end) continue;
        word = {begin, static_cast<std::size_t>(end - begin)};
        const std::size_t characters = word.size() <= kLongest ? word.size() : length(word);
        is_long_ = characters > kLongest;
        if (is_long_) word = arena_.keep("long:" + std::to_string(characters / 10));
        return true;
    }
    return false;
}

}  // namespace weigh::mail
