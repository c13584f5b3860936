#include "weigh/weighted_word_counts.h"

#include <nanobind/stl/string_view.h>

#include <bit>
#include <string_view>

#include "documents.h"
#include "names.h"
#include "arrays.h"

using namespace nb::literals;

namespace {

weigh::TermWeighting weighting_of(bool takes_logs, std::string_view norm) {
    require(norm == "none" || norm == "l1" || norm == "l2", "norm must be 'none', 'l1' or 'l2'");
    return {takes_logs, norm == "l2" ? weigh::Norm::l2 : norm == "l1" ? weigh::Norm::l1 : weigh::Norm::none};
}

void weigh_rows(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                const MutableVector<double>& values,
                const std::optional<Vector<double>>& idf, bool takes_logs, std::string_view norm) {
    require(values.shape(0) == indices.shape(0), "values and indices differ in length");
    require(indptr.shape(0) > 0 && std::is_sorted(indptr.data(), indptr.data() + indptr.shape(0)) &&
                indptr.data()[0] >= 0 &&
                indptr.data()[indptr.shape(0) - 1] <= static_cast<std::int64_t>(indices.shape(0)),
            "indptr must ascend from 0 to the number of entries");
    if (idf) {
        require_below(span_of(indices), idf->shape(0), "an index is out of range");
        require(weigh::max_index(span_of(indices)) >= -1, "an index is negative");
    }
    const auto weighting = weighting_of(takes_logs, norm);
    const ScopedGilRelease released(indices.shape(0));
    weigh::weigh_rows(span_of(indptr), span_of(indices), span_of(values), span_of(idf), weighting);
}

void make_counts(weigh::WeightedWordCounts* self, const weigh::TokenSettings& tokens, std::size_t buckets,
                 bool takes_logs, std::string_view norm) {
    require(buckets == 0 || std::has_single_bit(buckets), "the number of buckets must be a power of two");
    new (self) weigh::WeightedWordCounts({tokens, buckets, weighting_of(takes_logs, norm)});
}

void add(weigh::WeightedWordCounts& self, const DocumentsBinding& documents, const Vector<std::int32_t>& classes,
         std::size_t n_classes, const std::optional<Vector<double>>& weights) {
    require(classes.shape(0) == documents.rows(), "classes and documents differ in length");
    require(!weights || weights->shape(0) == documents.rows(), "weights and documents differ in length");
    require_below(span_of(classes), n_classes, "a class is out of range");
    const ScopedGilRelease released(documents.work_units());
    self.add(documents.view(), span_of(classes), n_classes, span_of(weights));
}

void check_class_map(const Vector<std::int64_t>& class_map, std::size_t n_classes) {
    require(std::all_of(class_map.data(), class_map.data() + class_map.shape(0),
                        [&](auto target) { return target >= 0 && static_cast<std::size_t>(target) < n_classes; }),
            "class_map has an index out of range");
}

void merge(weigh::WeightedWordCounts& self, const weigh::WeightedWordCounts& other,
           const Vector<std::int64_t>& class_map, std::size_t n_classes) {
    check_class_map(class_map, n_classes);
    require(&self != &other, "counts cannot be merged with themselves");
    const nb::gil_scoped_release released;
    self.merge(other, span_of(class_map), n_classes);
}

nb::tuple table(const weigh::WeightedWordCounts& self, const Vector<std::int64_t>& class_map) {
    check_class_map(class_map, class_map.shape(0));
    weigh::WeightedWordTable result;
    {
        const nb::gil_scoped_release released;
        result = self.table(span_of(class_map));
    }
    auto [text, offsets] = to_numpy(std::move(result.names));
    return nb::make_tuple(text, offsets, to_numpy_table(std::move(result.sums), result.classes, result.words),
                          to_numpy(std::move(result.documents)));
}

}  // namespace

void bind_term_weights(nb::module_& m) {
    m.def("natural_log", &weigh::natural_log, "x"_a, "Return the logarithm, with the same bits on every platform.");
    m.def("weigh_rows", &weigh_rows, "indptr"_a, "indices"_a, "values"_a.noconvert(), "idf"_a.none(), "takes_logs"_a,
          "norm"_a, "Replace the counts of words in sparse rows by their values, in place.");
    nb::class_<weigh::WeightedWordCounts>(m, "WeightedWordCounts",
                                          "Exact sums of the values of tokens by class, directly from documents.")
        .def("__init__", &make_counts, "tokens"_a, "buckets"_a, "takes_logs"_a, "norm"_a)
        .def("add", &add, "documents"_a, "classes"_a, "n_classes"_a, "weights"_a.none(), "Add documents.")
        .def("merge", &merge, "other"_a, "class_map"_a, "n_classes"_a,
             "Add the sums of another instance, whose class c is class_map[c] here.")
        .def("table", &table, "class_map"_a,
             "Return (text, offsets) of the names, the sums [classes, names] in units of 2**-32, and the documents "
             "that contain each name.");
}
