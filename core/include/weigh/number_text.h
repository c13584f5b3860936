// Parses numbers as people write them: $1,234.50, 1.234,50 €, 45 % or (1 234).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weigh {

// How the numbers of a column are written. Without a thousands separator it is '\0'; a blank stands for all kinds of
// blanks, and an apostrophe also for the typographic one.
struct NumberFormat {
    char decimal = '.';
    char thousands = '\0';
    std::vector<std::string> units;  // spellings of the unit, which may stand before or after the number
    bool requires_unit = false;      // whether a number without the unit does not fit
};

// Rewrite a text in this format as a plain numeral such as -1234.5; false if it does not fit. Thousands must be in
// groups of three.
bool normalise_number(std::string_view text, const NumberFormat& format, std::string& numeral);

}  // namespace weigh
