// Lines `label index:value ...` into sparse rows; what follows '#' in a line is a comment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace weigh::svmlight {

// Some lines (or words) of a text: line i is text[begins[i]] .. text[ends[i]], without its end of line.
struct Lines {
    std::string_view text;
    std::span<const std::int64_t> begins;
    std::span<const std::int64_t> ends;

    std::size_t size() const { return begins.size(); }
    std::string_view operator[](std::size_t i) const {
        return text.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(ends[i] - begins[i]));
    }
};

// What the ends of lines tell, if their indices ascend; -1 where there is no index.
struct Extent {
    std::int64_t smallest = -1;
    std::int64_t largest = -1;
    bool whole_labels = true;  // whether all labels look like whole numbers
};

Extent scan(const Lines& lines);

// Read words that are finite numbers, up to the first that is none; return how many there were.
std::size_t read_numbers(const Lines& words, std::span<double> numbers);

enum class Fault { none, label, index, order, value, beyond };

struct Rows {
    std::vector<double> labels;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<double> values;
    Fault fault = Fault::none;  // the first one; reading stopped there
    std::size_t place = 0;      // where the word with the fault begins
};

// Read all lines; the first column has the index `base`, and there are `width` columns.
Rows parse(const Lines& lines, std::int64_t base, std::int64_t width);

}  // namespace weigh::svmlight
