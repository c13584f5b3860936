#include "weigh/sums.h"

#include "arrays.h"

using namespace nb::literals;

namespace {

nb::tuple exponents(const Column<double>& values) {
    weigh::Exponents found;
    {
        nb::gil_scoped_release unlocked;
        found = weigh::exponents(strided_of(values));
    }
    return nb::make_tuple(found.any, found.low, found.high, found.infinite);
}

using Totals = nb::ndarray<double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

weigh::Limbs limbs_of(const Table<std::int64_t>& digits, int base) {
    return {cells_of(digits), digits.shape(1), base};
}

void add_sums(const Vector<std::int32_t>& classes, const Column<double>& values,
              const std::optional<Vector<double>>& weights, const Totals& known,
              const Table<std::int64_t>& first, int first_base, const Table<std::int64_t>& second, int second_base) {
    nb::gil_scoped_release unlocked;
    require(classes.shape(0) == values.shape(0), "classes and values differ in length");
    require(!weights || weights->shape(0) == values.shape(0), "weights and values differ in length");
    require(first.shape(0) == second.shape(0) && first.shape(0) == known.shape(0), "the sums differ in classes");
    require_below(span_of(classes), first.shape(0), "a class lies outside the sums");
    weigh::add_sums(span_of(classes), strided_of(values), span_of(weights),
                    {known.data(), known.shape(0)}, limbs_of(first, first_base), limbs_of(second, second_base));
}

}  // namespace

void bind_sums(nb::module_& m) {
    m.def("exponents", &exponents, "values"_a,
          "Return (any finite non-zero value, lowest bit, bit above the highest, any infinity).");
    m.def("add_sums", &add_sums, "classes"_a, "values"_a, "weights"_a.none(), "known"_a.noconvert(),
          "first"_a.noconvert(), "first_base"_a, "second"_a.noconvert(), "second_base"_a,
          "Add w to known, w·x to first and w·x² to second, the last two without rounding.");
}
