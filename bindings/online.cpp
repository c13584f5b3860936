#include <nanobind/stl/string.h>

#include "examples.h"
#include "tables.h"

using namespace nb::literals;

namespace {

using Lengths = nb::ndarray<double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<std::int64_t, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void make_settings(weigh::OnlineSettings* self, double rate, double margin, bool relative, bool separate, bool bias,
                   const std::string& mean, std::size_t columns) {
    require(mean == "none" || mean == "examples" || mean == "updates", "a mean is of examples or updates");
    require(columns >= 1, "there is at least one column");
    const auto of = mean == "none" ? weigh::Mean::none : mean == "examples" ? weigh::Mean::examples : weigh::Mean::updates;
    new (self) weigh::OnlineSettings{rate, margin, relative, separate, bias, of, columns};
}

nb::tuple to_tuple(const std::vector<weigh::Update>& record) {
    std::vector<std::int64_t> examples;
    std::vector<std::int32_t> plus, minus;
    std::vector<double> amounts;
    for (const weigh::Update& update : record) {
        examples.push_back(update.example);
        plus.push_back(update.plus);
        minus.push_back(update.minus);
        amounts.push_back(update.amount);
    }
    return nb::make_tuple(to_numpy(std::move(examples)), to_numpy(std::move(plus)), to_numpy(std::move(minus)),
                          to_numpy(std::move(amounts)));
}

nb::tuple online_pass(const HeldExamples& examples, const std::optional<Vector<std::int64_t>>& order,
                      const weigh::OnlineSettings& settings, const Table<double>& table, const Counts& updates,
                      const Lengths& lengths2, std::int64_t seen, bool measures, double radius2, bool recorded) {
    const std::size_t slots = settings.mean == weigh::Mean::none ? 1 : 2;
    require(table.shape(1) == slots * settings.columns, "the table's width does not suit the settings");
    require(table.shape(0) > examples.width(), "the table has too few rows");
    require(updates.shape(0) == settings.columns, "there is one count of updates per column");
    require(lengths2.shape(0) == settings.columns, "there is one length per column");
    require(examples.labels() <= std::max<std::size_t>(settings.columns, 2), "a label is beyond the columns");
    require(settings.columns > 1 || !settings.separate, "two classes are one column");
    const auto places = places_of(order, examples.size());
    weigh::OnlineState state{cells_of(table), {updates.data(), updates.shape(0)}, seen,
                             {lengths2.data(), lengths2.shape(0)}, measures, radius2};
    std::vector<weigh::Update> record;
    weigh::PassResult result;
    {
        const Unlocked unlocked(20 * examples.size());
        result = weigh::online_pass(examples.view(), places, settings, state, recorded ? &record : nullptr);
    }
    return nb::make_tuple(result.mistakes, result.updates, result.least, state.radius2, to_tuple(record));
}

auto kept_weights(const Table<const double>& table, const weigh::OnlineSettings& settings,
                  const Vector<std::int64_t>& rows, const Vector<std::int64_t>& ticks) {
    const std::size_t slots = settings.mean == weigh::Mean::none ? 1 : 2;
    require(table.shape(1) == slots * settings.columns, "the table's width does not suit the settings");
    require(ticks.shape(0) == settings.columns, "there is one count of ticks per column");
    for (const std::int64_t row : span_of(rows))
        require(row >= 0 && static_cast<std::size_t>(row) < table.shape(0), "a row is beyond the table");
    weigh::Zeroed<double> kept(rows.shape(0) * settings.columns);
    weigh::kept_weights(cells_of(table), settings, span_of(rows), span_of(ticks),
                        {kept.data(), rows.shape(0) * settings.columns});
    return to_table(std::move(kept), rows.shape(0), settings.columns);
}

}  // namespace

void bind_online(nb::module_& m) {
    nb::class_<HeldExamples>(m, "Examples", "Labelled sparse rows for learners that go through them in order.")
        .def(nb::init<>())
        .def("add", &HeldExamples::add, "indptr"_a, "indices"_a, "values"_a.none(), "labels"_a, "weights"_a.none(),
             "width"_a, "Add rows; their arrays are kept, not copied.")
        .def("__len__", &HeldExamples::size)
        .def("select", &HeldExamples::taken, "indices"_a, "Return (indptr, indices, values) of some examples.");
    nb::class_<weigh::OnlineSettings>(m, "PerceptronSettings", "How a perceptron learns.")
        .def("__init__", &make_settings, "rate"_a, "margin"_a, "relative_margin"_a, "one_vs_rest"_a, "bias"_a, "average"_a,
             "columns"_a);
    m.def("zeros", [](std::size_t rows, std::size_t columns) {
        return to_table(weigh::Zeroed<double>(rows * columns), rows, columns);
    }, "rows"_a, "columns"_a, "Return a table of zeros, in huge pages where the system has them.");
    m.def("final_weights", &kept_weights, "table"_a, "settings"_a, "rows"_a, "steps"_a,
          "Return the weights [rows, columns] of some rows; of a mean, times the ticks.");
    m.def("perceptron_pass", &online_pass, "examples"_a, "order"_a.none(), "settings"_a, "table"_a.noconvert(),
          "updates"_a.noconvert(), "squared_norms"_a.noconvert(), "examples_seen"_a, "track_radius"_a, "radius2"_a, "record_updates"_a,
          "Learn from all examples once; return (mistakes, updates, least, radius2, record).");
}
