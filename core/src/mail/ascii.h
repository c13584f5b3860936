// Locale-independent ASCII classification and string helpers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace weigh::mail {

inline constexpr auto kNotFound = std::string_view::npos;
inline constexpr std::size_t kMaxHostBytes = 255;

inline bool is_letter(char c) { return static_cast<unsigned char>((c | 0x20) - 'a') < 26; }
inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
inline bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }
inline bool is_host_character(char c) { return is_alphanumeric(c) || c == '.' || c == '-'; }
inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline char to_lower(char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c); }

// The value of a hexadecimal digit, or -1.
inline int hex(char c) {
    if (is_digit(c)) return c - '0';
    const char small = to_lower(c);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// Whether there is an escape at `at`, such as "=3D" or "%3D"; and the byte that it encodes.
inline bool is_escape(std::string_view text, std::size_t at, char sign) {
    return text[at] == sign && at + 2 < text.size() && hex(text[at + 1]) >= 0 && hex(text[at + 2]) >= 0;
}
inline char decode_escape(std::string_view text, std::size_t at) {
    return static_cast<char>(hex(text[at + 1]) << 4 | hex(text[at + 2]));
}

// Append a percent-decoded URL component.
inline void append_percent_decoded(std::string_view text, std::string& out) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool is_coded = is_escape(text, at, '%');
        out.push_back(is_coded ? decode_escape(text, at) : text[at]);
        if (is_coded) at += 2;
    }
}

inline bool is_ascii(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
}

inline std::string_view trim(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

// Whether texts are equal, ignoring ASCII case.
inline bool equals_ignore_case(std::string_view a, std::string_view b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return to_lower(x) == to_lower(y); });
}

inline bool starts_with_ignore_case(std::string_view text, std::string_view beginning) {
    return text.size() >= beginning.size() && equals_ignore_case(text.substr(0, beginning.size()), beginning);
}

inline void lower_in_place(std::string& text) {
    for (char& c : text) c = to_lower(c);
}

// Truncate UTF-8 at a character boundary.
inline void truncate_utf8(std::string& text, std::size_t size) {
    if (text.size() <= size) return;
    while (size > 0 && (text[size] & 0xC0) == 0x80) --size;
    text.resize(size);
}

}  // namespace weigh::mail
