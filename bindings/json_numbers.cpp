#include "weigh/json_numbers.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"

using namespace nb::literals;

namespace {

std::vector<std::string> to_json_fields(const Matrix<double>& values, const std::vector<std::string>& keys) {
    require(values.shape(1) == keys.size(), "there must be one key per column");
    const ScopedGilRelease released(values.size());
    return weigh::to_json_fields(strided_of(values), keys);
}

}  // namespace

void bind_json_numbers(nb::module_& m) {
    m.def("to_json_fields", &to_json_fields, "values"_a, "keys"_a,
          "Return the cells of each row as the fields of a JSON object, under keys that are JSON strings.");
}
