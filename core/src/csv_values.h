// Parses field texts as numbers and booleans, and validates UTF-8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weigh/number_text.h"

namespace weigh::csv {

// Parse a decimal number, "inf" or "nan", with optional blanks around it. `is_padded` means that 8 bytes can be read
// from the beginning of the text, which allows a fast path for short integers.
bool parse_number(std::string_view text, bool is_padded, double& number);

// Parses numbers that are written in a format, with its own buffer.
class NumberParser {
public:
    explicit NumberParser(const NumberFormat& format);

    bool parse(std::string_view text, bool is_padded, double& number);
    std::optional<std::int64_t> parse_integer(std::string_view text);

private:
    NumberFormat format_;
    bool accepts_plain_;  // whether a plain numeral such as 1.5 has its usual meaning
    std::string numeral_;
};

// Parse a 64-bit integer without a plus sign, with optional blanks around it.
std::optional<std::int64_t> parse_integer(std::string_view text);

// Whether a text consists of several digits of which the first is 0, with optional blanks around it.
bool has_leading_zero(std::string_view text);

// 1 for "true" and "1", 0 for "false" and "0"; also True, TRUE, False, FALSE.
std::optional<std::int64_t> parse_bool(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace weigh::csv
