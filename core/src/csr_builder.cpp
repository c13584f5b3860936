#include "weigh/csr_builder.h"

#include <cmath>

namespace weigh {
namespace {

class CsrAssembler {
public:
    explicit CsrAssembler(std::size_t rows, std::size_t capacity) {
        rows_.indptr.reserve(rows + 1);
        rows_.indptr.push_back(0);
        rows_.indices.reserve(capacity);
        rows_.values.reserve(capacity);
    }

    void add(const FeatureBlock& block, std::size_t row) {
        switch (block.form) {
            case FeatureBlock::Form::codes:
                if (block.codes[row] >= 0) append(block.features[static_cast<std::size_t>(block.codes[row])], 1.0);
                break;
            case FeatureBlock::Form::column:
                if (const double value = block.column[row]; !std::isnan(value)) append(block.features[0], value);
                break;
            case FeatureBlock::Form::entries: add_entries(block, row);
        }
    }

    void end_row() { rows_.indptr.push_back(static_cast<std::int64_t>(rows_.indices.size())); }
    CsrRows finish() { return std::move(rows_); }

private:
    void append(std::int32_t feature, double value) {
        if (feature < 0 || value == 0.0) return;
        rows_.indices.push_back(feature);
        rows_.values.push_back(value);
    }

    void add_entries(const FeatureBlock& block, std::size_t row) {
        const SparseRows& entries = block.entries;
        for (auto e = entries.indptr[row]; e < entries.indptr[row + 1]; ++e) {
            const auto entry = static_cast<std::size_t>(e);
            append(block.features[static_cast<std::size_t>(entries.indices[entry])], entries.value(entry));
        }
    }

    CsrRows rows_;
};

}  // namespace

CsrRows build_csr(std::size_t rows, std::span<const FeatureBlock> blocks) {
    std::size_t capacity = 0;
    for (const FeatureBlock& block : blocks)
        capacity += block.form == FeatureBlock::Form::entries ? block.entries.indices.size() : rows;
    CsrAssembler assembler(rows, capacity);
    for (std::size_t row = 0; row < rows; ++row) {
        for (const FeatureBlock& block : blocks) assembler.add(block, row);
        assembler.end_row();
    }
    return assembler.finish();
}

}  // namespace weigh
