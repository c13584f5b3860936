#include "documents.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstring>

#include "objects.h"

using namespace nb::literals;

namespace {

using Bytes = Vector<std::uint8_t>;
using Marks = std::vector<std::string>;

// Texts that mean "missing".
class Markers {
public:
    explicit Markers(const Marks& marks) : marks_(marks) {
        for (const auto& mark : marks) longest_ = std::max(longest_, mark.size());
    }

    bool has(const weigh::Text& text) {
        if (marks_.empty() || text.is_missing() || text.size > longest_) return false;
        const std::string_view letters = weigh::to_utf8(text, scratch_);
        return std::find(marks_.begin(), marks_.end(), letters) != marks_.end();
    }

private:
    const Marks& marks_;
    std::size_t longest_ = 0;
    std::string scratch_;
};

// Never null: that would mean that there is no text.
weigh::Text text_at(const void* data, std::size_t size, weigh::Encoding encoding = weigh::Encoding::utf8) {
    return {data ? data : "", size, encoding};
}

weigh::Text text_of(PyObject* value) {
    const auto size = static_cast<std::size_t>(PyUnicode_GET_LENGTH(value));
    const void* data = PyUnicode_DATA(value);
    if (PyUnicode_IS_ASCII(value)) return text_at(data, size);
    switch (PyUnicode_KIND(value)) {
        case PyUnicode_1BYTE_KIND: return text_at(data, size, weigh::Encoding::latin1);
        case PyUnicode_2BYTE_KIND: return text_at(data, size, weigh::Encoding::ucs2);
        default: return text_at(data, size, weigh::Encoding::ucs4);
    }
}

void drop_marked(HeldDocuments& held, const Marks& missing) {
    Markers markers(missing);
    for (auto& text : held.texts)
        if (markers.has(text)) text = {};
}

HeldDocuments of_objects(nb::object array, const Marks& missing) {
    HeldDocuments held;
    held.owner = array;
    const Objects values(array);
    held.texts.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (PyUnicode_Check(values[i])) held.texts[i] = text_of(values[i]);
        else if (!is_missing(values[i])) held.odd.push_back(static_cast<std::int64_t>(i));
    }
    drop_marked(held, missing);
    return held;
}

// Whether bit i of Arrow's bitmap is set; without a bitmap all are.
class Validity {
public:
    Validity(const std::optional<Bytes>& bitmap, std::size_t first, std::size_t rows)
        : bits_(bitmap ? bitmap->data() : nullptr), first_(first) {
        require(!bitmap || 8 * bitmap->shape(0) >= first + rows, "the bitmap is too short");
    }

    bool operator[](std::size_t i) const { return !bits_ || (bits_[(first_ + i) / 8] >> ((first_ + i) % 8) & 1) != 0; }

private:
    const std::uint8_t* bits_;
    std::size_t first_;
};

template <class Offset>
HeldDocuments of_strings(const Vector<Offset>& offsets, const Bytes& text, const std::optional<Bytes>& valid,
                         std::size_t bit, const Marks& missing) {
    const auto ends = span_of(offsets);
    require(!ends.empty() && ends.front() >= 0 && std::is_sorted(ends.begin(), ends.end()) &&
                ends.back() <= static_cast<std::int64_t>(text.shape(0)),
            "offsets must rise and stay within the text");
    HeldDocuments held;
    held.owner = nb::make_tuple(offsets, text, valid);
    held.texts.resize(ends.size() - 1);
    const Validity is_there(valid, bit, held.texts.size());
    for (std::size_t i = 0; i < held.texts.size(); ++i)
        if (is_there[i])
            held.texts[i] = text_at(text.data() + ends[i], static_cast<std::size_t>(ends[i + 1] - ends[i]));
    drop_marked(held, missing);
    return held;
}

// Arrow's views: 16 bytes each, the size and then either up to 12 letters or the first 4 of them, the
// number of a buffer and a place in it.
HeldDocuments of_views(const Bytes& views, const std::vector<Bytes>& buffers, const std::optional<Bytes>& valid,
                       std::size_t bit, const Marks& missing) {
    constexpr std::size_t kView = 16, kInline = 12;
    HeldDocuments held;
    held.owner = nb::make_tuple(views, buffers, valid);
    held.texts.resize(views.shape(0) / kView);
    const Validity is_there(valid, bit, held.texts.size());
    for (std::size_t i = 0; i < held.texts.size(); ++i) {
        if (!is_there[i]) continue;
        const std::uint8_t* view = views.data() + kView * i;
        std::array<std::int32_t, 4> parts;
        std::memcpy(parts.data(), view, kView);
        require(parts[0] >= 0, "a view has a negative size");
        const auto size = static_cast<std::size_t>(parts[0]);
        if (size <= kInline) {
            held.texts[i] = text_at(view + 4, size);
            continue;
        }
        require(parts[2] >= 0 && static_cast<std::size_t>(parts[2]) < buffers.size() && parts[3] >= 0,
                "a view points to no buffer");
        const Bytes& buffer = buffers[static_cast<std::size_t>(parts[2])];
        require(static_cast<std::size_t>(parts[3]) + size <= buffer.shape(0), "a view leaves its buffer");
        held.texts[i] = text_at(buffer.data() + parts[3], size);
    }
    drop_marked(held, missing);
    return held;
}

HeldDocuments of_spans(const Vector<std::int64_t>& begins, const Vector<std::int64_t>& sizes, const Bytes& data,
                       const Bytes& spilled, const Marks& missing) {
    require(begins.shape(0) == sizes.shape(0), "begins and sizes differ in length");
    HeldDocuments held;
    held.owner = nb::make_tuple(data, spilled);
    held.texts.resize(begins.shape(0));
    for (std::size_t i = 0; i < held.texts.size(); ++i) {
        if (sizes.data()[i] < 0) continue;
        const std::int64_t begin = begins.data()[i];
        const Bytes& bytes = begin >= 0 ? data : spilled;
        const auto from = static_cast<std::size_t>(begin >= 0 ? begin : ~begin);
        const auto size = static_cast<std::size_t>(sizes.data()[i]);
        require(from <= bytes.shape(0) && size <= bytes.shape(0) - from, "a text leaves its bytes");
        held.texts[i] = text_at(bytes.data() + from, size);
    }
    drop_marked(held, missing);
    return held;
}

HeldDocuments of_lists(const HeldDocuments& names, const Vector<std::int64_t>& indptr,
                       const std::optional<Vector<double>>& values) {
    const auto rows = span_of(indptr);
    require(!rows.empty() && rows.front() >= 0 && std::is_sorted(rows.begin(), rows.end()) &&
                rows.back() <= static_cast<std::int64_t>(names.texts.size()),
            "indptr must rise and stay within the names");
    require(!values || values->shape(0) == names.texts.size(), "values and names differ in length");
    const std::span listed(names.texts.data() + rows.front(), static_cast<std::size_t>(rows.back() - rows.front()));
    require(std::none_of(listed.begin(), listed.end(), [](const auto& text) { return text.is_missing(); }),
            "a name is missing");
    HeldDocuments held;
    held.owner = names.owner;
    held.texts = names.texts;
    held.indptr.assign(rows.begin(), rows.end());
    const auto amounts = span_of(values);
    held.values.assign(amounts.begin(), amounts.end());
    return held;
}

// Which rows have a text; None if all have.
nb::object known(const HeldDocuments& held) {
    const auto& texts = held.texts;
    const auto is_gone = [](const weigh::Text& text) { return text.is_missing(); };
    if (!held.indptr.empty() || std::none_of(texts.begin(), texts.end(), is_gone)) return nb::none();
    std::vector<std::uint8_t> here(texts.size());
    std::transform(texts.begin(), texts.end(), here.begin(), [&](const auto& text) { return !is_gone(text); });
    return nb::cast(to_numpy(std::move(here)));
}

}  // namespace

void bind_documents(nb::module_& m) {
    nb::class_<HeldDocuments>(m, "Documents", "Texts, or lists of tokens, read where they lie.")
        .def_static("from_objects", &of_objects, "values"_a, "missing"_a)
        .def_static("from_strings", &of_strings<std::int32_t>, "offsets"_a, "text"_a, "validity"_a.none(),
                    "bit_offset"_a, "missing"_a)
        .def_static("from_strings", &of_strings<std::int64_t>, "offsets"_a, "text"_a, "validity"_a.none(),
                    "bit_offset"_a, "missing"_a)
        .def_static("from_string_views", &of_views, "views"_a, "buffers"_a, "validity"_a.none(), "bit_offset"_a,
                    "missing"_a)
        .def_static("from_spans", &of_spans, "begins"_a, "sizes"_a, "data"_a, "unescaped"_a, "missing"_a)
        .def_static("from_token_lists", &of_lists, "names"_a, "indptr"_a, "values"_a.none())
        .def_ro("invalid_rows", &HeldDocuments::odd)
        .def_prop_ro("present", &known)
        .def("__len__", &HeldDocuments::rows);
}
