#include "weigh/count.h"

#include "arrays.h"

using namespace nb::literals;

namespace {

using Weights = std::optional<Vector<double>>;

void count_codes(const Vector<std::int32_t>& classes, const Vector<std::int32_t>& codes,
                 const Table<std::int64_t>& table) {
    const ScopedGilRelease released(classes.shape(0));
    require(classes.shape(0) == codes.shape(0), "classes and codes differ in length");
    require_below(span_of(classes), table.shape(0), "a class is out of range");
    require_below(span_of(codes), table.shape(1), "a code is out of range");
    weigh::count_codes(span_of(classes), span_of(codes), table.shape(1), cells_of(table));
}

void count_weighted_codes(const Vector<std::int32_t>& classes, const Vector<std::int32_t>& codes,
                          const Vector<double>& weights, const Table<double>& table) {
    const ScopedGilRelease released(classes.shape(0));
    require(classes.shape(0) == codes.shape(0) && weights.shape(0) == codes.shape(0),
            "classes, codes and weights differ in length");
    require_below(span_of(classes), table.shape(0), "a class is out of range");
    require_below(span_of(codes), table.shape(1), "a code is out of range");
    weigh::count_codes(span_of(classes), span_of(codes), span_of(weights), table.shape(1), cells_of(table));
}

void count_sparse(const Vector<std::int32_t>& classes, const Vector<std::int64_t>& indptr,
                  const Vector<std::int32_t>& indices, const Weights& values, const Weights& weights,
                  const Table<double>& table) {
    const ScopedGilRelease released(classes.shape(0));
    require(!weights || weights->shape(0) == classes.shape(0), "weights and classes differ in length");
    require_below(span_of(classes), table.shape(0), "a class is out of range");
    const auto rows = sparse_of(indptr, indices, values, classes.shape(0), table.shape(1));
    weigh::count_sparse(span_of(classes), rows, span_of(weights), table.shape(1), cells_of(table));
}

template <class Count>
auto smoothed_log_probabilities(
    const nb::ndarray<const Count, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>& counts, double pseudocount,
    const Vector<double>& totals) {
    const std::size_t classes = counts.shape(0), words = counts.shape(1);
    require(totals.shape(0) == classes, "counts and totals differ in classes");
    weigh::ZeroedArray<double> logs(classes * words);
    {
        const ScopedGilRelease released(classes * words);
        weigh::smoothed_log_probabilities<Count>({counts.data(), classes * words}, pseudocount, span_of(totals),
                                                 logs.data());
    }
    return to_numpy_table(std::move(logs), words, classes);
}

template <class Count>
void bind_log_probabilities(nb::module_& m) {
    m.def("smoothed_log_probabilities", &smoothed_log_probabilities<Count>, "counts"_a.noconvert(), "pseudocount"_a,
          "totals"_a, "Return log((count + pseudocount) / total) of counts [classes, words] as [words, classes].");
}

}  // namespace

// Output tables must not be converted: results would go to a temporary copy.
void bind_count(nb::module_& m) {
    m.def("count_codes", &count_codes, "classes"_a, "codes"_a, "table"_a.noconvert(),
          "Add one to table[class, code] for every row.");
    m.def("count_weighted_codes", &count_weighted_codes, "classes"_a, "codes"_a, "weights"_a, "table"_a.noconvert(),
          "Add its weight to table[class, code] for every row.");
    m.def("count_sparse", &count_sparse, "classes"_a, "indptr"_a, "indices"_a, "values"_a.none(), "weights"_a.none(),
          "table"_a.noconvert(), "Add weight × value to table[class, index] for every entry.");
    bind_log_probabilities<std::uint8_t>(m);
    bind_log_probabilities<std::uint16_t>(m);
    bind_log_probabilities<std::uint32_t>(m);
    bind_log_probabilities<std::int64_t>(m);
}
