#include "weigh/mail/transfer_encoding.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "ascii.h"

namespace weigh::mail {
namespace {

constexpr std::uint8_t kInvalid = 64, kSpace = 65, kPad = 66;

constexpr std::array<std::uint8_t, 256> kSextets = [] {
    std::array<std::uint8_t, 256> result{};
    result.fill(kInvalid);
    std::uint8_t value = 0;
    for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))
        result[static_cast<unsigned char>(c)] = value++;
    for (const char c : std::string_view(" \t\r\n\v\f")) result[static_cast<unsigned char>(c)] = kSpace;
    result['='] = kPad;
    return result;
}();

inline std::uint8_t sextet(char c) { return kSextets[static_cast<unsigned char>(c)]; }

// Copy text without '=', up to the limit.
std::size_t copy_literal(std::string_view text, std::size_t at, std::size_t end, std::size_t limit, std::string& out) {
    const std::size_t size = std::min(end - at, limit - out.size());
    out.append(text.substr(at, size));
    return at + size;
}

// The position after a soft line break whose '=' is before `at`; `at` if there is none.
std::size_t skip_soft_break(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_blank(text[end])) ++end;
    if (end == text.size()) return end;
    if (text[end] == '\n') return end + 1;
    if (text[end] != '\r') return at;
    return end + 1 < text.size() && text[end + 1] == '\n' ? end + 2 : end + 1;
}

}  // namespace

bool decode_base64(std::string_view text, std::size_t max_bytes, std::string& out) {
    const std::size_t begin = out.size(), capacity = std::min(max_bytes, text.size() / 4 * 3 + 3);
    out.resize(begin + capacity + 3);
    char* to = out.data() + begin;
    char* const end = to + capacity;
    const char *at = text.data(), *const end_of_text = at + text.size();
    std::uint32_t bits = 0;
    int count = 0, pads = 0;
    bool is_valid = true;
    while (at != end_of_text && to < end) {
        if (count == 0 && end_of_text - at >= 4) {
            const std::uint8_t a = sextet(at[0]), b = sextet(at[1]), c = sextet(at[2]), d = sextet(at[3]);
            if ((a | b | c | d) < kInvalid) {
                *to++ = static_cast<char>(a << 2 | b >> 4);
                *to++ = static_cast<char>(b << 4 | c >> 2);
                *to++ = static_cast<char>(c << 6 | d);
                at += 4;
                continue;
            }
        }
        const std::uint8_t value = sextet(*at++);
        if (value == kPad && count >= 2 && count + ++pads == 4) break;
        is_valid &= value < kInvalid || value == kSpace || pads != 0;
        if (value >= kInvalid) continue;
        is_valid &= pads == 0;
        pads = 0;
        bits = bits << 6 | value;
        if (++count < 4) continue;
        for (const int shift : {16, 8, 0}) *to++ = static_cast<char>(bits >> shift);
        bits = 0;
        count = 0;
    }
    if (count == 3) *to++ = static_cast<char>(bits >> 10);
    if (count >= 2) *to++ = static_cast<char>(count == 3 ? bits >> 2 : bits >> 4);
    out.resize(std::min(static_cast<std::size_t>(to - out.data()), begin + capacity));
    return is_valid && count != 1;
}

bool decode_quoted_printable(std::string_view text, std::size_t max_bytes, std::string& out) {
    const std::size_t limit = out.size() + std::min(max_bytes, text.size());
    bool is_valid = true;
    std::size_t at = 0;
    while (at < text.size() && out.size() < limit) {
        at = copy_literal(text, at, std::min(text.find('=', at), text.size()), limit, out);
        if (at == text.size() || out.size() == limit) break;
        if (is_escape(text, at, '=')) {
            out.push_back(decode_escape(text, at));
            at += 3;
            continue;
        }
        const std::size_t next = at + 1;
        at = skip_soft_break(text, next);
        if (at != next || at == text.size()) continue;
        out.push_back('=');
        is_valid = false;
        if (text[at] == '=') ++at;
    }
    return is_valid;
}

void decode_q(std::string_view text, std::string& out) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (is_escape(text, at, '=')) {
            out.push_back(decode_escape(text, at));
            at += 2;
        } else {
            out.push_back(text[at] == '_' ? ' ' : text[at]);
        }
    }
}

}  // namespace weigh::mail
