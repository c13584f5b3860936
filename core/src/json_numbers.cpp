#include "weigh/json_numbers.h"

#include <array>
#include <charconv>
#include <cmath>

namespace weigh {
namespace {

constexpr std::size_t kMaxDigits = 32;  // of a double without or with an exponent

}  // namespace

void append_json_number(double number, std::string& text) {
    if (std::isnan(number)) {
        text.append("null");
        return;
    }
    if (std::isinf(number)) {
        text.append(number > 0 ? "\"inf\"" : "\"-inf\"");
        return;
    }
    const double size = std::abs(number);
    const bool is_fixed = size == 0.0 || (size >= 1e-4 && size < 1e16);
    std::array<char, kMaxDigits> digits;
    const auto format = is_fixed ? std::chars_format::fixed : std::chars_format::scientific;
    const auto [end, problem] = std::to_chars(digits.data(), digits.data() + digits.size(), number, format);
    const std::string_view written(digits.data(), static_cast<std::size_t>(end - digits.data()));
    text.append(written);
    // A whole number stays a floating-point number for readers that tell them apart.
    if (is_fixed && written.find('.') == std::string_view::npos) text.append(".0");
}

std::vector<std::string> to_json_fields(const StridedMatrix& values, std::span<const std::string> keys) {
    std::vector<std::string> rows(values.rows);
    const double* row = values.data;
    for (auto& fields : rows) {
        const double* cell = row;
        for (const auto& key : keys) {
            if (!fields.empty()) fields.push_back(',');
            fields.append(key);
            fields.push_back(':');
            append_json_number(*cell, fields);
            cell += values.column_stride;
        }
        row += values.row_stride;
    }
    return rows;
}

}  // namespace weigh
