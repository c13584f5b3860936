#include "csv_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "weigh/csv.h"

namespace weigh::csv {
namespace {

std::string_view trim(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Parse at most 15 digits with an optional decimal point: the integer and the power of ten are exact, so that the
// quotient is correctly rounded.
bool parse_decimal(std::string_view text, double& number) {
    static constexpr std::array<double, 16> kPowers{1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const bool negative = !text.empty() && text.front() == '-';
    if (negative) text.remove_prefix(1);
    if (text.size() > 16 || text.size() < 2) return false;
    std::int64_t whole = 0;
    std::size_t digits = 0, point = text.size();
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_digit(text[i])) {
            whole = 10 * whole + (text[i] - '0');
            ++digits;
        } else if (text[i] == '.' && point == text.size()) {
            point = i;
        } else {
            return false;
        }
    }
    if (digits == 0 || digits > 15) return false;
    const std::size_t places = point == text.size() ? 0 : text.size() - point - 1;
    number = static_cast<double>(whole) / kPowers[places];
    if (negative) number = -number;
    return true;
}

// Whether a number outside the range of doubles is an overflow rather than an underflow.
bool is_overflow(std::string_view text) {
    const std::size_t mark = text.find_first_of("eE");
    const std::string_view digits = text.substr(0, mark);
    const std::size_t first = digits.find_first_of("123456789");
    const std::size_t point = std::min(digits.find('.'), digits.size());
    const bool minus = mark != std::string_view::npos && text.substr(mark + 1).starts_with('-');
    return mark == std::string_view::npos ? first < point : !minus;
}

bool parse_general(std::string_view text, double& number) {
    text = trim(text);
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) return false;
    }
    if (parse_decimal(text, number)) return true;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end != text.data() + text.size()) return false;
    if (problem == std::errc::result_out_of_range) {
        const double size = is_overflow(text) ? std::numeric_limits<double>::infinity() : 0.0;
        number = text.starts_with('-') ? -size : size;
        return true;
    }
    return problem == std::errc{};
}

// "nan" and "inf" mean the same in every format.
bool parse_nan(std::string_view text, double& number) {
    return text.find_first_of("0123456789") == std::string_view::npos && parse_general(text, number);
}

// Size in bytes of the UTF-8 character at `at`, 0 if invalid.
std::size_t utf8_size(const unsigned char* at, std::size_t left) {
    const unsigned char lead = at[0];
    if (lead < 0x80) return 1;
    const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || size > left) return 0;
    // Overlong forms, surrogates and code points above U+10FFFF are detected by the second byte.
    const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (at[1] < low || at[1] > high) return 0;
    for (std::size_t k = 2; k < size; ++k)
        if ((at[k] & 0xC0) != 0x80) return 0;
    return size;
}

}  // namespace

bool parse_number(std::string_view text, bool is_padded, double& number) {
    return (is_padded && parse_short_integer(text, number)) || parse_general(text, number);
}

NumberParser::NumberParser(const NumberFormat& format)
    : format_(format),
      accepts_plain_(format.decimal == '.' && !format.requires_unit && !format.has_durations) {}

bool NumberParser::parse_longer(std::string_view text, double& number) {
    if (accepts_plain_ && parse_general(text, number)) return true;
    if (format_.has_durations ? parse_duration(text, number) : parse_in_format(text, number)) return true;
    if (parse_nan(text, number)) return true;
    number = std::numeric_limits<double>::quiet_NaN();
    return is_missing_word(text, format_);
}

bool NumberParser::parse_in_format(std::string_view text, double& number) {
    double factor = 1.0;
    if (!normalise_number(text, format_, numeral_, factor) || !parse_number(numeral_, false, number)) return false;
    number *= factor;
    return true;
}

std::optional<std::int64_t> NumberParser::parse_integer(std::string_view text) {
    if (accepts_plain_) {
        if (const auto plain = csv::parse_integer(text)) return plain;
    }
    double factor = 1.0;
    if (format_.has_durations || !normalise_number(text, format_, numeral_, factor) || factor != 1.0)
        return std::nullopt;
    return csv::parse_integer(numeral_);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    text = trim(text);
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

bool has_leading_zero(std::string_view text) {
    text = trim(text);
    return text.size() > 1 && text.front() == '0' && std::all_of(text.begin(), text.end(), is_digit);
}

std::optional<std::int64_t> parse_bool(std::string_view text) {
    if (text == "true" || text == "True" || text == "TRUE" || text == "1") return 1;
    if (text == "false" || text == "False" || text == "FALSE" || text == "0") return 0;
    return std::nullopt;
}

ParsedTexts parse_number_texts(std::span<const std::string_view> texts, const NumberFormat& format) {
    NumberParser parser(format);
    ParsedTexts parsed;
    for (const std::string_view text : texts) {
        double number = 0;
        const bool fits = parser.parse(text, false, number);
        parsed.numbers.push_back(fits ? number : std::numeric_limits<double>::quiet_NaN());
        parsed.fits.push_back(fits);
    }
    return parsed;
}

bool is_utf8(std::string_view text) {
    const auto* at = reinterpret_cast<const unsigned char*>(text.data());
    for (std::size_t left = text.size(); left > 0;) {
        if (left >= 8) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, at, 8);
            eight &= 0x8080808080808080ULL;
            // Number of leading ASCII bytes; big-endian machines take the slow path.
            const std::size_t plain = eight == 0 ? 8
                                      : std::endian::native == std::endian::little
                                          ? static_cast<std::size_t>(std::countr_zero(eight)) / 8
                                          : 0;
            at += plain;
            left -= plain;
            if (plain == 8) continue;
        }
        const std::size_t size = utf8_size(at, left);
        if (size == 0) return false;
        at += size;
        left -= size;
    }
    return true;
}

}  // namespace weigh::csv
