#include "weigh/sgd.h"

#include "examples.h"

using namespace nb::literals;

namespace {

void make_settings(weigh::SgdSettings* self, double rate, double l2, bool bias, std::size_t columns) {
    require(rate > 0, "rate must be positive");
    require(l2 >= 0, "l2 must not be negative");
    require(columns >= 1, "columns must be at least 1");
    new (self) weigh::SgdSettings{rate, l2, bias, columns};
}

void check_arguments(const ExamplesBinding& examples, const weigh::SgdSettings& settings, const Table<double>& table,
                     std::size_t width, const weigh::PenaltyRows& penalty_rows) {
    require(table.shape(1) == width, "the table width does not match the settings");
    require(table.shape(0) > examples.width(), "the table has too few rows");
    require(examples.labels() <= std::max<std::size_t>(settings.columns, 2), "a label is out of range");
    require(penalty_rows.grows ? penalty_rows.count >= 0 : penalty_rows.count > 0, "n_rows must be positive");
}

nb::tuple sgd_pass(const ExamplesBinding& examples, const std::optional<Vector<std::int64_t>>& order,
                   const weigh::SgdSettings& settings, std::int64_t n_rows, bool grows, const Table<double>& table,
                   double scale) {
    const weigh::PenaltyRows penalty_rows{n_rows, grows};
    check_arguments(examples, settings, table, settings.columns, penalty_rows);
    const auto positions = check_order(order, examples.size());
    weigh::SgdState state{cells_of(table), scale};
    double loss = 0;
    {
        const ScopedGilRelease released(20 * examples.size());
        loss = weigh::sgd_pass(examples.view(), positions, settings, penalty_rows, state);
    }
    return nb::make_tuple(loss, state.scale);
}

double implicit_sgd_pass(const ExamplesBinding& examples, const std::optional<Vector<std::int64_t>>& order,
                         const weigh::SgdSettings& settings, std::int64_t n_rows, bool grows,
                         const Table<double>& table, std::int64_t steps) {
    const weigh::PenaltyRows penalty_rows{n_rows, grows};
    check_arguments(examples, settings, table, 2 + 2 * settings.columns, penalty_rows);
    const auto positions = check_order(order, examples.size());
    weigh::ImplicitSgdState state{cells_of(table), steps};
    const ScopedGilRelease released(20 * examples.size());
    return weigh::implicit_sgd_pass(examples.view(), positions, settings, penalty_rows, state);
}

}  // namespace

void bind_sgd(nb::module_& m) {
    nb::class_<weigh::SgdSettings>(m, "SgdSettings", "Settings of stochastic gradient descent.")
        .def("__init__", &make_settings, "rate"_a, "l2"_a, "bias"_a, "columns"_a);
    m.def("sgd_pass", &sgd_pass, "examples"_a, "order"_a.none(), "settings"_a, "n_rows"_a, "rows_grow"_a,
          "table"_a.noconvert(), "scale"_a, "Take an explicit step for every example; return (loss, scale).");
    m.def("implicit_sgd_pass", &implicit_sgd_pass, "examples"_a, "order"_a.none(), "settings"_a, "n_rows"_a,
          "rows_grow"_a, "table"_a.noconvert(), "steps"_a, "Take an implicit step for every example; return the loss.");
}
