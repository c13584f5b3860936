// Parses numbers as people write them: $1,234.50, 1.234,50 €, 45 %, (1 234), 63,11-, <0.01, 1.6 Mio or 2h 40m.
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
    // Further forms, which only few columns have.
    bool has_limits = false;          // <0.01 is half of the limit, >200 and ~160 are the number itself
    bool has_trailing_minus = false;  // 63,11- is negative
    bool has_multiples = false;       // 43.4k and 1.6 Mio
    bool has_pairs = false;           // 120/80 is its first number
    bool has_durations = false;       // 2:40, 2:40:15 and 2h 40m, and nothing else
    std::vector<std::string> missing_words;  // in lower case; cells that mean missing
};

// Rewrite a text in this format as a plain numeral such as -1234.5, which is to be multiplied by `factor`; false if it
// does not fit. Thousands must be in groups of three.
bool normalise_number(std::string_view text, const NumberFormat& format, std::string& numeral, double& factor);

// Parse a duration. 2:40 counts in the unit of its last part, and 2h 40m in minutes.
bool parse_duration(std::string_view text, double& number);

// Whether a text is one of the words that mean missing, in any case and with blanks around it.
bool is_missing_word(std::string_view text, const NumberFormat& format);

}  // namespace weigh
