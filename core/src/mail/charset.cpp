#include "weigh/mail/charset.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "ascii.h"
#include "charset_tables.h"
#include "weigh/unicode.h"

namespace weigh::mail {
namespace {

constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";

// Multi-byte charsets and their iconv names. Mail often declares the smaller set and uses the larger one.
struct MultiByteCharset {
    std::string_view name, library;
};
constexpr MultiByteCharset kMultiByteCharsets[] = {
    {"gb2312", "GB18030"},       {"gbk", "GB18030"},           {"gb18030", "GB18030"},
    {"euccn", "GB18030"},        {"eucgb2312cn", "GB18030"},   {"cp936", "GB18030"},
    {"gb231280", "GB18030"},     {"big5", "BIG5-HKSCS"},       {"big5tw", "BIG5-HKSCS"},
    {"big5hkscs", "BIG5-HKSCS"}, {"cp950", "CP950"},           {"shiftjis", "CP932"},
    {"sjis", "CP932"},           {"xsjis", "CP932"},           {"cp932", "CP932"},
    {"windows31j", "CP932"},     {"iso2022jp", "ISO-2022-JP"}, {"eucjp", "EUC-JP"},
    {"xeucjp", "EUC-JP"},        {"euckr", "CP949"},           {"ksc5601", "CP949"},
    {"ksc56011987", "CP949"},    {"cp949", "CP949"},           {"iso2022kr", "ISO-2022-KR"},

};

constexpr std::array<std::string_view, 7> kUnspecifiedCharsets{"",     "usascii", "ascii", "ansix341968", "unknown8bit",
                                                               "8bit", "default"};

// The number of leading ASCII bytes.
std::size_t ascii_run(const char* at, const char* end) {
    const char* const begin = at;
    for (std::uint64_t word; end - at >= 8; at += 8) {
        std::memcpy(&word, at, 8);
        if (word & 0x8080808080808080u) break;
    }
    while (at != end && !(*at & 0x80)) ++at;
    return static_cast<std::size_t>(at - begin);
}

void append_single_byte(std::string_view bytes, const char16_t* upper, std::string& out) {
    const char *at = bytes.data(), *const end = at + bytes.size();
    while (at != end) {
        const std::size_t ascii_size = ascii_run(at, end);
        out.append(at, ascii_size);
        at += ascii_size;
        for (; at != end && (*at & 0x80); ++at) unicode::append(out, upper[static_cast<unsigned char>(*at) & 0x7F]);
    }
}

bool has_unused(std::string_view bytes, const char16_t* upper) {
    return std::any_of(bytes.begin(), bytes.end(), [&](char c) { return (c & 0x80) && upper[c & 0x7F] == 0xFFFD; });
}

bool append_utf16(std::string_view bytes, bool is_big_endian, std::string& out) {
    const auto unit = [&](std::size_t at) {
        const auto a = static_cast<unsigned char>(bytes[at]), b = static_cast<unsigned char>(bytes[at + 1]);
        return static_cast<char32_t>(is_big_endian ? a << 8 | b : b << 8 | a);
    };
    bool is_valid = bytes.size() % 2 == 0;
    for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
        char32_t c = unit(at);
        if (c - 0xD800 < 0x400 && at + 3 < bytes.size() && unit(at + 2) - 0xDC00 < 0x400) {
            c = 0x10000 + ((c - 0xD800) << 10) + (unit(at + 2) - 0xDC00);
            at += 2;
        } else if (c - 0xD800 < 0x800) {
            c = unicode::kReplacement;
            is_valid = false;
        }
        unicode::append(out, c);
    }
    if (bytes.size() % 2 != 0) out.append(kReplacementUtf8);
    return is_valid;
}

DecodeResult decode_utf16(std::string_view bytes, std::string_view name, std::string& out) {
    bool is_big_endian = name == "utf16be";
    if (name == "utf16" && bytes.size() >= 2) {
        const bool has_bom = bytes.starts_with("\xFE\xFF") || bytes.starts_with("\xFF\xFE");
        is_big_endian = bytes.starts_with("\xFE\xFF");
        if (has_bom) bytes.remove_prefix(2);
    }
    return append_utf16(bytes, is_big_endian, out) ? DecodeResult::good : DecodeResult::invalid_bytes;
}

// Convert with iconv in chunks; invalid bytes become U+FFFD.
bool convert(iconv_t converter, std::string_view bytes, std::string& out) {
    iconv(converter, nullptr, nullptr, nullptr, nullptr);
    std::array<char, 4096> buffer;
    char* from = const_cast<char*>(bytes.data());  // iconv takes a non-const pointer
    std::size_t left = bytes.size();
    bool is_valid = true;
    while (left != 0) {
        char* to = buffer.data();
        std::size_t room = buffer.size();
        const std::size_t result = iconv(converter, &from, &left, &to, &room);
        const int error = result == static_cast<std::size_t>(-1) ? errno : 0;
        out.append(buffer.data(), buffer.size() - room);
        if (error == 0 || (error == E2BIG && room != buffer.size())) continue;
        is_valid = false;
        out.append(kReplacementUtf8);
        if (error != EILSEQ) break;
        ++from;
        --left;
    }
    return is_valid;
}

const char16_t* single_byte(std::string_view name) {
    const auto found = std::ranges::lower_bound(tables::kNames, name, {}, &tables::Name::name);
    return found != std::end(tables::kNames) && found->name == name ? found->upper : nullptr;
}

// Keep letters and digits in lower case: mail spells "UTF8", "utf-8" and "Utf_8".
void normalize_name(std::string_view charset, std::string& name) {
    name.clear();
    for (const char c : charset.substr(0, 40))
        if (is_alphanumeric(c)) name.push_back(to_lower(c));
}

}  // namespace

bool append_utf8(std::string_view bytes, std::string& out) {
    const char *at = bytes.data(), *const end = at + bytes.size();
    bool is_valid = true;
    while (at != end) {
        const std::size_t ascii_size = ascii_run(at, end);
        out.append(at, ascii_size);
        at += ascii_size;
        while (at != end && (*at & 0x80)) {
            const char* const begin = at;
            const char32_t c = unicode::decode(at, end);
            if (c == unicode::kReplacement) {
                is_valid &= std::string_view(begin, static_cast<std::size_t>(at - begin)) == kReplacementUtf8;
                out.append(kReplacementUtf8);
            } else if (c - 0xD800 < 0x800) {  // each byte of an encoded surrogate is an error of its own
                is_valid = false;
                for (int byte = 0; byte < 3; ++byte) out.append(kReplacementUtf8);
            } else {
                out.append(begin, at);
            }
        }
    }
    return is_valid;
}

void append_guessed(std::string_view bytes, std::string& out) {
    const std::size_t begin = out.size();
    if (append_utf8(bytes, out)) return;
    out.resize(begin);
    append_single_byte(bytes, tables::cp1252, out);
}

CharsetDecoder::~CharsetDecoder() {
    for (const auto& [name, converter] : converters_)
        if (converter) iconv_close(static_cast<iconv_t>(converter));
}

void* CharsetDecoder::open_converter(std::string_view name) {
    for (const auto& [known, converter] : converters_)
        if (known == name) return converter;
    const iconv_t converter = iconv_open("UTF-8", std::string(name).c_str());
    const bool failed = converter == reinterpret_cast<iconv_t>(-1);
    return converters_.emplace_back(name, failed ? nullptr : static_cast<void*>(converter)).second;
}

DecodeResult CharsetDecoder::append(std::string_view bytes, std::string_view charset, std::string& out) {
    normalize_name(charset, name_);
    if (name_ == "utf8") return append_utf8(bytes, out) ? DecodeResult::good : DecodeResult::invalid_bytes;
    if (std::find(kUnspecifiedCharsets.begin(), kUnspecifiedCharsets.end(), name_) != kUnspecifiedCharsets.end()) {
        append_guessed(bytes, out);
        return name_.empty() || is_ascii(bytes) ? DecodeResult::good : DecodeResult::invalid_bytes;
    }
    if (const char16_t* upper = single_byte(name_)) {
        append_single_byte(bytes, upper, out);
        return has_unused(bytes, upper) ? DecodeResult::invalid_bytes : DecodeResult::good;
    }
    if (name_.starts_with("utf16")) return decode_utf16(bytes, name_, out);
    for (const MultiByteCharset& charset_entry : kMultiByteCharsets)
        if (charset_entry.name == name_)
            if (void* converter = open_converter(charset_entry.library))
                return convert(static_cast<iconv_t>(converter), bytes, out) ? DecodeResult::good
                                                                            : DecodeResult::invalid_bytes;
    append_guessed(bytes, out);
    return DecodeResult::unknown_charset;
}

}  // namespace weigh::mail
