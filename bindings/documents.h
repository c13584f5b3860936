// Documents on their way from Python: views of its memory, and what keeps that memory alive.
#pragma once

#include <string>
#include <vector>

#include "arrays.h"
#include "weigh/documents.h"

class DocumentsBinding {
public:
    std::vector<weigh::Text> texts;
    std::vector<std::int64_t> indptr;  // not empty: rows are lists of tokens
    std::vector<double> values;
    std::vector<std::int64_t> invalid_rows;  // rows that hold neither a text nor a sign that there is none
    nb::object owner;

    weigh::Documents view() const { return {texts, indptr, values}; }
    std::size_t rows() const { return view().rows(); }
    // A measure of the work, to tell whether the lock should be handed over meanwhile.
    std::size_t work_units() const {
        std::size_t work_units = texts.size();
        for (const auto& text : texts) work_units += text.size;
        return work_units;
    }
};
