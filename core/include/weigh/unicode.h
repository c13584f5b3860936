// Unicode for texts in UTF-8: classes of characters, lower case, accents; the same as Python's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weigh::unicode {

inline constexpr const char* kVersion = "14.0.0";

inline constexpr char32_t kReplacement = 0xFFFD;

// What is not ASCII; callers use the functions below.
namespace wide {

bool is_word(char32_t c);
bool is_space(char32_t c);

inline bool continues(char byte) { return (byte & 0xC0) == 0x80; }

inline char32_t decode(const char*& at, const char* end) {
    const char32_t first = static_cast<unsigned char>(*at++);
    if (first < 0xC2 || first > 0xF4 || at == end || !continues(*at)) return kReplacement;
    const char32_t second = *at & 0x3F;
    if (first < 0xE0) return ++at, (first & 0x1F) << 6 | second;
    if ((first == 0xE0 && second < 0x20) || (first == 0xF0 && second < 0x10)) return kReplacement;
    if (first == 0xF4 && second >= 0x10) return kReplacement;
    // A surrogate that is cut short is no subpart of anything: its bytes are wrong one by one.
    if (first == 0xED && second >= 0x20 && (end - at < 2 || !continues(at[1]))) return kReplacement;
    if (++at == end || !continues(*at)) return kReplacement;
    const char32_t low = second << 6 | (*at++ & 0x3F);
    if (first < 0xF0) return (first & 0x0F) << 12 | low;
    if (at == end || !continues(*at)) return kReplacement;
    return (first & 0x07) << 18 | low << 6 | (*at++ & 0x3F);
}

}  // namespace wide

// Whether `\w` matches: a letter, a number of any kind, or the underscore.
inline bool is_word(char32_t c) {
    if (c >= 0x80) return wide::is_word(c);
    return (c | 0x20) - U'a' < 26 || c - U'0' < 10 || c == U'_';
}

inline bool is_space(char32_t c) {
    if (c >= 0x80) return wide::is_space(c);
    return c == U' ' || c - 0x09 < 5 || c - 0x1C < 4;
}

// The code point at `at`, which is before `end` and moves behind it. Bytes that are no UTF-8 give U+FFFD,
// one for each maximal subpart; a surrogate that is spelled out is taken as it is.
inline char32_t decode(const char*& at, const char* end) {
    const auto first = static_cast<unsigned char>(*at);
    if (first >= 0x80) return wide::decode(at, end);
    ++at;
    return first;
}

// Write UTF-8, of surrogates too, and return the place behind; what is beyond U+10FFFF becomes U+FFFD.
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

// Texts of one, two or four bytes for each code point; surrogates are never joined.
void append_latin1(std::string& out, const unsigned char* from, std::size_t size);
void append_ucs2(std::string& out, const std::uint16_t* from, std::size_t size);
void append_ucs4(std::string& out, const std::uint32_t* from, std::size_t size);

// Lower case of ASCII; what is not ASCII stays.
inline char small(char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c); }

struct Folding {
    bool lower = true;           // full lower case, with the final sigma
    bool strip_accents = false;  // then the compatibility decomposition without combining characters
};

// Replace `out`, which `text` is no part of, by the folded text. Bytes that are no UTF-8 become U+FFFD, as
// `decode` does it, also when nothing is to be folded.
void fold(std::string_view text, Folding folding, std::string& out);

}  // namespace weigh::unicode
