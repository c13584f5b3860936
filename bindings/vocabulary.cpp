#include "weigh/vocabulary.h"

#include <algorithm>
#include <bit>

#include "documents.h"
#include "names.h"

using namespace nb::literals;

namespace {

using Bytes = Vector<std::uint8_t>;
using Offsets = Vector<std::int64_t>;

void make_vocabulary(weigh::Vocabulary* self, std::size_t buckets) {
    require(buckets == 0 || std::has_single_bit(buckets), "the number of buckets must be a power of two");
    new (self) weigh::Vocabulary(buckets);
}

weigh::Vocabulary from_buckets(const Vector<std::int32_t>& index_map) {
    require(std::has_single_bit(index_map.shape(0)), "the number of buckets must be a power of two");
    return weigh::Vocabulary(span_of(index_map));
}

weigh::Vocabulary from_names(const Bytes& text, const Offsets& offsets) {
    const auto names = names_of(text, offsets);
    weigh::Vocabulary vocabulary;
    const ScopedGilRelease released(names.size());
    require(vocabulary.add_all(names), "a name occurs twice");
    return vocabulary;
}

nb::tuple to_tuple(weigh::Names&& names) {
    auto [text, offsets] = to_numpy(std::move(names));
    return nb::make_tuple(text, offsets);
}

nb::tuple to_tuple(weigh::CsrRows&& rows) {
    return nb::make_tuple(to_numpy(std::move(rows.indptr)), to_numpy(std::move(rows.indices)),
                          to_numpy(std::move(rows.values)));
}

nb::tuple find(const weigh::Vocabulary& self, const DocumentsBinding& documents, const weigh::TokenSettings& settings) {
    weigh::CsrRows rows;
    {
        const ScopedGilRelease released(documents.work_units());
        rows = weigh::find_tokens(documents.view(), settings, self);
    }
    return to_tuple(std::move(rows));
}

nb::tuple find_unsorted(const weigh::Vocabulary& self, const DocumentsBinding& documents,
                        const weigh::TokenSettings& settings) {
    weigh::CsrRows rows;
    {
        const ScopedGilRelease released(documents.work_units());
        rows = weigh::find_unsorted_tokens(documents.view(), settings, self);
    }
    return to_tuple(std::move(rows));
}

nb::tuple find_or_add(weigh::Vocabulary& self, const DocumentsBinding& documents,
                      const weigh::TokenSettings& settings) {
    weigh::CsrRows rows;
    {
        const ScopedGilRelease released(documents.work_units());
        rows = weigh::find_or_add_tokens(documents.view(), settings, self);
    }
    return to_tuple(std::move(rows));
}

auto indices_of_names(const weigh::Vocabulary& self, const Bytes& text, const Offsets& offsets) {
    const auto names = names_of(text, offsets);
    std::vector<std::int32_t> indices(names.size());
    const ScopedGilRelease released(names.size());
    for (std::size_t k = 0; k < names.size(); ++k) {
        const std::int32_t index = self.find({weigh::key_of(names[k], false), names[k]});
        indices[k] = index == weigh::Vocabulary::kUnknown ? -1 : index;
    }
    return indices;
}

void score(const weigh::Vocabulary& self, const DocumentsBinding& documents, const weigh::TokenSettings& settings,
           const Table<const double>& table, const Table<double>& scores) {
    require(table.shape(0) >= self.size(), "the table has too few rows");
    require(scores.shape(0) == documents.rows(), "scores and documents differ in length");
    require(table.shape(1) == scores.shape(1), "the table and the scores differ in width");
    const ScopedGilRelease released(documents.work_units());
    weigh::score_tokens(documents.view(), settings, self, cells_of(table), table.shape(1), cells_of(scores));
}

auto argsort_names(const Bytes& text, const Offsets& offsets) {
    const auto names = names_of(text, offsets);
    std::vector<std::int32_t> order;
    {
        const ScopedGilRelease released(names.size());
        order = weigh::argsort_names(names);
    }
    return to_numpy(std::move(order));
}

bool are_names_sorted(const Bytes& text, const Offsets& offsets) {
    const auto names = names_of(text, offsets);
    for (std::size_t k = 1; k < names.size(); ++k)
        if (!(names[k - 1] < names[k])) return false;
    return true;
}

nb::tuple take_names(const Bytes& text, const Offsets& offsets, const Vector<std::int32_t>& order) {
    const auto names = names_of(text, offsets);
    require_below(span_of(order), names.size(), "a number is beyond the names");
    require(std::all_of(order.data(), order.data() + order.shape(0), [](auto k) { return k >= 0; }),
            "a number is negative");
    return to_tuple(weigh::take_names(names, span_of(order)));
}

nb::tuple merge_names(const Bytes& text, const Offsets& offsets, const Bytes& other_text,
                      const Offsets& other_offsets) {
    const auto first = names_of(text, offsets), second = names_of(other_text, other_offsets);
    weigh::MergedNames merged;
    {
        const ScopedGilRelease released(first.size() + second.size());
        merged = weigh::merge_names(first, second);
    }
    auto [bytes, name_offsets] = to_numpy(std::move(merged.names));
    return nb::make_tuple(bytes, name_offsets, to_numpy(std::move(merged.first)), to_numpy(std::move(merged.second)));
}

nb::tuple select_shorter_names(const Bytes& text, const Offsets& offsets, const Bytes& other_text,
                               const Offsets& other_offsets) {
    const auto first = names_of(text, offsets), second = names_of(other_text, other_offsets);
    require(first.size() == second.size(), "the lists of names differ in length");
    return to_tuple(weigh::select_shorter_names(first, second));
}

}  // namespace

void bind_vocabulary(nb::module_& m) {
    nb::class_<weigh::Vocabulary>(m, "Vocabulary", "Indices for tokens, by name or by hash bucket.")
        .def("__init__", &make_vocabulary, "buckets"_a)
        .def_static("from_buckets", &from_buckets, "index_map"_a)
        .def_static("from_names", &from_names, "text"_a, "offsets"_a)
        .def("__len__", &weigh::Vocabulary::size)
        .def("find", &find, "documents"_a, "settings"_a, "Return (indptr, indices, counts) of the known tokens.")
        .def("find_unsorted", &find_unsorted, "documents"_a, "settings"_a,
             "Return the same with the tokens of each row in order of first appearance.")
        .def(
            "indices",
            [](const weigh::Vocabulary& self, const Bytes& text, const Offsets& offsets) {
                return to_numpy(indices_of_names(self, text, offsets));
            },
            "text"_a, "offsets"_a, "Return the index of each name, -1 if it is unknown.")
        .def("find_or_add", &find_or_add, "documents"_a, "settings"_a,
             "Return the sorted rows of all tokens, adding new ones.")
        .def("score", &score, "documents"_a, "settings"_a, "table"_a, "scores"_a.noconvert(),
             "Add count × table[index] of every known token to the scores of its row.")
        .def(
            "names", [](const weigh::Vocabulary& self) { return to_tuple(self.names()); },
            "Return (text, offsets) of the names by index.");
    m.def("argsort_names", &argsort_names, "text"_a, "offsets"_a,
          "Return the permutation that sorts names by code points.");
    m.def("are_names_sorted", &are_names_sorted, "text"_a, "offsets"_a,
          "Return whether names are distinct and sorted by code points.");
    m.def("merge_names", &merge_names, "text"_a, "offsets"_a, "other_text"_a, "other_offsets"_a,
          "Merge two sorted lists of names; return (text, offsets, positions of the first, positions of the second).");
    m.def("select_shorter_names", &select_shorter_names, "text"_a, "offsets"_a, "other_text"_a, "other_offsets"_a,
          "Return (text, offsets) of the preferred one of two names for each bucket.");
    m.def("take_names", &take_names, "text"_a, "offsets"_a, "order"_a, "Return (text, offsets) of selected names.");
}
