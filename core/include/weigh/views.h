// Borrowed views of other people's memory: nothing here owns or copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weigh {

// Class or level numbers, one per row; a negative one means "missing".
using Codes = std::span<const std::int32_t>;

// A column whose neighbours may be far apart, as in a column of a row-major matrix.
template <class T>
struct Strided {
    const T* data = nullptr;
    std::size_t size = 0;
    std::ptrdiff_t stride = 1;  // in elements

    const T& operator[](std::size_t i) const { return data[static_cast<std::ptrdiff_t>(i) * stride]; }
};

// Compressed sparse rows: row i owns entries indptr[i] .. indptr[i + 1].
struct SparseRows {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;
    std::span<const double> values;  // empty: every entry counts one

    std::size_t rows() const { return indptr.empty() ? 0 : indptr.size() - 1; }
    double value(std::size_t entry) const { return values.empty() ? 1.0 : values[entry]; }
};

}  // namespace weigh
