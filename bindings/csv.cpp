#include "weigh/csv.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "arrays.h"

using namespace nb::literals;
namespace csv = weigh::csv;

namespace {

using Bytes = Vector<std::uint8_t>;
// The decimal sign, the thousands separator or "", the spellings of the unit, whether it is required, the further forms,
// and the words that mean missing.
using Format = std::tuple<char, std::string, std::vector<std::string>, bool, std::vector<std::string>,
                          std::vector<std::string>>;

// In the order of csv::Kind and csv::Fault.
constexpr std::array<const char*, 8> kKinds{"skip", "number", "text", "integer", "real", "flag", "string", "any"};
constexpr std::array<const char*, 5> kFaults{"none", "ragged", "unfit", "not_utf8", "open_quote"};

csv::Kind kind_of(const std::string& name) {
    const auto scan = std::find(kKinds.begin(), kKinds.end(), name);
    require(scan != kKinds.end(), "unknown column kind");
    return static_cast<csv::Kind>(scan - kKinds.begin());
}

std::string_view view_of(const Bytes& data) { return {reinterpret_cast<const char*>(data.data()), data.shape(0)}; }

weigh::NumberFormat format_of(const Format& format) {
    const auto& [decimal, thousands, units, requires_unit, forms, missing_words] = format;
    require(thousands.size() <= 1, "a thousands separator is one character");
    weigh::NumberFormat native{decimal, thousands.empty() ? '\0' : thousands.front(), units, requires_unit};
    native.missing_words = missing_words;
    for (const auto& form : forms) {
        if (form == "limits") native.has_limits = true;
        else if (form == "trailing minus") native.has_trailing_minus = true;
        else if (form == "multiples") native.has_multiples = true;
        else if (form == "pairs") native.has_pairs = true;
        else if (form == "durations") native.has_durations = true;
        else require(false, "unknown form of numbers");
    }
    return native;
}

nb::list to_list(const csv::Texts& texts) {
    nb::list list;
    for (std::size_t k = 0; k < texts.size(); ++k) list.append(nb::str(texts[k].data(), texts[k].size()));
    return list;
}

nb::object values_of(csv::Column& column) {
    switch (column.kind) {
        case csv::Kind::skip: return nb::none();
        case csv::Kind::number: return nb::cast(to_numpy(std::move(column.numbers)));
        case csv::Kind::real: return nb::cast(to_numpy(std::move(column.reals)));
        case csv::Kind::integer:
        case csv::Kind::flag: return nb::cast(to_numpy(std::move(column.integers)));
        case csv::Kind::text:
            return nb::make_tuple(to_numpy(std::move(column.sizes)), to_numpy(std::move(column.unescaped)));
        default: return to_list(column.texts);
    }
}

nb::object to_python(const csv::Error& error) {
    if (error.fault == csv::Fault::none) return nb::none();
    return nb::make_tuple(kFaults[static_cast<std::size_t>(error.fault)], error.record, error.offset, error.column,
                          error.fields, nb::bytes(error.text.data(), error.text.size()));
}

nb::tuple parse_csv(const Bytes& data, const std::vector<std::string>& kinds, char delimiter, bool quotes,
                    const std::vector<std::string>& missing, const std::vector<Format>& formats,
                    std::size_t max_records) {
    require(formats.empty() || formats.size() == kinds.size(), "formats differ in number from kinds");
    csv::Table table;
    {
        std::vector<csv::Kind> wanted;
        for (const auto& name : kinds) wanted.push_back(kind_of(name));
        csv::Dialect dialect{delimiter, quotes, missing, {}};
        for (const auto& format : formats) dialect.formats.push_back(format_of(format));
        nb::gil_scoped_release released;
        table = csv::parse(view_of(data), wanted, dialect, max_records);
    }
    nb::list columns;
    for (auto& column : table.columns) {
        const char* kind = kKinds[static_cast<std::size_t>(column.kind)];
        const nb::object values = values_of(column);
        if (column.kind == csv::Kind::text)
            columns.append(nb::make_tuple(kind, to_numpy(std::move(column.begins)), values));
        else if (column.kind == csv::Kind::number)
            columns.append(
                nb::make_tuple(kind, nb::make_tuple(column.missing, to_numpy(std::move(column.odd))), values));
        else columns.append(nb::make_tuple(kind, to_numpy(std::move(column.codes)), values));
    }
    return nb::make_tuple(table.records, columns, to_python(table.error));
}

nb::tuple parse_number_texts(const nb::list& texts, const Format& format) {
    std::vector<std::string_view> views;
    for (const nb::handle text : texts) {
        Py_ssize_t size = 0;
        const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
        // A lone surrogate has no UTF-8, so the text is no number either.
        if (bytes == nullptr) PyErr_Clear();
        views.emplace_back(bytes, bytes == nullptr ? 0 : static_cast<std::size_t>(size));
    }
    csv::ParsedTexts parsed = csv::parse_number_texts(views, format_of(format));
    return nb::make_tuple(to_numpy(std::move(parsed.numbers)), to_numpy(std::move(parsed.fits)));
}

nb::tuple scan_csv_records(const Bytes& data, char delimiter, bool quotes, std::size_t max_records, bool at_end) {
    csv::RecordScan scan;
    {
        nb::gil_scoped_release released;
        scan = csv::scan_records(view_of(data), delimiter, quotes, max_records, at_end);
    }
    return nb::make_tuple(scan.end, scan.records);
}

}  // namespace

void bind_csv(nb::module_& m) {
    m.def("parse_csv", &parse_csv, "data"_a, "kinds"_a, "delimiter"_a, "quotes"_a, "missing"_a, "formats"_a,
          "max_records"_a,
          "Return (records, [(kind, codes, values) of every column], None or the first error: (fault, record, "
          "offset, column, fields, text)). For numbers: (kind, (number of missing fields, records of odd fields), "
          "numbers). For texts: (kind, begins, (sizes, unescaped)). `formats` has one (decimal, "
          "thousands, units, requires_unit, forms, missing_words) per column, or none.");
    m.def("parse_number_texts", &parse_number_texts, "texts"_a, "format"_a,
          "Return the numbers, and whether each text fits the format; others are NaN.");
    m.def("scan_csv_records", &scan_csv_records, "data"_a, "delimiter"_a, "quotes"_a, "max_records"_a, "at_end"_a,
          "Return (end of the last complete record, number of records up to there), at most `max_records`.");
}
