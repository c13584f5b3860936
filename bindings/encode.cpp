#include "weigh/dictionary.h"
#include "weigh/encode.h"

#include <array>
#include <string_view>

#include "arrays.h"
#include "objects.h"

using namespace nb::literals;

namespace {

auto encode_keys(const Column<std::int64_t>& keys) {
    weigh::Encoded encoded;
    {
        const Unlocked unlocked(keys.shape(0));
        encoded = weigh::encode_keys(strided_of(keys));
    }
    return nb::make_tuple(to_numpy(std::move(encoded.codes)), to_numpy(std::move(encoded.distinct)));
}

template <class Offset>
nb::tuple encode_strings(const Vector<Offset>& offsets, const Vector<std::uint8_t>& text,
                         const std::optional<Vector<std::uint8_t>>& valid, std::size_t bit) {
    weigh::EncodedStrings encoded;
    {
        const Unlocked unlocked(offsets.shape(0));
        const auto ends = span_of(offsets);
        require(!ends.empty() && ends.front() >= 0 && std::is_sorted(ends.begin(), ends.end()) &&
                    ends.back() <= static_cast<std::int64_t>(text.shape(0)),
                "offsets must rise and stay within the text");
        require(!valid || 8 * valid->shape(0) >= bit + ends.size() - 1, "the bitmap is too short");
        encoded = weigh::encode_strings(weigh::Strings<Offset>{
            ends, {reinterpret_cast<const char*>(text.data()), text.shape(0)}, valid ? valid->data() : nullptr, bit});
    }
    nb::list distinct;
    for (const std::string_view word : encoded.distinct) {
        PyObject* text_of_word = PyUnicode_DecodeUTF8(word.data(), static_cast<Py_ssize_t>(word.size()), nullptr);
        if (!text_of_word) throw nb::python_error();
        distinct.append(nb::steal(text_of_word));
    }
    return nb::make_tuple(to_numpy(std::move(encoded.codes)), distinct);
}

// Python values repeat as the same object far more often than as equal ones: remember the last
// code of an address. Plain ASCII strings, the common case, then go by their letters; all others
// ask Python's own dictionary.
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
        if (PyUnicode_CheckExact(value) && PyUnicode_IS_COMPACT_ASCII(value)) return look_up_text(value);
        if (is_missing(value)) return -1;
        if (PyObject* known = PyDict_GetItemWithError(others_.ptr(), value))
            return static_cast<std::int32_t>(PyLong_AsLong(known));
        if (PyErr_Occurred()) throw nb::python_error();
        const std::int32_t fresh = add(value);
        others_[nb::handle(value)] = fresh;
        return fresh;
    }

    std::int32_t look_up_text(PyObject* value) {
        const auto* letters = static_cast<const char*>(PyUnicode_DATA(value));
        std::int32_t& code = texts_.code({letters, static_cast<std::size_t>(PyUnicode_GET_LENGTH(value))}, false);
        if (code == weigh::Dictionary::kNew) code = add(value);
        return code;
    }

    std::int32_t add(PyObject* value) {
        distinct.append(nb::handle(value));
        return static_cast<std::int32_t>(nb::len(distinct)) - 1;
    }

    nb::dict others_;
    weigh::Dictionary texts_;
    std::array<Slot, 8192> recent_{};
};

nb::tuple encode_objects(nb::handle array) {
    const Objects values(array);
    std::vector<std::int32_t> codes(values.size());
    ObjectCodes known;
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = known.code(values[i]);
    return nb::make_tuple(to_numpy(std::move(codes)), known.distinct);
}

bool are_plain(nb::handle array, const nb::tuple& types) {
    const Objects values(array);
    std::vector<PyTypeObject*> allowed;
    for (nb::handle type : types) allowed.push_back(reinterpret_cast<PyTypeObject*>(type.ptr()));
    PyTypeObject* last = nullptr;
    for (std::size_t i = 0; i < values.size(); ++i) {
        PyTypeObject* type = Py_TYPE(values[i]);
        if (type == last) continue;
        if (std::find(allowed.begin(), allowed.end(), type) == allowed.end()) return false;
        last = type;
    }
    return true;
}

}  // namespace

void bind_encode(nb::module_& m) {
    m.def("encode_keys", &encode_keys, "keys"_a,
          "Return (codes, distinct keys in order of first appearance) of 64-bit keys.");
    m.def("encode_strings", &encode_strings<std::int32_t>, "offsets"_a, "text"_a, "validity"_a.none(), "bit_offset"_a,
          "Return (codes, distinct strings) of UTF-8 strings end to end; absent ones get -1.");
    m.def("encode_strings", &encode_strings<std::int64_t>, "offsets"_a, "text"_a, "validity"_a.none(), "bit_offset"_a);
    m.def("encode_objects", &encode_objects, "values"_a,
          "Return (codes, distinct values in order of first appearance); None and NaN get -1.");
    m.def("have_exact_types", &are_plain, "values"_a, "types"_a,
          "Whether every object of an array is of one of the types, not of a subclass.");
}
