// Character classes, case folding and accent removal for UTF-8, with the same results as Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weigh::unicode {

inline constexpr const char* kVersion = "14.0.0";

inline constexpr char32_t kReplacement = 0xFFFD;

// Slow paths for non-ASCII characters; call the functions below instead.
namespace non_ascii {

bool is_word(char32_t c);
bool is_space(char32_t c);

inline bool is_continuation(char byte) { return (byte & 0xC0) == 0x80; }

inline char32_t decode(const char*& at, const char* end) {
    const char32_t first = static_cast<unsigned char>(*at++);
    if (first < 0xC2 || first > 0xF4 || at == end || !is_continuation(*at)) return kReplacement;
    const char32_t second = *at & 0x3F;
    if (first < 0xE0) return ++at, (first & 0x1F) << 6 | second;
    if ((first == 0xE0 && second < 0x20) || (first == 0xF0 && second < 0x10)) return kReplacement;
    if (first == 0xF4 && second >= 0x10) return kReplacement;
    // A truncated surrogate is not a valid subpart: each of its bytes is an error of its own.
    if (first == 0xED && second >= 0x20 && (end - at < 2 || !is_continuation(at[1]))) return kReplacement;
    if (++at == end || !is_continuation(*at)) return kReplacement;
    const char32_t low = second << 6 | (*at++ & 0x3F);
    if (first < 0xF0) return (first & 0x0F) << 12 | low;
    if (at == end || !is_continuation(*at)) return kReplacement;
    return (first & 0x07) << 18 | low << 6 | (*at++ & 0x3F);
}

}  // namespace non_ascii

// Whether the regular expression `\w` matches: a letter, a number of any kind, or the underscore.
inline bool is_word(char32_t c) {
    if (c >= 0x80) return non_ascii::is_word(c);
    return (c | 0x20) - U'a' < 26 || c - U'0' < 10 || c == U'_';
}

inline bool is_space(char32_t c) {
    if (c >= 0x80) return non_ascii::is_space(c);
    return c == U' ' || c - 0x09 < 5 || c - 0x1C < 4;
}

// Decode the code point at `at` (before `end`) and advance. Invalid UTF-8 gives U+FFFD for each maximal subpart;
// encoded surrogates are returned as they are.
inline char32_t decode(const char*& at, const char* end) {
    const auto first = static_cast<unsigned char>(*at);
    if (first >= 0x80) return non_ascii::decode(at, end);
    ++at;
    return first;
}

// Encode as UTF-8, surrogates included, and return the end; values above U+10FFFF become U+FFFD.
inline char* encode(char* to, char32_t c) {
    if (c > 0x10FFFF) c = kReplacement;
    const auto lead = [&](char32_t marker, int shift) { *to++ = static_cast<char>(marker | c >> shift); };
    const auto tail = [&](int shift) { *to++ = static_cast<char>(0x80 | (c >> shift & 0x3F)); };
    if (c < 0x80) return lead(0, 0), to;
    if (c < 0x800) return lead(0xC0, 6), tail(0), to;
    if (c < 0x10000) return lead(0xE0, 12), tail(6), tail(0), to;
    return lead(0xF0, 18), tail(12), tail(6), tail(0), to;
}

void append(std::string& out, char32_t c);

// Append texts with one, two or four bytes per code point; surrogate pairs are not combined.
void append_latin1(std::string& out, const unsigned char* from, std::size_t size);
void append_ucs2(std::string& out, const std::uint16_t* from, std::size_t size);
void append_ucs4(std::string& out, const std::uint32_t* from, std::size_t size);

// Lower case of ASCII letters; other characters are unchanged.
inline char to_lower_ascii(char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c); }

struct Folding {
    bool lower = true;           // full lower case mapping, including final sigma
    bool strip_accents = false;  // then NFKD without combining characters
};

// Replace `out`, which must not alias `text`, by the folded text. Invalid UTF-8 becomes U+FFFD as in `decode`, even
// if no folding is requested.
void fold(std::string_view text, Folding folding, std::string& out);

}  // namespace weigh::unicode
