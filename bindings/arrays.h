// Conversion between NumPy arrays and views; the only place where ownership of memory is transferred.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "weigh/value_scan.h"
#include "weigh/views.h"
#include "weigh/zeroed_array.h"

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using MutableVector = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Column = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::numpy, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const Vector<T>& array) {
    return {array.data(), array.shape(0)};
}

template <class T>
std::span<T> span_of(const MutableVector<T>& array) {
    return {array.data(), array.shape(0)};
}

// An optional array; empty span if it is None.
inline std::span<const double> span_of(const std::optional<Vector<double>>& array) {
    return array ? span_of(*array) : std::span<const double>{};
}

template <class T>
weigh::Strided<T> strided_of(const Column<T>& array) {
    return {array.data(), array.shape(0), array.stride(0)};
}

inline weigh::StridedMatrix strided_of(const Matrix<double>& array) {
    return {array.data(), array.shape(0), array.shape(1), array.stride(0), array.stride(1)};
}

template <class T>
std::span<T> cells_of(const Table<T>& array) {
    return {array.data(), array.shape(0) * array.shape(1)};
}

// Transfer a vector to NumPy, which frees it with the array.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T>&& values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    const std::size_t size = owned->size();
    nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner);
}

// The same for the row-major cells of a table.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<2>> to_numpy(std::vector<T>&& values, std::size_t rows, std::size_t columns) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<2>>(data, {rows, columns}, owner);
}

// The same for the bytes of a string.
inline nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>> to_numpy(std::string&& bytes) {
    auto owned = std::make_unique<std::string>(std::move(bytes));
    auto* data = reinterpret_cast<std::uint8_t*>(owned->data());
    const std::size_t size = owned->size();
    nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::string*>(p); });
    return nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(data, {size}, owner);
}

// The same for the cells of a zeroed array.
template <class Cell>
nb::ndarray<nb::numpy, Cell, nb::ndim<2>> to_numpy_table(weigh::ZeroedArray<Cell>&& cells, std::size_t rows,
                                                         std::size_t columns) {
    auto owned = std::make_unique<weigh::ZeroedArray<Cell>>(std::move(cells));
    Cell* data = owned->data();
    nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<weigh::ZeroedArray<Cell>*>(p); });
    return nb::ndarray<nb::numpy, Cell, nb::ndim<2>>(data, {rows, columns}, owner);
}

// Releases the GIL during a long loop. For short loops, reacquiring it costs more than it gains.
class ScopedGilRelease {
public:
    explicit ScopedGilRelease(std::size_t steps) {
        if (steps >= kMinSteps) release_.emplace();
    }

private:
    static constexpr std::size_t kMinSteps = 20'000;
    std::optional<nb::gil_scoped_release> release_;
};

// Arguments are validated here, so that the core can trust its views.
inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

inline void require_below(weigh::Codes codes, std::size_t bound, const char* message) {
    std::int32_t largest = -1;  // a loop that compilers vectorise
    for (const std::int32_t code : codes) largest = std::max(largest, code);
    require(largest < static_cast<std::int64_t>(bound), message);
}

// One class from 0 to n_classes − 1 for every row.
inline void require_classes(weigh::Codes classes, std::size_t n_classes) {
    require_below(classes, n_classes, "a class is out of range");
    for (const std::int32_t c : classes) require(c >= 0, "a class is negative");
}

inline weigh::SparseRows sparse_of(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                                   const std::optional<Vector<double>>& values, std::size_t rows, std::size_t width) {
    const weigh::SparseRows sparse{span_of(indptr), span_of(indices), span_of(values)};
    require(indptr.shape(0) == rows + 1, "indptr must have one more entry than there are rows");
    require(!values || values->shape(0) == indices.shape(0), "values and indices differ in length");
    require(std::is_sorted(sparse.indptr.begin(), sparse.indptr.end()) && sparse.indptr.front() >= 0 &&
                sparse.indptr.back() <= static_cast<std::int64_t>(indices.shape(0)),
            "indptr must ascend from 0 to the number of entries");
    const std::int64_t largest = weigh::max_index(sparse.indices);
    require(largest >= -1, "an index is negative");
    require(largest < static_cast<std::int64_t>(width), "an index is out of range");
    return sparse;
}

// Numbers of rows with a class each, and their weights.
inline void require_class_values(const Vector<std::int32_t>& classes, std::size_t n_classes,
                                 const Column<double>& values, const std::optional<Vector<double>>& weights) {
    require(classes.shape(0) == values.shape(0), "classes and values differ in length");
    require(!weights || weights->shape(0) == values.shape(0), "weights and values differ in length");
    require_below(span_of(classes), n_classes, "a class is out of range");
    const auto weight_span = span_of(weights);
    require(std::all_of(weight_span.begin(), weight_span.end(), [](double w) { return std::isfinite(w) && w >= 0; }),
            "a weight is negative or not finite");
}
