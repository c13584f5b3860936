#include "weigh/leave_one_out.h"

#include "arrays.h"

using namespace nb::literals;

namespace {

using ClassCodes = Vector<std::int32_t>;
using Mask = MutableVector<std::uint8_t>;

weigh::LeftOut left_out(const ClassCodes& classes, const Vector<double>& weights, const Mask& irregular,
                        const Table<double>& scores) {
    require(classes.shape(0) == scores.shape(0), "classes and scores differ in length");
    require_classes(span_of(classes), scores.shape(1));
    require(weights.shape(0) == scores.shape(0), "weights and scores differ in length");
    require(irregular.shape(0) == scores.shape(0), "irregular and scores differ in length");
    return {span_of(classes), span_of(weights), span_of(irregular)};
}

weigh::ClassMoments moments_of(const Table<const double>& moments, const Table<double>& scores) {
    require(moments.shape(0) == 4 && moments.shape(1) == scores.shape(1) + 1,
            "moments must be known, mean, residual and variance of each class and of all values");
    const auto cells = cells_of(moments);
    const std::size_t n = moments.shape(1);
    return {cells.subspan(0, n), cells.subspan(n, n), cells.subspan(2 * n, n), cells.subspan(3 * n, n)};
}

void leave_out_gaussian(const Column<double>& values, const ClassCodes& classes, const Vector<double>& weights,
                        const Table<const double>& moments, double min_ratio, const Mask& irregular,
                        const Table<double>& scores) {
    const ScopedGilRelease released(scores.shape(0));
    require(values.shape(0) == scores.shape(0), "values and scores differ in length");
    const auto rows = left_out(classes, weights, irregular, scores);
    weigh::leave_out_gaussian(strided_of(values), rows, moments_of(moments, scores), min_ratio, cells_of(scores));
}

void leave_out_shared_gaussian(const Column<double>& values, const ClassCodes& classes, const Vector<double>& weights,
                               const Table<const double>& moments, double min_ratio, double variance, bool is_given,
                               const Mask& irregular, const Table<double>& scores) {
    const ScopedGilRelease released(scores.shape(0));
    require(values.shape(0) == scores.shape(0), "values and scores differ in length");
    const auto rows = left_out(classes, weights, irregular, scores);
    weigh::leave_out_shared_gaussian(strided_of(values), rows, moments_of(moments, scores), min_ratio, variance,
                                     is_given, cells_of(scores));
}

template <class Count>
void leave_out_words(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                     const std::optional<Vector<double>>& values, const ClassCodes& classes,
                     const Vector<double>& weights,
                     const nb::ndarray<const Count, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>& counts,
                     const Vector<double>& word_totals, const Vector<double>& pseudo,
                     const Vector<double>& class_totals, const Table<const double>& logs, double min_count,
                     const Mask& irregular, const Table<double>& scores) {
    const ScopedGilRelease released(scores.shape(0));
    const std::size_t n_words = counts.shape(1), n_classes = scores.shape(1);
    require(counts.shape(0) == n_classes && class_totals.shape(0) == n_classes && logs.shape(1) == n_classes,
            "counts and scores differ in classes");
    require(word_totals.shape(0) == n_words && pseudo.shape(0) == n_words && logs.shape(0) == n_words,
            "counts and totals differ in words");
    const auto entries = sparse_of(indptr, indices, values, scores.shape(0), n_words);
    const auto rows = left_out(classes, weights, irregular, scores);
    const weigh::SmoothedCounts<Count> words{{counts.data(), n_classes * n_words}, span_of(word_totals),
                                             span_of(pseudo), span_of(class_totals), cells_of(logs), min_count};
    weigh::leave_out_words(entries, rows, words, cells_of(scores));
}

template <class Count>
void bind_words(nb::module_& m) {
    m.def("leave_out_words", &leave_out_words<Count>, "indptr"_a, "indices"_a, "values"_a.none(), "classes"_a,
          "weights"_a, "counts"_a.noconvert(), "word_totals"_a, "pseudo"_a, "class_totals"_a, "logs"_a, "min_count"_a,
          "irregular"_a.noconvert(), "scores"_a.noconvert(),
          "Add the log-probabilities of every row's words without the row; mark the other rows as irregular.");
}

void score_own_class(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                     const ClassCodes& classes, const Table<const double>& table, const Table<const double>& own_table,
                     const Table<double>& scores) {
    const ScopedGilRelease released(scores.shape(0));
    require(table.shape(1) == scores.shape(1), "table and scores differ in classes");
    require(own_table.shape(0) == table.shape(0) && own_table.shape(1) == table.shape(1), "the tables differ in shape");
    require(classes.shape(0) == scores.shape(0), "classes and scores differ in length");
    require_classes(span_of(classes), scores.shape(1));
    const auto entries = sparse_of(indptr, indices, std::nullopt, scores.shape(0), table.shape(0));
    weigh::score_own_class(entries, span_of(classes), cells_of(table), cells_of(own_table), table.shape(1),
                           cells_of(scores));
}

}  // namespace

// Output arrays must not be converted: results would go to a temporary copy.
void bind_leave_one_out(nb::module_& m) {
    m.def("leave_out_gaussian", &leave_out_gaussian, "values"_a, "classes"_a, "weights"_a, "moments"_a, "min_ratio"_a,
          "irregular"_a.noconvert(), "scores"_a.noconvert(),
          "Add the log density of every value without its row, with a variance per class; mark irregular rows.");
    m.def("leave_out_shared_gaussian", &leave_out_shared_gaussian, "values"_a, "classes"_a, "weights"_a, "moments"_a,
          "min_ratio"_a, "variance"_a, "is_given"_a, "irregular"_a.noconvert(), "scores"_a.noconvert(),
          "Add the log density of every value without its row, with one variance; mark irregular rows.");
    bind_words<std::uint8_t>(m);
    bind_words<std::uint16_t>(m);
    bind_words<std::uint32_t>(m);
    bind_words<std::int64_t>(m);
    m.def("score_own_class", &score_own_class, "indptr"_a, "indices"_a, "classes"_a, "table"_a, "own_table"_a,
          "scores"_a.noconvert(),
          "Add table[index] to every row's scores for every entry, own_table[index] to that of its class.");
}
