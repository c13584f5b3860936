// Parses field texts as numbers and booleans, and validates UTF-8.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "weigh/number_text.h"

namespace weigh::csv {

// Parse one to eight digits at once (SWAR): left-pad with zeros, then combine pairs. 8 bytes must be readable from the
// beginning of the text. Inline, because most cells of number columns are such integers.
inline bool parse_short_integer(std::string_view text, double& number) {
    if (std::endian::native != std::endian::little || text.empty() || text.size() > 8) return false;
    constexpr std::uint64_t kZeros = 0x3030303030303030ULL;
    std::uint64_t digits = 0;
    std::memcpy(&digits, text.data(), 8);
    const std::size_t unused = 64 - 8 * text.size();
    digits <<= unused;
    if (unused != 0) digits |= kZeros >> (64 - unused);
    // The upper nibble of a digit is 3, also after adding 6. Checking both excludes "." and "-".
    constexpr std::uint64_t kUpper = 0xF0F0F0F0F0F0F0F0ULL;
    if ((digits & kUpper) != kZeros || ((digits + 0x0606060606060606ULL) & kUpper) != kZeros) return false;
    digits -= kZeros;
    digits = digits * 10 + (digits >> 8);
    digits = ((digits & 0x000000FF000000FFULL) * 0x000F424000000064ULL +
              ((digits >> 16) & 0x000000FF000000FFULL) * 0x0000271000000001ULL) >>
             32;
    number = static_cast<double>(static_cast<std::uint32_t>(digits));
    return true;
}

// Parse a decimal number, "inf" or "nan", with optional blanks around it. `is_padded` means that 8 bytes can be read
// from the beginning of the text, which allows a fast path for short integers.
bool parse_number(std::string_view text, bool is_padded, double& number);

// Parses numbers that are written in a format, with its own buffer.
class NumberParser {
public:
    explicit NumberParser(const NumberFormat& format);

    bool parse(std::string_view text, bool is_padded, double& number) {
        return (accepts_plain_ && is_padded && parse_short_integer(text, number)) || parse_longer(text, number);
    }
    std::optional<std::int64_t> parse_integer(std::string_view text);

private:
    // Parse a number that need not be a short integer.
    bool parse_longer(std::string_view text, double& number);
    bool parse_in_format(std::string_view text, double& number);

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
