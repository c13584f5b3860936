// Access to NumPy arrays of Python objects.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string_view>

#include "arrays.h"

inline bool is_missing(PyObject* value) {
    return value == Py_None || (PyFloat_Check(value) && std::isnan(PyFloat_AS_DOUBLE(value)));
}

// Elements of a NumPy object array, borrowed through the buffer protocol.
class Objects {
public:
    explicit Objects(nb::handle array) {
        if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) throw nb::python_error();
        const bool fits = view_.ndim == 1 && view_.format && std::string_view(view_.format) == "O";
        if (!fits) {
            PyBuffer_Release(&view_);
            throw std::invalid_argument("expected a one-dimensional array of objects");
        }
    }
    Objects(const Objects&) = delete;
    ~Objects() { PyBuffer_Release(&view_); }

    std::size_t size() const { return static_cast<std::size_t>(view_.shape[0]); }
    // NumPy may have null pointers for elements that were never set; they mean None.
    PyObject* operator[](std::size_t i) const {
        const char* at = static_cast<const char*>(view_.buf) + static_cast<Py_ssize_t>(i) * view_.strides[0];
        PyObject* value = *reinterpret_cast<PyObject* const*>(at);
        return value ? value : Py_None;
    }

private:
    Py_buffer view_{};
};
