#include "documents.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstring>

#include "objects.h"

using namespace nb::literals;

namespace {

using Bytes = Vector<std::uint8_t>;
using MarkerList = std::vector<std::string>;

// Texts that mean "missing".
class MissingMarkers {
public:
    explicit MissingMarkers(const MarkerList& markers) : markers_(markers) {
        for (const auto& marker : markers) longest_ = std::max(longest_, marker.size());
    }

    bool has(const weigh::Text& text) {
        if (markers_.empty() || text.is_missing() || text.size > longest_) return false;
        const std::string_view bytes = weigh::to_utf8(text, scratch_);
        return std::find(markers_.begin(), markers_.end(), bytes) != markers_.end();
    }

private:
    const MarkerList& markers_;
    std::size_t longest_ = 0;
    std::string scratch_;
};

// The data pointer must not be null, which would mean missing.
weigh::Text make_text(const void* data, std::size_t size, weigh::Encoding encoding = weigh::Encoding::utf8) {
    return {data ? data : "", size, encoding};
}

weigh::Text text_of(PyObject* value) {
    const auto size = static_cast<std::size_t>(PyUnicode_GET_LENGTH(value));
    const void* data = PyUnicode_DATA(value);
    if (PyUnicode_IS_ASCII(value)) return make_text(data, size);
    switch (PyUnicode_KIND(value)) {
        case PyUnicode_1BYTE_KIND: return make_text(data, size, weigh::Encoding::latin1);
        case PyUnicode_2BYTE_KIND: return make_text(data, size, weigh::Encoding::ucs2);
        default: return make_text(data, size, weigh::Encoding::ucs4);
    }
}

void clear_markers(DocumentsBinding& documents, const MarkerList& missing) {
    MissingMarkers markers(missing);
    for (auto& text : documents.texts)
        if (markers.has(text)) text = {};
}

DocumentsBinding from_objects(nb::object array, const MarkerList& missing) {
    DocumentsBinding documents;
    documents.owner = array;
    const Objects values(array);
    documents.texts.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (PyUnicode_Check(values[i])) documents.texts[i] = text_of(values[i]);
        else if (!is_missing(values[i])) documents.invalid_rows.push_back(static_cast<std::int64_t>(i));
    }
    clear_markers(documents, missing);
    return documents;
}

// Validity bitmap of Arrow; without a bitmap, all values are valid.
class Validity {
public:
    Validity(const std::optional<Bytes>& bitmap, std::size_t first, std::size_t rows)
        : bits_(bitmap ? bitmap->data() : nullptr), first_(first) {
        require(!bitmap || 8 * bitmap->shape(0) >= first + rows, "the validity bitmap is too short");
    }

    bool operator[](std::size_t i) const { return !bits_ || (bits_[(first_ + i) / 8] >> ((first_ + i) % 8) & 1) != 0; }

private:
    const std::uint8_t* bits_;
    std::size_t first_;
};

template <class Offset>
DocumentsBinding from_strings(const Vector<Offset>& offsets, const Bytes& text, const std::optional<Bytes>& validity,
                              std::size_t bit_offset, const MarkerList& missing) {
    const auto ends = span_of(offsets);
    require(!ends.empty() && ends.front() >= 0 && std::is_sorted(ends.begin(), ends.end()) &&
                ends.back() <= static_cast<std::int64_t>(text.shape(0)),
            "offsets must ascend within the text");
    DocumentsBinding documents;
    documents.owner = nb::make_tuple(offsets, text, validity);
    documents.texts.resize(ends.size() - 1);
    const Validity is_valid(validity, bit_offset, documents.texts.size());
    for (std::size_t i = 0; i < documents.texts.size(); ++i)
        if (is_valid[i])
            documents.texts[i] = make_text(text.data() + ends[i], static_cast<std::size_t>(ends[i + 1] - ends[i]));
    clear_markers(documents, missing);
    return documents;
}

// String views of Arrow have 16 bytes: the size, and then either up to 12 bytes of text, or a prefix of 4 bytes, the
// index of a buffer and the offset in it.
DocumentsBinding from_string_views(const Bytes& views, const std::vector<Bytes>& buffers,
                                   const std::optional<Bytes>& validity, std::size_t bit_offset,
                                   const MarkerList& missing) {
    constexpr std::size_t kView = 16, kInline = 12;
    DocumentsBinding documents;
    documents.owner = nb::make_tuple(views, buffers, validity);
    documents.texts.resize(views.shape(0) / kView);
    const Validity is_valid(validity, bit_offset, documents.texts.size());
    for (std::size_t i = 0; i < documents.texts.size(); ++i) {
        if (!is_valid[i]) continue;
        const std::uint8_t* view = views.data() + kView * i;
        std::array<std::int32_t, 4> parts;
        std::memcpy(parts.data(), view, kView);
        require(parts[0] >= 0, "a view has a negative size");
        const auto size = static_cast<std::size_t>(parts[0]);
        if (size <= kInline) {
            documents.texts[i] = make_text(view + 4, size);
            continue;
        }
        require(parts[2] >= 0 && static_cast<std::size_t>(parts[2]) < buffers.size() && parts[3] >= 0,
                "a view refers to a missing buffer");
        const Bytes& buffer = buffers[static_cast<std::size_t>(parts[2])];
        require(static_cast<std::size_t>(parts[3]) + size <= buffer.shape(0), "a view exceeds its buffer");
        documents.texts[i] = make_text(buffer.data() + parts[3], size);
    }
    clear_markers(documents, missing);
    return documents;
}

DocumentsBinding from_spans(const Vector<std::int64_t>& begins, const Vector<std::int64_t>& sizes, const Bytes& data,
                            const Bytes& unescaped, const MarkerList& missing) {
    require(begins.shape(0) == sizes.shape(0), "begins and sizes differ in length");
    DocumentsBinding documents;
    documents.owner = nb::make_tuple(data, unescaped);
    documents.texts.resize(begins.shape(0));
    for (std::size_t i = 0; i < documents.texts.size(); ++i) {
        if (sizes.data()[i] < 0) continue;
        const std::int64_t begin = begins.data()[i];
        const Bytes& bytes = begin >= 0 ? data : unescaped;
        const auto from = static_cast<std::size_t>(begin >= 0 ? begin : ~begin);
        const auto size = static_cast<std::size_t>(sizes.data()[i]);
        require(from <= bytes.shape(0) && size <= bytes.shape(0) - from, "a text span exceeds its buffer");
        documents.texts[i] = make_text(bytes.data() + from, size);
    }
    clear_markers(documents, missing);
    return documents;
}

DocumentsBinding from_token_lists(const DocumentsBinding& names, const Vector<std::int64_t>& indptr,
                                  const std::optional<Vector<double>>& values) {
    const auto rows = span_of(indptr);
    require(!rows.empty() && rows.front() >= 0 && std::is_sorted(rows.begin(), rows.end()) &&
                rows.back() <= static_cast<std::int64_t>(names.texts.size()),
            "indptr must ascend within the names");
    require(!values || values->shape(0) == names.texts.size(), "values and names differ in length");
    const std::span used(names.texts.data() + rows.front(), static_cast<std::size_t>(rows.back() - rows.front()));
    require(std::none_of(used.begin(), used.end(), [](const auto& text) { return text.is_missing(); }),
            "a name is missing");
    DocumentsBinding documents;
    documents.owner = names.owner;
    documents.texts = names.texts;
    documents.indptr.assign(rows.begin(), rows.end());
    const auto value_span = span_of(values);
    documents.values.assign(value_span.begin(), value_span.end());
    return documents;
}

// Mask of the rows that have a text; None if all have.
nb::object present(const DocumentsBinding& documents) {
    const auto& texts = documents.texts;
    const auto is_missing = [](const weigh::Text& text) { return text.is_missing(); };
    if (!documents.indptr.empty() || std::none_of(texts.begin(), texts.end(), is_missing)) return nb::none();
    std::vector<std::uint8_t> mask(texts.size());
    std::transform(texts.begin(), texts.end(), mask.begin(), [&](const auto& text) { return !is_missing(text); });
    return nb::cast(to_numpy(std::move(mask)));
}

}  // namespace

void bind_documents(nb::module_& m) {
    nb::class_<DocumentsBinding>(m, "Documents", "Texts, or lists of tokens, without copying them.")
        .def_static("from_objects", &from_objects, "values"_a, "missing"_a)
        .def_static("from_strings", &from_strings<std::int32_t>, "offsets"_a, "text"_a, "validity"_a.none(),
                    "bit_offset"_a, "missing"_a)
        .def_static("from_strings", &from_strings<std::int64_t>, "offsets"_a, "text"_a, "validity"_a.none(),
                    "bit_offset"_a, "missing"_a)
        .def_static("from_string_views", &from_string_views, "views"_a, "buffers"_a, "validity"_a.none(),
                    "bit_offset"_a, "missing"_a)
        .def_static("from_spans", &from_spans, "begins"_a, "sizes"_a, "data"_a, "unescaped"_a, "missing"_a)
        .def_static("from_token_lists", &from_token_lists, "names"_a, "indptr"_a, "values"_a.none())
        .def_ro("invalid_rows", &DocumentsBinding::invalid_rows)
        .def_prop_ro("present", &present)
        .def("__len__", &DocumentsBinding::rows);
}
