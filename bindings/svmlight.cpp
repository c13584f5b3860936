#include "weigh/svmlight.h"

#include <array>
#include <limits>

#include "arrays.h"

using namespace nb::literals;
namespace svmlight = weigh::svmlight;

namespace {

using Bytes = Vector<std::uint8_t>;
using Offsets = Vector<std::int64_t>;

// In the order of svmlight::Fault.
constexpr std::array<const char*, 6> kFaults{"none", "label", "index", "order", "value", "beyond"};

svmlight::Lines lines_of(const Bytes& data, const Offsets& begins, const Offsets& ends) {
    require(begins.shape(0) == ends.shape(0), "begins and ends differ in length");
    const svmlight::Lines lines{
        {reinterpret_cast<const char*>(data.data()), data.shape(0)}, span_of(begins), span_of(ends)};
    for (std::size_t i = 0; i < lines.size(); ++i)
        require(0 <= lines.begins[i] && lines.begins[i] <= lines.ends[i] &&
                    lines.ends[i] <= static_cast<std::int64_t>(data.shape(0)),
                "a line is outside the data");
    return lines;
}

nb::tuple scan_svmlight(const Bytes& data, const Offsets& begins, const Offsets& ends) {
    const svmlight::Lines lines = lines_of(data, begins, ends);
    svmlight::LineScan scan_result;
    {
        nb::gil_scoped_release released;
        scan_result = svmlight::scan(lines);
    }
    return nb::make_tuple(scan_result.min_index, scan_result.max_index, scan_result.integer_labels);
}

nb::tuple parse_svmlight(const Bytes& data, const Offsets& begins, const Offsets& ends, std::int64_t base,
                         std::int64_t width) {
    const svmlight::Lines lines = lines_of(data, begins, ends);
    require(base >= 0 && width >= 0 && width <= std::numeric_limits<std::int32_t>::max(),
            "base and width must be non-negative 32-bit integers");
    svmlight::Rows rows;
    {
        nb::gil_scoped_release released;
        rows = svmlight::parse(lines, base, width);
    }
    nb::object fault = nb::none();
    if (rows.fault != svmlight::Fault::none)
        fault = nb::make_tuple(kFaults[static_cast<std::size_t>(rows.fault)], rows.position);
    return nb::make_tuple(to_numpy(std::move(rows.labels)), to_numpy(std::move(rows.indptr)),
                          to_numpy(std::move(rows.indices)), to_numpy(std::move(rows.values)), fault);
}

nb::object parse_numbers(const Bytes& data, const Offsets& begins, const Offsets& ends) {
    const svmlight::Lines words = lines_of(data, begins, ends);
    std::vector<double> numbers(words.size());
    {
        nb::gil_scoped_release released;
        numbers.resize(svmlight::parse_numbers(words, numbers));
    }
    return nb::cast(to_numpy(std::move(numbers)));
}

}  // namespace

void bind_svmlight(nb::module_& m) {
    m.def("parse_numbers", &parse_numbers, "data"_a, "begins"_a, "ends"_a,
          "Parse words as finite numbers up to the first failure.");
    m.def("scan_svmlight", &scan_svmlight, "data"_a, "begins"_a, "ends"_a,
          "Return (smallest index, largest index, whether all labels are integers); -1 means no index.");
    m.def("parse_svmlight", &parse_svmlight, "data"_a, "begins"_a, "ends"_a, "base"_a, "width"_a,
          "Return (labels, indptr, indices, values, None or the first error: (fault, offset)).");
}
