#include "weigh/sparse_products.h"

#include "arrays.h"

using namespace nb::literals;

namespace {

std::size_t rows_of(const Vector<std::int64_t>& indptr) {
    require(indptr.shape(0) > 0, "indptr must have one more entry than there are rows");
    return indptr.shape(0) - 1;
}

void require_index_map(const Vector<std::int32_t>& index_map, std::size_t count) {
    require_below(span_of(index_map), count, "index_map has an index out of range");
}

void sparse_times(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                  const std::optional<Vector<double>>& values, const Table<const double>& table, std::size_t threads,
                  const Table<double>& out) {
    const auto rows = sparse_of(indptr, indices, values, out.shape(0), table.shape(0));
    require(table.shape(1) == out.shape(1), "the tables differ in width");
    const ScopedGilRelease released(indices.shape(0) * out.shape(1));
    weigh::times(rows, cells_of(table), table.shape(1), threads, cells_of(out));
}

void sparse_transposed_times(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                             const std::optional<Vector<double>>& values, const Table<const double>& table,
                             std::size_t threads, const Table<double>& out) {
    const auto rows = sparse_of(indptr, indices, values, table.shape(0), out.shape(0));
    require(table.shape(1) == out.shape(1), "the tables differ in width");
    const ScopedGilRelease released(indices.shape(0) * out.shape(1));
    weigh::transposed_times(rows, cells_of(table), table.shape(1), threads, cells_of(out));
}

void sparse_squared_times(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                          const std::optional<Vector<double>>& values, const Vector<double>& s, std::size_t threads,
                          const MutableVector<double>& out) {
    const auto rows = sparse_of(indptr, indices, values, s.shape(0), out.shape(0));
    const ScopedGilRelease released(indices.shape(0));
    weigh::squared_times(rows, span_of(s), threads, span_of(out));
}

nb::tuple sparse_select_columns(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                                const std::optional<Vector<double>>& values, const Vector<std::int32_t>& index_map,
                                std::size_t count, std::size_t threads) {
    const auto rows = sparse_of(indptr, indices, values, rows_of(indptr), index_map.shape(0));
    require_index_map(index_map, count);
    weigh::SparseColumns columns;
    {
        const ScopedGilRelease released(indices.shape(0));
        columns = weigh::select_columns(rows, span_of(index_map), count, threads);
    }
    return nb::make_tuple(to_numpy(std::move(columns.indptr)), to_numpy(std::move(columns.rows)),
                          to_numpy(std::move(columns.values)));
}

void sparse_weighted_gram(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                          const std::optional<Vector<double>>& values, const Vector<std::int32_t>& index_map,
                          const std::optional<Vector<double>>& s, std::size_t threads, const Table<double>& out) {
    const auto rows = sparse_of(indptr, indices, values, rows_of(indptr), index_map.shape(0));
    require(!s || s->shape(0) == rows.rows(), "s must have one value per row");
    require(out.shape(0) == out.shape(1), "the table must be square");
    require_index_map(index_map, out.shape(0));
    const ScopedGilRelease released(indices.shape(0));
    weigh::weighted_gram(rows, span_of(index_map), out.shape(0), span_of(s), threads, cells_of(out));
}

}  // namespace

void bind_sparse_products(nb::module_& m) {
    m.def("sparse_times", &sparse_times, "indptr"_a, "indices"_a, "values"_a.none(), "table"_a, "threads"_a,
          "out"_a.noconvert(), "Write X · table.");
    m.def("sparse_transposed_times", &sparse_transposed_times, "indptr"_a, "indices"_a, "values"_a.none(), "table"_a,
          "threads"_a, "out"_a.noconvert(), "Write Xᵀ · table.");
    m.def("sparse_squared_times", &sparse_squared_times, "indptr"_a, "indices"_a, "values"_a.none(), "s"_a, "threads"_a,
          "out"_a.noconvert(), "Write Σ sᵢ xᵢⱼ² of every feature.");
    m.def("sparse_select_columns", &sparse_select_columns, "indptr"_a, "indices"_a, "values"_a.none(), "index_map"_a,
          "count"_a, "threads"_a, "Return (indptr, rows, values) of the selected features as sparse columns.");
    m.def("sparse_weighted_gram", &sparse_weighted_gram, "indptr"_a, "indices"_a, "values"_a.none(), "index_map"_a,
          "s"_a.none(), "threads"_a, "out"_a.noconvert(), "Write Σ sᵢ xᵢ xᵢᵀ of the selected features.");
}
