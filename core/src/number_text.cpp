#include "weigh/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace weigh {
namespace {

using std::string_view_literals::operator""sv;

// The non-breaking, thin and narrow non-breaking spaces in UTF-8.
constexpr std::array kBlanks{" "sv, "\t"sv, "\u00A0"sv, "\u2009"sv, "\u202F"sv};
constexpr std::array kApostrophes{"'"sv, "\u2019"sv};
constexpr std::array kMinusSigns{"-"sv, "\u2212"sv};
constexpr std::array kUpperLimits{"<="sv, "<"sv, "\u2264"sv};
constexpr std::array kOtherLimits{">="sv, ">"sv, "\u2265"sv, "~"sv, "\u2248"sv};
// The exponents of ten of words for multiples. A word comes before those that it ends with.
constexpr std::array<std::pair<std::string_view, std::string_view>, 19> kMultiples{{
    {"thousand", "e3"}, {"Tsd.", "e3"},  {"Tsd", "e3"}, {"tsd", "e3"}, {"million", "e6"}, {"Mio.", "e6"}, {"Mio", "e6"},
    {"mio", "e6"},      {"mln", "e6"},   {"mn", "e6"},  {"MM", "e6"},  {"billion", "e9"}, {"Mrd.", "e9"}, {"Mrd", "e9"},
    {"bn", "e9"},       {"k", "e3"},     {"K", "e3"},   {"M", "e6"},   {"B", "e9"},
}};
// Minutes of the parts of a duration such as 1d 2h 40m; in this order, each at most once.
constexpr std::array<std::pair<std::string_view, double>, 12> kDurationUnits{{
    {"days", 1440.0}, {"day", 1440.0}, {"d", 1440.0}, {"hours", 60.0}, {"hour", 60.0}, {"hrs", 60.0},
    {"hr", 60.0},     {"h", 60.0},     {"mins", 1.0}, {"min", 1.0},    {"m", 1.0},     {"s", 1.0 / 60.0},
}};

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

bool cut_multiple(std::string_view& text, std::string_view& exponent) {
    for (const auto& [word, power] : kMultiples) {
        if (!text.ends_with(word)) continue;
        text.remove_suffix(word.size());
        exponent = power;
        return true;
    }
    return false;
}

// Parse digits, at most nine of them.
bool skip_count(std::string_view& text, double& count) {
    int number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto size = static_cast<std::size_t>(end - text.data());
    if (problem != std::errc{} || size == 0 || size > 9 || number < 0 || text.front() == '-') return false;
    text.remove_prefix(size);
    count = number;
    return true;
}

// Parse 2:40 or 2:40:15; the parts after the first are two digits below 60.
bool parse_clock(std::string_view text, double& number) {
    if (!skip_count(text, number)) return false;
    int parts = 0;
    for (; parts < 2 && text.starts_with(':'); ++parts) {
        if (text.size() < 3 || !is_digit(text[1]) || !is_digit(text[2]) || text[1] > '5') return false;
        number = 60 * number + 10 * (text[1] - '0') + (text[2] - '0');
        text.remove_prefix(3);
    }
    return parts > 0 && text.empty();
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

// Cut what follows a number: the minus sign, the unit and a word for a multiple, in this order from the end.
struct Suffixes {
    bool has_unit = false;
    bool is_negative = false;
    std::string_view exponent;

    void cut(std::string_view& text, const NumberFormat& format, bool may_have_sign, bool may_have_unit) {
        const bool may_have_minus = format.has_trailing_minus && may_have_sign;
        trim_blanks(text);
        if (may_have_minus && cut_any(text, kMinusSigns)) is_negative = true;
        trim_blanks(text);
        if (may_have_unit && cut_any(text, format.units)) has_unit = true;
        trim_blanks(text);
        if (may_have_minus && !is_negative && cut_any(text, kMinusSigns)) is_negative = true;
        if (format.has_multiples) cut_multiple(text, exponent);
        trim_blanks(text);
    }
};

// Keep the first number of a pair such as 120/80.
bool keep_first_of_pair(std::string_view& text, const NumberFormat& format, std::string& buffer) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return true;
    std::string_view second = text.substr(slash + 1);
    trim_blanks(second);
    const bool fits = append_unsigned(second, format, buffer);
    buffer.clear();
    text = text.substr(0, slash);
    trim_blanks(text);
    return fits;
}

}  // namespace

bool normalise_number(std::string_view text, const NumberFormat& format, std::string& numeral, double& factor) {
    numeral.clear();
    factor = 1.0;
    trim_blanks(text);
    bool is_upper_limit = false;
    if (format.has_limits && !(is_upper_limit = skip_any(text, kUpperLimits))) skip_any(text, kOtherLimits);
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
    Suffixes suffixes;
    suffixes.cut(text, format, !has_sign, !has_unit);
    is_negative |= suffixes.is_negative;
    if (format.requires_unit && !has_unit && !suffixes.has_unit) return false;
    if (format.has_pairs && !keep_first_of_pair(text, format, numeral)) return false;
    if (is_negative) numeral.push_back('-');
    if (is_upper_limit && !is_negative) factor = 0.5;
    if (!append_unsigned(text, format, numeral)) return false;
    if (suffixes.exponent.empty()) return true;
    if (numeral.find('e') != std::string::npos) return false;
    numeral.append(suffixes.exponent);
    return true;
}

bool parse_duration(std::string_view text, double& number) {
    trim_blanks(text);
    if (parse_clock(text, number)) return true;
    number = 0;
    double last_size = 1e9;
    while (!text.empty()) {
        double count = 0;
        if (!skip_count(text, count)) return false;
        trim_blanks(text);
        const auto unit = std::find_if(kDurationUnits.begin(), kDurationUnits.end(),
                                       [&](const auto& each) { return text.starts_with(each.first); });
        if (unit == kDurationUnits.end() || unit->second >= last_size) return false;
        text.remove_prefix(unit->first.size());
        number += count * unit->second;
        last_size = unit->second;
        trim_blanks(text);
    }
    return last_size < 1e9;
}

bool is_missing_word(std::string_view text, const NumberFormat& format) {
    trim_blanks(text);
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
    return std::any_of(format.missing_words.begin(), format.missing_words.end(), [&](const std::string& word) {
        return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                          [&](char a, char b) { return lower(a) == b; });
    });
}

}  // namespace weigh
