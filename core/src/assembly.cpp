#include "weigh/assembly.h"

#include <cmath>

namespace weigh {
namespace {

class Assembler {
public:
    explicit Assembler(std::size_t rows, std::size_t room) {
        rows_.indptr.reserve(rows + 1);
        rows_.indptr.push_back(0);
        rows_.indices.reserve(room);
        rows_.values.reserve(room);
    }

    void add(const Part& part, std::size_t row) {
        switch (part.form) {
            case Part::Form::codes:
                if (part.codes[row] >= 0) put(part.numbers[static_cast<std::size_t>(part.codes[row])], 1.0);
                break;
            case Part::Form::column:
                if (const double value = part.column[row]; !std::isnan(value)) put(part.numbers[0], value);
                break;
            case Part::Form::entries: add_entries(part, row);
        }
    }

    void end_row() { rows_.indptr.push_back(static_cast<std::int64_t>(rows_.indices.size())); }
    FeatureRows finish() { return std::move(rows_); }

private:
    void put(std::int32_t number, double value) {
        if (number < 0 || value == 0.0) return;
        rows_.indices.push_back(number);
        rows_.values.push_back(value);
    }

    void add_entries(const Part& part, std::size_t row) {
        const SparseRows& entries = part.entries;
        for (auto e = entries.indptr[row]; e < entries.indptr[row + 1]; ++e) {
            const auto at = static_cast<std::size_t>(e);
            put(part.numbers[static_cast<std::size_t>(entries.indices[at])], entries.value(at));
        }
    }

    FeatureRows rows_;
};

}  // namespace

FeatureRows assembled(std::size_t rows, std::span<const Part> parts) {
    std::size_t room = 0;
    for (const Part& part : parts) room += part.form == Part::Form::entries ? part.entries.indices.size() : rows;
    Assembler assembler(rows, room);
    for (std::size_t row = 0; row < rows; ++row) {
        for (const Part& part : parts) assembler.add(part, row);
        assembler.end_row();
    }
    return assembler.finish();
}

}  // namespace weigh
