#include "weigh/encode.h"

#include <array>
#include <cmath>

#include "arrays.h"

using namespace nb::literals;

namespace {

auto encode_keys(const Column<std::int64_t>& keys) {
    weigh::Encoded encoded;
    {
        nb::gil_scoped_release unlocked;
        encoded = weigh::encode_keys(strided_of(keys));
    }
    return nb::make_tuple(to_numpy(std::move(encoded.codes)), to_numpy(std::move(encoded.distinct)));
}

bool is_missing(PyObject* value) {
    return value == Py_None || (PyFloat_Check(value) && std::isnan(PyFloat_AS_DOUBLE(value)));
}

// Python values repeat as the same object far more often than as equal ones: remember the last
// code of an address, and ask Python's own dictionary only for addresses not met before.
class ObjectCodes {
public:
    std::int32_t code(PyObject* value) {
        auto& slot = recent_[(reinterpret_cast<std::uintptr_t>(value) >> 4) % recent_.size()];
        if (slot.value != value) slot = {value, look_up(value)};
        return slot.code;
    }

    nb::list distinct;

private:
    struct Slot {
        PyObject* value = nullptr;
        std::int32_t code = -1;
    };

    std::int32_t look_up(PyObject* value) {
        if (is_missing(value)) return -1;
        if (PyObject* known = PyDict_GetItemWithError(codes_.ptr(), value))
            return static_cast<std::int32_t>(PyLong_AsLong(known));
        if (PyErr_Occurred()) throw nb::python_error();
        const auto fresh = static_cast<std::int32_t>(nb::len(distinct));
        codes_[nb::handle(value)] = fresh;
        distinct.append(nb::handle(value));
        return fresh;
    }

    nb::dict codes_;
    std::array<Slot, 8192> recent_{};
};

auto encode_objects(const nb::list& values) {
    std::vector<std::int32_t> codes(nb::len(values));
    ObjectCodes known;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        // Equality of exotic values may run Python code, which may shorten the list.
        require(static_cast<Py_ssize_t>(i) < PyList_GET_SIZE(values.ptr()), "the list changed while it was read");
        codes[i] = known.code(PyList_GET_ITEM(values.ptr(), static_cast<Py_ssize_t>(i)));
    }
    return nb::make_tuple(to_numpy(std::move(codes)), known.distinct);
}

}  // namespace

void bind_encode(nb::module_& m) {
    m.def("encode_keys", &encode_keys, "keys"_a,
          "Return (codes, distinct keys in order of first appearance) of 64-bit keys.");
    m.def("encode_objects", &encode_objects, "values"_a,
          "Return (codes, distinct values in order of first appearance); None and NaN get -1.");
}
