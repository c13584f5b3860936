#include "weigh/exact_sums.h"

#include "weigh/value_scan.h"

#include "arrays.h"

using namespace nb::literals;

namespace {

nb::tuple to_tuple(weigh::ExactSums&& sums, std::size_t classes) {
    return nb::make_tuple(to_numpy(std::move(sums.limbs), classes, sums.length), sums.first_power);
}

nb::tuple class_sums(const Vector<std::int32_t>& classes, std::size_t n_classes, const Column<double>& values,
                     const std::optional<Vector<double>>& weights) {
    weigh::ClassSums sums;
    {
        const ScopedGilRelease released(values.shape(0));
        require_class_values(classes, n_classes, values, weights);
        sums = weigh::class_sums(span_of(classes), n_classes, strided_of(values), span_of(weights));
    }
    return nb::make_tuple(to_numpy(std::move(sums.total_weights)), to_tuple(std::move(sums.sum_x), n_classes),
                          to_tuple(std::move(sums.sum_xx), n_classes));
}

nb::tuple propagate_carries(const Table<const std::int64_t>& limbs, int base) {
    const std::size_t classes = limbs.shape(0), length = limbs.shape(1) + 2;
    std::vector<std::int64_t> is_padded(classes * length);
    for (std::size_t c = 0; c < classes; ++c)
        std::copy_n(limbs.data() + c * limbs.shape(1), limbs.shape(1), is_padded.data() + c * length);
    return to_tuple(weigh::propagate_carries(std::move(is_padded), length, base), classes);
}

nb::tuple scan_values(const Vector<double>& values) {
    weigh::ValueScan scan;
    {
        const ScopedGilRelease released(values.shape(0));
        scan = weigh::scan_values(span_of(values));
    }
    return nb::make_tuple(scan.max_magnitude, scan.has_nan, scan.has_zero, scan.has_negative);
}

}  // namespace

void bind_exact_sums(nb::module_& m) {
    m.def("class_sums", &class_sums, "classes"_a, "n_classes"_a, "values"_a, "weights"_a.none(),
          "Return Σ w and the exact Σ w x and Σ w x² per class; exact sums are (limbs, base).");
    m.def("scan_values", &scan_values, "values"_a,
          "Return the largest magnitude, and whether there are NaN, zero and negative values.");
    m.def("propagate_carries", &propagate_carries, "limbs"_a, "base"_a,
          "Return (limbs, base) of the same sums in normal form.");
}
