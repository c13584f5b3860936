#include "weigh/word_counts.h"

#include <bit>

#include "documents.h"
#include "names.h"
#include "arrays.h"

using namespace nb::literals;

namespace {

void make_counts(weigh::WordCounts* self, const weigh::TokenSettings& tokens, std::size_t buckets, bool presence,
                 std::uint64_t max_count) {
    require(buckets == 0 || std::has_single_bit(buckets), "the number of buckets must be a power of two");
    require(max_count >= 128 && max_count <= 0xFFFFFFFF, "max_count must be between 128 and 2**32 - 1");
    new (self) weigh::WordCounts({tokens, buckets, presence, max_count});
}

void add(weigh::WordCounts& self, const DocumentsBinding& documents, const Vector<std::int32_t>& classes,
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

void merge(weigh::WordCounts& self, const weigh::WordCounts& other, const Vector<std::int64_t>& class_map,
           std::size_t n_classes) {
    check_class_map(class_map, n_classes);
    require(&self != &other, "counts cannot be merged with themselves");
    const nb::gil_scoped_release released;
    self.merge(other, span_of(class_map), n_classes);
}

nb::tuple table(const weigh::WordCounts& self, const Vector<std::int64_t>& class_map) {
    check_class_map(class_map, class_map.shape(0));
    weigh::WordTable table_result;
    {
        const nb::gil_scoped_release released;
        table_result = self.table(span_of(class_map));
    }
    auto [text, offsets] = to_numpy(std::move(table_result.names));
    return std::visit(
        [&](auto&& cells) {
            return nb::make_tuple(text, offsets,
                                  to_numpy_table(std::move(cells), table_result.classes, table_result.words));
        },
        std::move(table_result.cells));
}

}  // namespace

void bind_word_counts(nb::module_& m) {
    nb::class_<weigh::WordCounts>(m, "WordCounts", "Counts of tokens by class, directly from documents.")
        .def("__init__", &make_counts, "tokens"_a, "buckets"_a, "presence"_a, "max_count"_a)
        .def("add", &add, "documents"_a, "classes"_a, "n_classes"_a, "weights"_a.none(), "Count documents.")
        .def("merge", &merge, "other"_a, "class_map"_a, "n_classes"_a,
             "Add the counts of another instance, whose class c is class_map[c] here.")
        .def("table", &table, "class_map"_a,
             "Return (text, offsets) of the names and the counts [classes, names]; class c is row class_map[c].");
}
