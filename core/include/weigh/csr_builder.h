// Builds sparse feature rows (CSR) from the blocks of a table: categorical codes, numeric columns, sparse rows.
#pragma once

#include <cstdint>
#include <span>

#include "weigh/views.h"

namespace weigh {

// One block in one of three forms. features[k] is the feature index of the block's own index k; entries with a
// negative one are dropped.
struct FeatureBlock {
    enum class Form { codes, column, entries };

    Form form = Form::codes;
    std::span<const std::int32_t> features;  // a single one for a column
    Codes codes;                             // each has the value 1
    Strided<double> column;                  // NaN and zero are dropped
    SparseRows entries;                      // at most one entry per row and feature; without values, all are 1
};

// Concatenate the blocks of every row, each in its own order.
CsrRows build_csr(std::size_t rows, std::span<const FeatureBlock> blocks);

}  // namespace weigh
