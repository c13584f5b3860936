// Tests of transfer encodings and charsets: known texts, round trips of random bytes, no out-of-bounds reads.
#include <string>
#include <string_view>
#include <vector>

#include "expect.h"
#include "weigh/mail/charset.h"
#include "weigh/mail/transfer_encoding.h"

namespace {

namespace mail = weigh::mail;
using mail::DecodeResult;
using namespace std::string_view_literals;

constexpr std::size_t kNoLimit = 1 << 20;

// Run `read` on a copy in exactly sized memory, so that the sanitizer detects out-of-bounds reads.
template <class Read>
std::string with_exact(std::string_view text, Read read) {
    const std::vector<char> exact(text.begin(), text.end());
    std::string out = "kept ";
    read(std::string_view(exact.data(), exact.size()), out);
    EXPECT(out.starts_with("kept "));
    return out.substr(5);
}

std::string from_base64(std::string_view text, std::size_t max_bytes = kNoLimit) {
    return with_exact(text,
                      [&](std::string_view exact, std::string& out) { mail::decode_base64(exact, max_bytes, out); });
}

std::string from_quoted(std::string_view text, std::size_t max_bytes = kNoLimit) {
    return with_exact(
        text, [&](std::string_view exact, std::string& out) { mail::decode_quoted_printable(exact, max_bytes, out); });
}

std::string from_charset(std::string_view text, std::string_view charset, DecodeResult expected = DecodeResult::good) {
    mail::CharsetDecoder charsets;
    return with_exact(text, [&](std::string_view exact, std::string& out) {
        EXPECT(charsets.append(exact, charset, out) == expected);
    });
}

std::string to_base64(std::string_view bytes, std::size_t width) {
    constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string result;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        unsigned held = 0;
        for (std::size_t i = at; i < at + 3; ++i)
            held = held << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0);
        for (std::size_t i = 0; i < 4; ++i)
            result += at + i <= bytes.size() ? kLetters[held >> (18 - 6 * i) & 63] : '=';
        if (at / 3 % width == width - 1) result += "\r\n";
    }
    return result;
}

std::string to_quoted(std::string_view bytes, Random& random) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string result;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte > ' ' && byte < 0x7F && byte != '=' && random() % 2) result += c;
        else (((result += '=') += kDigits[byte >> 4]) += kDigits[byte & 15]);
        if (random() % 10 == 0) result += random() % 2 ? "=\n" : "= \t\r\n";
    }
    return result;
}

std::string bytes(Random& random, std::size_t n) {
    std::string result(n, ' ');
    for (char& byte : result) byte = static_cast<char>(random());
    return result;
}

void encoded_bytes_are_decoded(Random& random, std::size_t n) {
    const std::string data = bytes(random, n);
    EXPECT(from_base64(to_base64(data, 1 + random() % 20)) == data);
    EXPECT(from_quoted(to_quoted(data, random)) == data);
    const std::size_t max_bytes = random() % (n + 1);
    EXPECT(from_base64(to_base64(data, 19), max_bytes) == data.substr(0, max_bytes));
    EXPECT(from_quoted(to_quoted(data, random), max_bytes) == data.substr(0, max_bytes));
    EXPECT(from_base64(data).size() <= n && from_quoted(data).size() <= n);
}

void invalid_input_is_reported() {
    std::string out;
    EXPECT(mail::decode_base64("QUJD\r\nRA==", kNoLimit, out) && mail::decode_base64("", kNoLimit, out));
    EXPECT(!mail::decode_base64("QUJD!", kNoLimit, out) && !mail::decode_base64("QUJDR", kNoLimit, out));
    EXPECT(mail::decode_quoted_printable("a=3D=\n=", kNoLimit, out) &&
           !mail::decode_quoted_printable("1=2", kNoLimit, out));
    EXPECT(from_quoted("=") == "" && from_quoted("=4") == "=4");
    EXPECT(from_quoted("a=\rb") == "ab" && from_quoted("== ") == "= ");
}

void charsets_are_found_by_name() {
    EXPECT(from_charset("caf\xE9 \x80", "ISO-8859-1") == "caf\u00e9 \u20ac");
    EXPECT(from_charset("\xA4", "iso_8859-15") == "\u20ac" && from_charset("\xC0", "KOI8-R") == "\u044e");
    EXPECT(from_charset("\xB1", "latin2") == "\u0105" && from_charset("\xE0", "cp1251") == "\u0430");
    EXPECT(from_charset("\xC3\xA9", "") == "\u00e9" && from_charset("\xE9", "") == "\u00e9");
    EXPECT(from_charset("\xE9", "us-ascii", DecodeResult::invalid_bytes) == "\u00e9");
    EXPECT(from_charset("\xE9", "no such thing", DecodeResult::unknown_charset) == "\u00e9");
    EXPECT(from_charset("\xC3(", "UTF8", DecodeResult::invalid_bytes) == "\ufffd(");
    EXPECT(from_charset("\xED\xA0\xBD", "utf-8", DecodeResult::invalid_bytes) == "\ufffd\ufffd\ufffd");
    EXPECT(from_charset("\xEF\xBF\xBD", "utf-8") == "\ufffd");
    EXPECT(from_charset("\xFE\xFF\0a"sv, "utf-16") == "a" && from_charset("a\0"sv, "utf-16") == "a");
    EXPECT(from_charset("\xD8\x3D\xDE\x00"sv, "utf-16be") == "\U0001f600");
    EXPECT(from_charset("\xD8\x3D\0a"sv, "utf-16be", DecodeResult::invalid_bytes) == "\ufffda");
}

void arbitrary_bytes_become_valid_utf8(Random& random, std::size_t n) {
    const std::string data = bytes(random, n);
    for (const auto charset :
         {"utf-8", "utf-16", "koi8-u", "gb18030", "big5", "shift_jis", "iso-2022-jp", "euc-kr", "x"}) {
        mail::CharsetDecoder charsets;
        std::string once, twice;
        charsets.append(data, charset, once);
        charsets.append("reset", charset, twice);
        EXPECT(mail::append_utf8(once, twice));
        EXPECT(once.size() <= 4 * n + 4);
    }
}

}  // namespace

int main() {
    Random random(1);
    invalid_input_is_reported();
    charsets_are_found_by_name();
    for (std::size_t n = 0; n < 200; ++n) {
        encoded_bytes_are_decoded(random, n);
        arbitrary_bytes_become_valid_utf8(random, n);
    }
    return report();
}
