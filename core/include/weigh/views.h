// Non-owning views of arrays, and the sparse row format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weigh {

// Class or level codes, one per row; negative means missing.
using Codes = std::span<const std::int32_t>;

// A one-dimensional array with a stride, such as a column of a row-major matrix.
template <class T>
struct Strided {
    const T* data = nullptr;
    std::size_t size = 0;
    std::ptrdiff_t stride = 1;  // in elements

    const T& operator[](std::size_t i) const { return data[static_cast<std::ptrdiff_t>(i) * stride]; }
};

// A matrix with any strides, in elements.
struct StridedMatrix {
    const double* data = nullptr;
    std::size_t rows = 0, columns = 0;
    std::ptrdiff_t row_stride = 0, column_stride = 0;
};

// Compressed sparse rows (CSR): row i has the entries indptr[i] .. indptr[i + 1].
struct SparseRows {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;
    std::span<const double> values;  // empty means that all are 1

    std::size_t rows() const { return indptr.empty() ? 0 : indptr.size() - 1; }
    double value(std::size_t entry) const { return values.empty() ? 1.0 : values[entry]; }
};

// Sparse rows in the same format that own their arrays.
struct CsrRows {
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<double> values;
};

}  // namespace weigh
