#include "weigh/perceptron.h"

#include <nanobind/stl/string.h>

#include "examples.h"
#include "arrays.h"

using namespace nb::literals;

namespace {

void make_settings(weigh::PerceptronSettings* self, double rate, double margin, bool relative_margin, bool one_vs_rest,
                   bool bias, const std::string& average, std::size_t columns) {
    require(average == "none" || average == "examples" || average == "updates",
            "average must be 'none', 'examples' or 'updates'");
    require(columns >= 1, "columns must be at least 1");
    const auto average_kind = average == "none"       ? weigh::Average::none
                              : average == "examples" ? weigh::Average::examples
                                                      : weigh::Average::updates;
    new (self) weigh::PerceptronSettings{rate, margin, relative_margin, one_vs_rest, bias, average_kind, columns};
}

nb::tuple to_tuple(const std::vector<weigh::Update>& record) {
    std::vector<std::int64_t> examples;
    std::vector<std::int32_t> plus, minus;
    std::vector<double> amounts;
    for (const weigh::Update& update : record) {
        examples.push_back(update.position);
        plus.push_back(update.plus);
        minus.push_back(update.minus);
        amounts.push_back(update.amount);
    }
    return nb::make_tuple(to_numpy(std::move(examples)), to_numpy(std::move(plus)), to_numpy(std::move(minus)),
                          to_numpy(std::move(amounts)));
}

nb::tuple perceptron_pass(const ExamplesBinding& examples, const std::optional<Vector<std::int64_t>>& order,
                          const weigh::PerceptronSettings& settings, const Table<double>& table,
                          const MutableVector<std::int64_t>& updates, const MutableVector<double>& squared_norms,
                          std::int64_t examples_seen, bool track_radius, double radius2, bool record_updates) {
    const std::size_t cells_per_column = settings.average == weigh::Average::none ? 1 : 2;
    require(table.shape(1) == cells_per_column * settings.columns, "the table width does not match the settings");
    require(table.shape(0) > examples.width(), "the table has too few rows");
    require(updates.shape(0) == settings.columns, "updates must have one value per column");
    require(squared_norms.shape(0) == settings.columns, "squared_norms must have one value per column");
    require(examples.labels() <= std::max<std::size_t>(settings.columns, 2), "a label is out of range");
    require(settings.columns > 1 || !settings.one_vs_rest, "one-vs-rest needs at least two columns");
    const auto positions = check_order(order, examples.size());
    weigh::PerceptronState state{cells_of(table),        span_of(updates), examples_seen,
                                 span_of(squared_norms), track_radius,     radius2};
    std::vector<weigh::Update> record;
    weigh::PassResult result;
    {
        const ScopedGilRelease released(20 * examples.size());
        result =
            weigh::perceptron_pass(examples.view(), positions, settings, state, record_updates ? &record : nullptr);
    }
    return nb::make_tuple(result.mistakes, result.updates, result.min_margin, state.radius2, to_tuple(record));
}

auto final_weights(const Table<const double>& table, const weigh::PerceptronSettings& settings,
                   const Vector<std::int64_t>& rows, const Vector<std::int64_t>& steps) {
    const std::size_t cells_per_column = settings.average == weigh::Average::none ? 1 : 2;
    require(table.shape(1) == cells_per_column * settings.columns, "the table width does not match the settings");
    require(steps.shape(0) == settings.columns, "steps must have one value per column");
    for (const std::int64_t row : span_of(rows))
        require(row >= 0 && static_cast<std::size_t>(row) < table.shape(0), "a row is out of range");
    weigh::ZeroedArray<double> weights(rows.shape(0) * settings.columns);
    weigh::final_weights(cells_of(table), settings, span_of(rows), span_of(steps),
                         {weights.data(), rows.shape(0) * settings.columns});
    return to_numpy_table(std::move(weights), rows.shape(0), settings.columns);
}

using Longs = Vector<std::int64_t>;
using Ints = Vector<std::int32_t>;
using Doubles = Vector<double>;

void require_columns(const Ints& columns, std::size_t bound) {
    require_below(span_of(columns), bound, "a column is out of range");
}

void add_perceptron_votes(const Longs& update_indptr, const Ints& update_indices, const Doubles& update_values,
                          const Ints& plus, const Ints& minus, const Doubles& amounts, const Longs& survival_counts,
                          bool bias, bool one_vs_rest, const Longs& indptr, const Ints& indices,
                          const std::optional<Doubles>& values, std::size_t width, const Table<double>& votes) {
    const std::size_t updates = amounts.shape(0), columns = votes.shape(1);
    weigh::UpdateHistory history;
    history.rows = sparse_of(update_indptr, update_indices, update_values, updates, width);
    require(plus.shape(0) == updates && minus.shape(0) == updates, "columns and amounts differ in length");
    require(survival_counts.shape(0) == updates + 1, "survival_counts must have one more value than there are updates");
    require(
        columns == 1 || one_vs_rest || std::all_of(plus.data(), plus.data() + updates, [](auto c) { return c >= 0; }),
        "a joint multiclass update needs two columns");
    require(
        columns == 1 || one_vs_rest || std::all_of(minus.data(), minus.data() + updates, [](auto c) { return c >= 0; }),
        "a joint multiclass update needs two columns");
    require_columns(plus, columns);
    require_columns(minus, columns);
    history.plus = span_of(plus);
    history.minus = span_of(minus);
    history.amounts = span_of(amounts);
    history.survival_counts = span_of(survival_counts);
    history.has_intercept = bias;
    history.one_vs_rest = one_vs_rest;
    history.columns = columns;
    const auto rows = sparse_of(indptr, indices, values, votes.shape(0), width);
    const nb::gil_scoped_release released;
    weigh::add_perceptron_votes(history, rows, width, cells_of(votes));
}

}  // namespace

void bind_perceptron(nb::module_& m) {
    nb::class_<ExamplesBinding>(m, "Examples", "Labelled sparse rows for online learners.")
        .def(nb::init<>())
        .def("add", &ExamplesBinding::add, "indptr"_a, "indices"_a, "values"_a.none(), "labels"_a, "weights"_a.none(),
             "width"_a, "Add rows without copying their arrays.")
        .def("__len__", &ExamplesBinding::size)
        .def("select", &ExamplesBinding::select, "indices"_a, "Return (indptr, indices, values) of selected examples.");
    nb::class_<weigh::PerceptronSettings>(m, "PerceptronSettings", "Settings of the perceptron.")
        .def("__init__", &make_settings, "rate"_a, "margin"_a, "relative_margin"_a, "one_vs_rest"_a, "bias"_a,
             "average"_a, "columns"_a);
    m.def(
        "zeros",
        [](std::size_t rows, std::size_t columns) {
            return to_numpy_table(weigh::ZeroedArray<double>(rows * columns), rows, columns);
        },
        "rows"_a, "columns"_a, "Return a table of zeros, in huge pages if available.");
    m.def("final_weights", &final_weights, "table"_a, "settings"_a, "rows"_a, "steps"_a,
          "Return the weights [rows, columns] of some rows; averages are multiplied by the number of steps.");
    m.def("perceptron_pass", &perceptron_pass, "examples"_a, "order"_a.none(), "settings"_a, "table"_a.noconvert(),
          "updates"_a.noconvert(), "squared_norms"_a.noconvert(), "examples_seen"_a, "track_radius"_a, "radius2"_a,
          "record_updates"_a, "Run one pass; return (mistakes, updates, smallest margin, radius2, record).");
    m.def("add_perceptron_votes", &add_perceptron_votes, "update_indptr"_a, "update_indices"_a, "update_values"_a,
          "plus"_a, "minus"_a, "amounts"_a, "survival_counts"_a, "bias"_a, "one_vs_rest"_a, "indptr"_a, "indices"_a,
          "values"_a.none(), "width"_a, "votes"_a.noconvert(),
          "Add the votes of all weight vectors of a training run, weighted by their survival counts.");
}
