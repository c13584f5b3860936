#include "weigh/replay.h"

#include "arrays.h"

using namespace nb::literals;

namespace {

using Longs = Vector<std::int64_t>;
using Ints = Vector<std::int32_t>;
using Doubles = Vector<double>;

void require_columns(const Ints& columns, std::size_t bound) {
    require_below(span_of(columns), bound, "a column is beyond the votes");
}

void replay(const Longs& run_indptr, const Ints& run_indices, const Doubles& run_values, const Ints& plus,
            const Ints& minus, const Doubles& amounts, const Longs& lives, bool bias, bool separate,
            const Longs& indptr, const Ints& indices, const std::optional<Doubles>& values, std::size_t width,
            const Table<double>& votes) {
    const std::size_t updates = amounts.shape(0), columns = votes.shape(1);
    weigh::Run run;
    run.rows = sparse_of(run_indptr, run_indices, run_values, updates, width);
    require(plus.shape(0) == updates && minus.shape(0) == updates, "columns and amounts differ in length");
    require(lives.shape(0) == updates + 1, "there is one life more than updates");
    require(columns == 1 || separate || std::all_of(plus.data(), plus.data() + updates, [](auto c) { return c >= 0; }),
            "classes against each other have two columns per update");
    require(columns == 1 || separate || std::all_of(minus.data(), minus.data() + updates, [](auto c) { return c >= 0; }),
            "classes against each other have two columns per update");
    require_columns(plus, columns);
    require_columns(minus, columns);
    run.plus = span_of(plus);
    run.minus = span_of(minus);
    run.amounts = span_of(amounts);
    run.lives = span_of(lives);
    run.bias = bias;
    run.separate = separate;
    run.columns = columns;
    const auto rows = sparse_of(indptr, indices, values, votes.shape(0), width);
    const nb::gil_scoped_release unlocked;
    weigh::replay(run, rows, width, cells_of(votes));
}

}  // namespace

void bind_replay(nb::module_& m) {
    m.def("add_perceptron_votes", &replay, "update_indptr"_a, "update_indices"_a, "update_values"_a, "plus"_a, "minus"_a, "amounts"_a,
          "survival_counts"_a, "bias"_a, "one_vs_rest"_a, "indptr"_a, "indices"_a, "values"_a.none(), "width"_a,
          "votes"_a.noconvert(), "Let every hypothesis of a run vote on every row, as long as it lived.");
}
