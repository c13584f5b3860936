// Documents from Python: views of its memory, and the objects that keep it alive.
#pragma once

#include <string>
#include <vector>

#include "arrays.h"
#include "weigh/documents.h"

class DocumentsBinding {
public:
    std::vector<weigh::Text> texts;
    std::vector<std::int64_t> indptr;  // if not empty, rows are lists of tokens
    std::vector<double> values;
    std::vector<std::int64_t> invalid_rows;  // rows with values that are neither text nor missing
    nb::object owner;

    weigh::Documents view() const { return {texts, indptr, values}; }
    std::size_t rows() const { return view().rows(); }
    // Estimate of the work, to decide whether to release the GIL.
    std::size_t work_units() const {
        std::size_t units = texts.size();
        for (const auto& text : texts) units += text.size;
        return units;
    }
};
