#include "weigh/association.h"

#include "arrays.h"

using namespace nb::literals;

namespace {

weigh::DiscreteRows rows_of(const Table<const std::int32_t>& codes, const Vector<std::int32_t>& levels,
                            const Vector<std::int32_t>& classes, std::size_t n_classes,
                            const Vector<double>& weights) {
    require(codes.shape(0) == levels.shape(0), "codes and levels differ in columns");
    require(codes.shape(1) == classes.shape(0) && weights.shape(0) == classes.shape(0),
            "codes, classes and weights differ in rows");
    require_classes(span_of(classes), n_classes);
    for (std::size_t j = 0; j < codes.shape(0); ++j) {
        require(levels.data()[j] >= 0, "a number of levels is negative");
        require_below(cells_of(codes).subspan(j * codes.shape(1), codes.shape(1)),
                      static_cast<std::size_t>(levels.data()[j]), "a code is out of range");
    }
    return {cells_of(codes), span_of(levels), span_of(classes), n_classes, span_of(weights)};
}

nb::tuple measure_association(const Table<const std::int32_t>& codes, const Vector<std::int32_t>& levels,
                              const Vector<std::int32_t>& classes, std::size_t n_classes,
                              const Vector<double>& weights) {
    const auto rows = rows_of(codes, levels, classes, n_classes, weights);
    const std::size_t n = rows.columns();
    weigh::Association sums;
    {
        const ScopedGilRelease released(rows.rows() * n * n);
        sums = weigh::measure_association(rows);
    }
    return nb::make_tuple(to_numpy(std::move(sums.information), n, n), to_numpy(std::move(sums.entropy), n, n),
                          to_numpy(std::move(sums.freedom), n, n), to_numpy(std::move(sums.known), n, n));
}

auto log_arrangements(const Table<const std::int32_t>& codes, const Vector<std::int32_t>& levels,
                      const Vector<std::int32_t>& classes, std::size_t n_classes, const Vector<double>& weights) {
    return to_numpy(weigh::log_arrangements(rows_of(codes, levels, classes, n_classes, weights)));
}

nb::tuple rank_within_classes(const Column<double>& values, const Vector<std::int32_t>& classes,
                              std::size_t n_classes, std::size_t n_bins, std::size_t min_bin_rows) {
    require(values.shape(0) == classes.shape(0), "values and classes differ in length");
    require(n_bins > 0 && min_bin_rows > 0, "bins must have rows");
    require_classes(span_of(classes), n_classes);
    auto ranked = weigh::rank_within_classes(strided_of(values), span_of(classes), n_classes, n_bins, min_bin_rows);
    return nb::make_tuple(to_numpy(std::move(ranked.bins)), to_numpy(std::move(ranked.ranks)));
}

}  // namespace

void bind_association(nb::module_& m) {
    m.def("measure_association", &measure_association, "codes"_a, "levels"_a, "classes"_a, "n_classes"_a, "weights"_a,
          "Return the sums over the classes of n I(a, b), n H(a), the degrees of freedom and n for each pair of columns.");
    m.def("log_arrangements", &log_arrangements, "codes"_a, "levels"_a, "classes"_a, "n_classes"_a, "weights"_a,
          "Return the log number of ways to arrange the values of each column within the classes.");
    m.def("rank_within_classes", &rank_within_classes, "values"_a, "classes"_a, "n_classes"_a, "n_bins"_a,
          "min_bin_rows"_a, "Return the bin and the rank of each number among those of its class.");
}
