#include "weigh/gradient.h"

#include "examples.h"

using namespace nb::literals;

namespace {

void make_settings(weigh::GradientSettings* self, double rate, double l2, bool bias, std::size_t columns) {
    require(rate > 0, "a rate is above 0");
    require(l2 >= 0, "a penalty is at least 0");
    require(columns >= 1, "there is at least one column");
    new (self) weigh::GradientSettings{rate, l2, bias, columns};
}

void require_suited(const HeldExamples& examples, const weigh::GradientSettings& settings, const Table<double>& table,
                    std::size_t width, const weigh::Sharing& sharing) {
    require(table.shape(1) == width, "the table's width does not suit the settings");
    require(table.shape(0) > examples.width(), "the table has too few rows");
    require(examples.labels() <= std::max<std::size_t>(settings.columns, 2), "a label is beyond the columns");
    require(sharing.grows ? sharing.rows >= 0 : sharing.rows > 0, "no rows share the penalty");
}

nb::tuple plain_gradient(const HeldExamples& examples, const std::optional<Vector<std::int64_t>>& order,
                         const weigh::GradientSettings& settings, std::int64_t rows, bool grows,
                         const Table<double>& table, double scale) {
    const weigh::Sharing sharing{rows, grows};
    require_suited(examples, settings, table, settings.columns, sharing);
    const auto places = places_of(order, examples.size());
    weigh::PlainState state{cells_of(table), scale};
    double loss = 0;
    {
        const Unlocked unlocked(20 * examples.size());
        loss = weigh::plain_gradient(examples.view(), places, settings, sharing, state);
    }
    return nb::make_tuple(loss, state.scale);
}

double safe_gradient(const HeldExamples& examples, const std::optional<Vector<std::int64_t>>& order,
                     const weigh::GradientSettings& settings, std::int64_t rows, bool grows, const Table<double>& table,
                     std::int64_t steps) {
    const weigh::Sharing sharing{rows, grows};
    require_suited(examples, settings, table, 2 + 2 * settings.columns, sharing);
    const auto places = places_of(order, examples.size());
    weigh::SafeState state{cells_of(table), steps};
    const Unlocked unlocked(20 * examples.size());
    return weigh::safe_gradient(examples.view(), places, settings, sharing, state);
}

}  // namespace

void bind_gradient(nb::module_& m) {
    nb::class_<weigh::GradientSettings>(m, "SgdSettings", "How logistic regression learns from one example.")
        .def("__init__", &make_settings, "rate"_a, "l2"_a, "bias"_a, "columns"_a);
    m.def("sgd_pass", &plain_gradient, "examples"_a, "order"_a.none(), "settings"_a, "n_rows"_a, "rows_grow"_a,
          "table"_a.noconvert(), "scale"_a, "Take a plain step for every example; return (loss, scale).");
    m.def("implicit_sgd_pass", &safe_gradient, "examples"_a, "order"_a.none(), "settings"_a, "n_rows"_a, "rows_grow"_a,
          "table"_a.noconvert(), "steps"_a, "Take an implicit step for every example; return the loss.");
}
