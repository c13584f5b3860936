#include "weigh/score.h"

#include "arrays.h"

using namespace nb::literals;

namespace {

using Weights = Vector<double>;

void score_codes(const Vector<std::int32_t>& codes, const Table<const double>& table, const Table<double>& scores) {
    const ScopedGilRelease released(scores.shape(0));
    require(codes.shape(0) == scores.shape(0), "codes and scores differ in length");
    require(table.shape(1) == scores.shape(1), "table and scores differ in classes");
    require_below(span_of(codes), table.shape(0), "a code is out of range");
    weigh::score_codes(span_of(codes), cells_of(table), table.shape(1), cells_of(scores));
}

void score_linear(const Column<double>& values, const Weights& weights, const Table<double>& scores) {
    const ScopedGilRelease released(scores.shape(0));
    require(values.shape(0) == scores.shape(0), "values and scores differ in length");
    require(weights.shape(0) == scores.shape(1), "weights and scores differ in classes");
    weigh::score_linear(strided_of(values), span_of(weights), cells_of(scores));
}

void score_sparse(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                  const std::optional<Vector<double>>& values, const Table<const double>& table,
                  const Table<double>& scores) {
    const ScopedGilRelease released(scores.shape(0));
    require(table.shape(1) == scores.shape(1), "table and scores differ in classes");
    const auto rows = sparse_of(indptr, indices, values, scores.shape(0), table.shape(0));
    weigh::score_sparse(rows, cells_of(table), table.shape(1), cells_of(scores));
}

void score_gaussian(const Column<double>& values, const Weights& mean, const Weights& mean_residual,
                    const Weights& inverse_std, const Weights& constant, const Table<double>& scores) {
    const ScopedGilRelease released(scores.shape(0));
    require(values.shape(0) == scores.shape(0), "values and scores differ in length");
    require(mean.shape(0) == scores.shape(1) && mean_residual.shape(0) == scores.shape(1) &&
                inverse_std.shape(0) == scores.shape(1) && constant.shape(0) == scores.shape(1),
            "parameters and scores differ in classes");
    weigh::score_gaussian(strided_of(values), span_of(mean), span_of(mean_residual), span_of(inverse_std),
                          span_of(constant), cells_of(scores));
}

}  // namespace

void bind_score(nb::module_& m) {
    m.def("score_codes", &score_codes, "codes"_a, "table"_a, "scores"_a.noconvert(),
          "Add table[code] to every row's scores.");
    m.def("score_linear", &score_linear, "values"_a, "weights"_a, "scores"_a.noconvert(),
          "Add value × weights to every row's scores.");
    m.def("score_sparse", &score_sparse, "indptr"_a, "indices"_a, "values"_a.none(), "table"_a, "scores"_a.noconvert(),
          "Add value × table[index] to every row's scores, for every entry.");
    m.def("score_gaussian", &score_gaussian, "values"_a, "mean"_a, "mean_residual"_a, "inverse_std"_a, "constant"_a,
          "scores"_a.noconvert(),
          "Add constant − ½ ((value − mean − mean_residual) · inverse_std)² to every row's scores.");
}
