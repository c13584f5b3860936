// Texts as values: numbers, truth values, and whether bytes are text at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weigh::csv {

// A number in decimal notation, "inf" or "nan", blanks around it allowed. `roomy` says that 8 bytes may
// be read from the text's beginning on, which spares short numbers a loop.
bool to_number(std::string_view text, bool roomy, double& number);

// A whole number that fits into 64 bits, without a plus sign, blanks around it allowed.
std::optional<std::int64_t> to_integer(std::string_view text);

// 1 for "true" and "1", 0 for "false" and "0"; also True, TRUE, False, FALSE.
std::optional<std::int64_t> to_flag(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace weigh::csv
