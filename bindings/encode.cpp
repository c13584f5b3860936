#include "weigh/dictionary.h"
#include "weigh/encode.h"

#include <array>
#include <string_view>

#include "arrays.h"
#include "objects.h"

using namespace nb::literals;

namespace {

auto encode_keys(const Column<std::int64_t>& keys) {
    weigh::EncodedKeys encoded;
    {
        const ScopedGilRelease released(keys.shape(0));
        encoded = weigh::encode_keys(strided_of(keys));
    }
    return nb::make_tuple(to_numpy(std::move(encoded.codes)), to_numpy(std::move(encoded.distinct)));
}

template <class Offset>
nb::tuple encode_strings(const Vector<Offset>& offsets, const Vector<std::uint8_t>& text,
                         const std::optional<Vector<std::uint8_t>>& validity, std::size_t bit_offset) {
    weigh::EncodedStrings encoded;
    {
        const ScopedGilRelease released(offsets.shape(0));
        const auto ends = span_of(offsets);
        require(!ends.empty() && ends.front() >= 0 && std::is_sorted(ends.begin(), ends.end()) &&
                    ends.back() <= static_cast<std::int64_t>(text.shape(0)),
                "offsets must ascend within the text");
        require(!validity || 8 * validity->shape(0) >= bit_offset + ends.size() - 1,
                "the validity bitmap is too short");
        encoded =
            weigh::encode_strings(weigh::Strings<Offset>{ends,
                                                         {reinterpret_cast<const char*>(text.data()), text.shape(0)},
                                                         validity ? validity->data() : nullptr,
                                                         bit_offset});
    }
    nb::list distinct;
    for (const std::string_view word : encoded.distinct) {
        PyObject* decoded = PyUnicode_DecodeUTF8(word.data(), static_cast<Py_ssize_t>(word.size()), nullptr);
        if (!decoded) throw nb::python_error();
        distinct.append(nb::steal(decoded));
    }
    return nb::make_tuple(to_numpy(std::move(encoded.codes)), distinct);
}

// In practice, values repeat as the same object, so cache codes by address. ASCII strings, the common case, are
// looked up by their bytes, all other values in a Python dict.
class ObjectCodes {
public:
    std::int32_t code(PyObject* value) {
        auto& entry = cache_[(reinterpret_cast<std::uintptr_t>(value) >> 4) % cache_.size()];
        if (entry.value != value) entry = {value, find_or_add(value)};
        return entry.code;
    }

    nb::list distinct;

private:
    struct CacheEntry {
        PyObject* value = nullptr;
        std::int32_t code = -1;
    };

    std::int32_t find_or_add(PyObject* value) {
        if (PyUnicode_CheckExact(value) && PyUnicode_IS_COMPACT_ASCII(value)) return find_or_add_ascii(value);
        if (is_missing(value)) return -1;
        if (PyObject* known = PyDict_GetItemWithError(dictionary_.ptr(), value))
            return static_cast<std::int32_t>(PyLong_AsLong(known));
        if (PyErr_Occurred()) throw nb::python_error();
        const std::int32_t new_code = add(value);
        dictionary_[nb::handle(value)] = new_code;
        return new_code;
    }

    std::int32_t find_or_add_ascii(PyObject* value) {
        const auto* characters = static_cast<const char*>(PyUnicode_DATA(value));
        std::int32_t& code =
            ascii_texts_.code({characters, static_cast<std::size_t>(PyUnicode_GET_LENGTH(value))}, false);
        if (code == weigh::Dictionary::kNew) code = add(value);
        return code;
    }

    std::int32_t add(PyObject* value) {
        distinct.append(nb::handle(value));
        return static_cast<std::int32_t>(nb::len(distinct)) - 1;
    }

    nb::dict dictionary_;
    weigh::Dictionary ascii_texts_;
    std::array<CacheEntry, 8192> cache_{};
};

nb::tuple encode_objects(nb::handle array) {
    const Objects values(array);
    std::vector<std::int32_t> codes(values.size());
    ObjectCodes known;
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = known.code(values[i]);
    return nb::make_tuple(to_numpy(std::move(codes)), known.distinct);
}

bool have_exact_types(nb::handle array, const nb::tuple& types) {
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
          "Return (codes, distinct strings) of concatenated UTF-8 strings; missing ones get -1.");
    m.def("encode_strings", &encode_strings<std::int64_t>, "offsets"_a, "text"_a, "validity"_a.none(), "bit_offset"_a);
    m.def("encode_objects", &encode_objects, "values"_a,
          "Return (codes, distinct values in order of first appearance); None and NaN get -1.");
    m.def("have_exact_types", &have_exact_types, "values"_a, "types"_a,
          "Return whether every object has exactly one of the types, not a subclass.");
}
