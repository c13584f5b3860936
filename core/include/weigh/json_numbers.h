// Numbers as JSON, written as Python writes floats.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "weigh/views.h"

namespace weigh {

// Append the shortest text that is read as the same number. JSON has no NaN, which becomes null, and no infinities,
// which become "inf" and "-inf" in quotes.
void append_json_number(double number, std::string& text);

// Return the cells of each row as the fields of a JSON object, under the keys of their columns, which are JSON strings.
std::vector<std::string> to_json_fields(const StridedMatrix& values, std::span<const std::string> keys);

}  // namespace weigh
