#include "weigh/name_indexer.h"

#include <bit>

#include "documents.h"
#include "names.h"

using namespace nb::literals;

namespace {

void make_indexer(weigh::NameIndexer* self, std::size_t buckets) {
    require(buckets == 0 || std::has_single_bit(buckets), "the number of buckets must be a power of two");
    new (self) weigh::NameIndexer(buckets);
}

auto index_names(weigh::NameIndexer& self, const Vector<std::uint8_t>& text, const Vector<std::int64_t>& offsets,
                 bool grow) {
    return to_numpy(self.index(names_of(text, offsets), grow));
}

nb::tuple index_tokens(weigh::NameIndexer& self, const DocumentsBinding& documents,
                       const weigh::TokenSettings& settings) {
    weigh::CsrRows rows;
    {
        const ScopedGilRelease released(documents.work_units());
        rows = self.index_tokens(documents.view(), settings);
    }
    return nb::make_tuple(to_numpy(std::move(rows.indptr)), to_numpy(std::move(rows.indices)),
                          to_numpy(std::move(rows.values)));
}

void merge(weigh::NameIndexer& self, const weigh::NameIndexer& other) {
    require(self.is_hashed() && other.is_hashed() && self.size() == other.size(),
            "both indexers must have the same number of buckets");
    self.merge(other);
}

nb::tuple names(const weigh::NameIndexer& self) {
    auto [text, offsets] = to_numpy(self.names());
    return nb::make_tuple(text, offsets);
}

void make_compactor(weigh::IndexCompactor* self, const Vector<std::int32_t>& initial_mapping) {
    new (self) weigh::IndexCompactor({initial_mapping.data(), initial_mapping.data() + initial_mapping.shape(0)});
}

auto compact(weigh::IndexCompactor& self, const Vector<std::int32_t>& items, bool grow) {
    require_below(span_of(items), self.mapping().size(), "an item is out of range");
    require(std::all_of(items.data(), items.data() + items.shape(0), [](auto k) { return k >= 0; }),
            "an item is negative");
    return to_numpy(self.compact(span_of(items), grow));
}

auto mapping(const weigh::IndexCompactor& self) {
    return to_numpy(std::vector<std::int32_t>(self.mapping().begin(), self.mapping().end()));
}

}  // namespace

void bind_name_indexer(nb::module_& m) {
    nb::class_<weigh::NameIndexer>(m, "NameIndexer", "Consecutive indices for names that arrive in batches.")
        .def("__init__", &make_indexer, "buckets"_a)
        .def("__len__", &weigh::NameIndexer::size)
        .def("index", &index_names, "text"_a, "offsets"_a, "grow"_a, "Return the index of each name.")
        .def("index_tokens", &index_tokens, "documents"_a, "settings"_a,
             "Return (indptr, indices, counts) of all tokens.")
        .def("merge", &merge, "other"_a, "Merge the bucket names of another indexer.")
        .def("names", &names, "Return (text, offsets) of the names by index.");
    nb::class_<weigh::IndexCompactor>(m, "IndexCompactor",
                                      "Consecutive indices in order of first use for items of a large range.")
        .def("__init__", &make_compactor, "mapping"_a)
        .def("__len__", &weigh::IndexCompactor::size)
        .def("compact", &compact, "items"_a, "grow"_a, "Return the compact index of each item.")
        .def("mapping", &mapping, "Return the compact index of every item, negative if unused.");
}
