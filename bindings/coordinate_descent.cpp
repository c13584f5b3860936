#include "weigh/coordinate_descent.h"

#include "arrays.h"

using namespace nb::literals;

namespace {

weigh::Penalties penalties_of(const Vector<double>& l1, const Vector<double>& l2, std::size_t size) {
    require(l1.shape(0) == size && l2.shape(0) == size, "l1 and l2 must have one value per weight");
    return {span_of(l1), span_of(l2)};
}

weigh::GramLoss gram_loss_of(const Table<const double>& gram, const Vector<double>& cross, double yy) {
    require(gram.shape(0) == cross.shape(0) && gram.shape(1) == cross.shape(0), "gram and cross differ in size");
    return {cells_of(gram), span_of(cross), yy};
}

nb::tuple coordinate_descent_gram(const Table<const double>& gram, const Vector<double>& cross, double yy,
                                  const Vector<double>& l1, const Vector<double>& l2, double tol,
                                  std::size_t max_sweeps, const MutableVector<double>& w,
                                  const MutableVector<double>& q) {
    const auto loss = gram_loss_of(gram, cross, yy);
    const auto penalties = penalties_of(l1, l2, cross.shape(0));
    require(w.shape(0) == cross.shape(0) && q.shape(0) == cross.shape(0), "weights and gradient differ in size");
    weigh::GramDescent descent;
    {
        const ScopedGilRelease released(gram.shape(0) * gram.shape(1));
        descent = weigh::coordinate_descent_gram(loss, penalties, tol, max_sweeps, span_of(w), span_of(q));
    }
    return nb::make_tuple(descent.sweeps, descent.gap);
}

void make_columns(weigh::ColumnSubset* self, const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                  const std::optional<Vector<double>>& values, const Vector<std::int32_t>& index_map, std::size_t count,
                  std::size_t threads) {
    require(indptr.shape(0) > 0, "indptr must have one more entry than there are rows");
    const auto rows = sparse_of(indptr, indices, values, indptr.shape(0) - 1, index_map.shape(0));
    require_below(span_of(index_map), count, "index_map has an index out of range");
    const ScopedGilRelease released(indices.shape(0));
    new (self) weigh::ColumnSubset(rows, span_of(index_map), count, threads);
}

nb::tuple coordinate_descent_columns(const weigh::ColumnSubset& columns, const Vector<std::int32_t>& active,
                                     const Vector<double>& l1, const Vector<double>& l2, const Vector<double>& h,
                                     const Vector<double>& u, const Vector<double>& q,
                                     const weigh::CoordinateDescentSettings& settings, const MutableVector<double>& w) {
    require(w.shape(0) == columns.size() && q.shape(0) == columns.size(), "w and q must have one value per column");
    require(h.shape(0) == columns.rows() && u.shape(0) == columns.rows(), "h and u must have one value per row");
    const auto penalties = penalties_of(l1, l2, columns.size());
    for (const std::int32_t column : span_of(active))
        require(column >= 0 && static_cast<std::size_t>(column) < columns.size(), "a column index is out of range");
    weigh::ColumnDescent descent;
    {
        const ScopedGilRelease released(columns.rows() + 20 * active.shape(0));
        descent = weigh::coordinate_descent_columns(columns, span_of(active), penalties, span_of(h), span_of(u),
                                                    span_of(q), settings, span_of(w));
    }
    return nb::make_tuple(descent.sweeps, descent.intercept_shift);
}

void make_settings(weigh::CoordinateDescentSettings* self, bool bias, bool double_precision, double gain_tolerance,
                   std::size_t max_sweeps, std::size_t threads, std::uint64_t seed) {
    require(threads > 0, "threads must be at least 1");
    new (self) weigh::CoordinateDescentSettings{bias, double_precision, gain_tolerance, max_sweeps, threads, seed};
}

}  // namespace

void bind_coordinate_descent(nb::module_& m) {
    m.def("coordinate_descent_gram", &coordinate_descent_gram, "gram"_a, "cross"_a, "yy"_a, "l1"_a, "l2"_a, "tol"_a,
          "max_sweeps"_a, "w"_a.noconvert(), "q"_a.noconvert(),
          "Minimise ½ wᵀGw − cᵀw + penalties, updating w and q = c − Gw; return (sweeps, duality gap).");
    nb::class_<weigh::ColumnSubset>(m, "ColumnSubset", "Selected columns of sparse rows for coordinate descent.")
        .def("__init__", &make_columns, "indptr"_a, "indices"_a, "values"_a.none(), "index_map"_a, "count"_a,
             "threads"_a)
        .def("__len__", &weigh::ColumnSubset::size);
    nb::class_<weigh::CoordinateDescentSettings>(m, "CoordinateDescentSettings",
                                                 "Stopping rule and precision of coordinate descent.")
        .def("__init__", &make_settings, "bias"_a, "double_precision"_a, "gain_tolerance"_a, "max_sweeps"_a,
             "threads"_a, "seed"_a);
    m.def("coordinate_descent_columns", &coordinate_descent_columns, "columns"_a, "active"_a, "l1"_a, "l2"_a, "h"_a,
          "u"_a, "q"_a, "settings"_a, "w"_a.noconvert(),
          "Minimise ½ Σ h (v − X w − b)² + penalties over w; return (sweeps, change of b).");
}
