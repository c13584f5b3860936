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
    SparseRows entries;                     // no two of a row with one number; without values one each
};

struct FeatureRows {
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<double> values;
};

// Rows with the features of all parts, part by part, within a part as the block has them.
FeatureRows assembled(std::size_t rows, std::span<const Part> parts);

}  // namespace weigh
