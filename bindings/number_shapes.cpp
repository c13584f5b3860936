#include "weigh/number_shapes.h"

#include "weigh/coarse_cells.h"
#include "weigh/value_grid.h"

#include "arrays.h"

using namespace nb::literals;

namespace {

nb::tuple count_cells(const Vector<std::int32_t>& classes, std::size_t n_classes, const Column<double>& values,
                      const std::optional<Vector<double>>& weights) {
    weigh::CellCounts counts;
    {
        const ScopedGilRelease released(values.shape(0));
        require_class_values(classes, n_classes, values, weights);
        counts = weigh::count_cells(span_of(classes), n_classes, strided_of(values), span_of(weights));
    }
    const std::size_t n_cells = counts.cells.size();
    return nb::make_tuple(to_numpy(std::move(counts.cells)), to_numpy(std::move(counts.counts), n_classes, n_cells));
}

nb::tuple count_coarse_cells(const Matrix<double>& values, std::size_t max_cells) {
    require(max_cells >= 3, "at least 3 cells are needed: negative, zero and positive");
    std::vector<weigh::CoarseCells> columns;
    std::vector<std::int64_t> sizes, counts;
    std::vector<std::int32_t> cells;
    {
        const ScopedGilRelease released(values.size());
        columns = weigh::count_coarse_cells(strided_of(values), max_cells);
        for (const auto& column : columns) {
            sizes.push_back(std::ssize(column.cells));
            sizes.push_back(column.coarseness);
            cells.insert(cells.end(), column.cells.begin(), column.cells.end());
            counts.insert(counts.end(), column.counts.begin(), column.counts.end());
        }
    }
    return nb::make_tuple(to_numpy(std::move(sizes), columns.size(), 2), to_numpy(std::move(cells)),
                          to_numpy(std::move(counts)));
}

template <class Count>
nb::tuple add_cells(const Vector<std::int32_t>& cells, const Table<const Count>& counts,
                    const Vector<std::int32_t>& other_cells, const Table<const Count>& other_counts, bool subtracts) {
    require(counts.shape(0) == other_counts.shape(0), "the tables differ in classes");
    require(counts.shape(1) == cells.shape(0) && other_counts.shape(1) == other_cells.shape(0),
            "cells and counts differ in length");
    weigh::CellUnion both;
    std::vector<Count> sums;
    {
        const ScopedGilRelease released(counts.size() + other_counts.size());
        both = weigh::unite_cells(span_of(cells), span_of(other_cells));
        sums = weigh::add_cells<Count>({span_of(cells), cells_of(counts)},
                                       {span_of(other_cells), cells_of(other_counts)}, subtracts, both,
                                       counts.shape(0));
    }
    const std::size_t n_cells = both.cells.size();
    return nb::make_tuple(to_numpy(std::move(both.cells)), to_numpy(std::move(sums), counts.shape(0), n_cells));
}

nb::list compare_shapes(const Vector<double>& centres, const Table<const double>& counts, bool has_own_spread,
                        bool has_shared_spread, bool is_zero_inflated, bool has_nonpositive, bool has_negative,
                        double floor, double zero_strength, double min_log_deviation, std::size_t max_groups,
                        const Vector<std::int32_t>& bin_numbers, const Vector<std::int32_t>& strengths) {
    require(counts.shape(1) == centres.shape(0), "centres and counts differ in length");
    const auto cells = cells_of(counts);
    require(std::any_of(cells.begin(), cells.end(), [](double n) { return n > 0; }), "there are no rows");
    const weigh::ShapeSettings settings{has_own_spread, has_shared_spread, is_zero_inflated, has_nonpositive,
                                        has_negative,   floor,             zero_strength,    min_log_deviation,
                                        max_groups,     span_of(bin_numbers), span_of(strengths)};
    std::vector<weigh::ShapeCandidate> found;
    {
        const ScopedGilRelease released(cells.size() * (bin_numbers.size() * strengths.size() + 1));
        found = weigh::compare_shapes(span_of(centres), cells, counts.shape(0), settings);
    }
    nb::list candidates;
    for (const auto& each : found)
        candidates.append(nb::make_tuple(static_cast<std::int32_t>(each.shape), each.is_log, each.has_shared_spread,
                                         each.bins, each.strength, each.loss));
    return candidates;
}

auto equal_mass_bins(const Vector<double>& totals, std::size_t n_bins) {
    return to_numpy(weigh::equal_mass_bins(span_of(totals), n_bins));
}

template <class Count>
void bind_add_cells(nb::module_& m) {
    m.def("add_cells", &add_cells<Count>, "cells"_a, "counts"_a.noconvert(), "other_cells"_a,
          "other_counts"_a.noconvert(), "subtracts"_a,
          "Return the ascending union of the cells of two tables, and the sum or difference of their counts.");
}

}  // namespace

void bind_number_shapes(nb::module_& m) {
    m.def("count_cells", &count_cells, "classes"_a, "n_classes"_a, "values"_a, "weights"_a.none(),
          "Return the grid cells of the values in ascending order, and their counts or weights per class.");
    m.def("count_coarse_cells", &count_coarse_cells, "values"_a, "max_cells"_a,
          "Return the number of cells and the coarseness of each column, and the ascending cells and counts of all.");
    bind_add_cells<double>(m);
    bind_add_cells<std::int64_t>(m);
    m.def("compare_shapes", &compare_shapes, "centres"_a, "counts"_a, "has_own_spread"_a, "has_shared_spread"_a,
          "is_zero_inflated"_a, "has_nonpositive"_a, "has_negative"_a, "floor"_a, "zero_strength"_a,
          "min_log_deviation"_a, "max_groups"_a, "bin_numbers"_a, "strengths"_a,
          "Return (shape, is_log, has_shared_spread, bins, strength, loss) of every candidate, from simple to complex.");
    m.def("equal_mass_bins", &equal_mass_bins, "totals"_a, "n_bins"_a,
          "Return the bin of each cell, so that about n_bins bins have about equal totals.");
}
