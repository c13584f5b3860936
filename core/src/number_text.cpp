#include "weigh/number_text.h"

#include <array>

namespace weigh {
namespace {

using std::string_view_literals::operator""sv;

// The non-breaking, thin and narrow non-breaking spaces in UTF-8.
constexpr std::array kBlanks{" "sv, "\t"sv, "\u00A0"sv, "\u2009"sv, "\u202F"sv};
constexpr std::array kApostrophes{"'"sv, "\u2019"sv};
constexpr std::array kMinusSigns{"-"sv, "\u2212"sv};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

template <class Signs>
bool skip_any(std::string_view& text, const Signs& signs) {
    for (const std::string_view sign : signs) {
        if (!text.starts_with(sign)) continue;
        text.remove_prefix(sign.size());
        return true;
    }
    return false;
}

template <class Signs>
bool cut_any(std::string_view& text, const Signs& signs) {
    for (const std::string_view sign : signs) {
        if (!text.ends_with(sign)) continue;
        text.remove_suffix(sign.size());
        return true;
    }
    return false;
}

void trim_blanks(std::string_view& text) {
    while (skip_any(text, kBlanks)) {}
    while (cut_any(text, kBlanks)) {}
}

bool skip_thousands(std::string_view& text, char separator) {
    if (separator == ' ') return skip_any(text, kBlanks);
    if (separator == '\'') return skip_any(text, kApostrophes);
    return separator != '\0' && skip_any(text, std::array{std::string_view(&separator, 1)});
}

std::size_t move_digits(std::string_view& text, std::string& numeral) {
    std::size_t count = 0;
    while (count < text.size() && is_digit(text[count])) ++count;
    numeral.append(text.substr(0, count));
    text.remove_prefix(count);
    return count;
}

// Append an unsigned number: digits, possibly in groups of three, decimals and an exponent.
bool append_unsigned(std::string_view text, const NumberFormat& format, std::string& numeral) {
    const bool begins_with_zero = text.starts_with('0');
    std::size_t digits = move_digits(text, numeral);
    bool has_groups = false;
    while (digits > 0 && skip_thousands(text, format.thousands)) {
        if ((!has_groups && digits > 3) || begins_with_zero || move_digits(text, numeral) != 3) return false;
        has_groups = true;
    }
    if (text.starts_with(format.decimal)) {
        text.remove_prefix(1);
        numeral.push_back('.');
        digits += move_digits(text, numeral);
    }
    if (digits == 0) return false;
    if (text.starts_with('e') || text.starts_with('E')) {
        numeral.push_back('e');
        text.remove_prefix(1);
        if (text.starts_with('-') || text.starts_with('+')) {
            numeral.push_back(text.front());
            text.remove_prefix(1);
        }
        if (move_digits(text, numeral) == 0) return false;
    }
    return text.empty();
}

}  // namespace

bool normalise_number(std::string_view text, const NumberFormat& format, std::string& numeral) {
    numeral.clear();
    trim_blanks(text);
    bool is_negative = text.size() > 2 && text.front() == '(' && text.back() == ')';
    bool has_sign = is_negative;
    if (is_negative) text = text.substr(1, text.size() - 2);
    bool has_unit = false;
    // The sign and the unit may come in either order: -$5 and $-5.
    for (bool is_done = false; !is_done;) {
        trim_blanks(text);
        if (!has_sign && skip_any(text, kMinusSigns)) is_negative = has_sign = true;
        else if (!has_sign && text.starts_with('+')) { text.remove_prefix(1); has_sign = true; }
        else if (!has_unit && skip_any(text, format.units)) has_unit = true;
        else is_done = true;
    }
    if (!has_unit && cut_any(text, format.units)) has_unit = true;
    if (format.requires_unit && !has_unit) return false;
    trim_blanks(text);
    if (is_negative) numeral.push_back('-');
    return append_unsigned(text, format, numeral);
}

}  // namespace weigh
