// Rows of features put together from the blocks of a table: levels, numbers, words.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weigh/views.h"

namespace weigh {

// One block, in one of three forms; `numbers[k]` is the feature that the block's own number k stands
// for, a negative one is left out.
struct Part {
    enum class Form { codes, column, entries };

    Form form = Form::codes;
    std::span<const std::int32_t> numbers;  // of a column: one
    Codes codes;                            // the value is one
    Strided<double> column;                 // NaN and zero are left out
    SparseRows entries;                     // of several with one number the sum; without values one
};

struct FeatureRows {
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<double> values;
};

// Rows with the features of all parts, part by part, those of one part in order of their numbers.
FeatureRows assembled(std::size_t rows, std::span<const Part> parts);

}  // namespace weigh
