// Parses svmlight lines `label index:value ...` into sparse rows. A '#' starts a comment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace weigh::svmlight {

// Lines (or words) of a text: line i is text[begins[i]] .. text[ends[i]], without its line end.
struct Lines {
    std::string_view text;
    std::span<const std::int64_t> begins;
    std::span<const std::int64_t> ends;

    std::size_t size() const { return begins.size(); }
    std::string_view operator[](std::size_t i) const {
        return text.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(ends[i] - begins[i]));
    }
};

// Index range and label type of lines whose indices ascend; -1 means that there is no index.
struct LineScan {
    std::int64_t min_index = -1;
    std::int64_t max_index = -1;
    bool integer_labels = true;  // whether all labels are written as integers
};

LineScan scan(const Lines& lines);

// Parse words as finite numbers up to the first failure; return how many were parsed.
std::size_t parse_numbers(const Lines& words, std::span<double> numbers);

enum class Fault { none, label, index, order, value, beyond };

struct Rows {
    std::vector<double> labels;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<double> values;
    Fault fault = Fault::none;  // the first one; parsing stopped there
    std::size_t position = 0;   // offset of the offending word
};

// Parse all lines; the first column has the index `base`, and there are `width` columns.
Rows parse(const Lines& lines, std::int64_t base, std::int64_t width);

}  // namespace weigh::svmlight
