#include "weigh/numbering.h"

#include <bit>

#include "documents.h"
#include "names.h"

using namespace nb::literals;

namespace {

void make_numbering(weigh::Numbering* self, std::size_t buckets) {
    require(buckets == 0 || std::has_single_bit(buckets), "the number of buckets is a power of two");
    new (self) weigh::Numbering(buckets);
}

auto numbers(weigh::Numbering& self, const Vector<std::uint8_t>& text, const Vector<std::int64_t>& offsets, bool grow) {
    return to_numpy(self.numbers(names_of(text, offsets), grow));
}

nb::tuple learn(weigh::Numbering& self, const HeldDocuments& documents, const weigh::TokenSettings& settings) {
    weigh::TokenRows rows;
    {
        const Unlocked unlocked(documents.units());
        rows = self.learn(documents.view(), settings);
    }
    return nb::make_tuple(to_numpy(std::move(rows.indptr)), to_numpy(std::move(rows.indices)),
                          to_numpy(std::move(rows.values)));
}

void join(weigh::Numbering& self, const weigh::Numbering& other) {
    require(self.is_hashed() && other.is_hashed() && self.size() == other.size(),
            "there are as many buckets on both sides");
    self.join(other);
}

nb::tuple names(const weigh::Numbering& self) {
    auto [text, offsets] = to_numpy(self.names());
    return nb::make_tuple(text, offsets);
}

void make_places(weigh::Places* self, const Vector<std::int32_t>& places) {
    new (self) weigh::Places({places.data(), places.data() + places.shape(0)});
}

auto place_numbers(weigh::Places& self, const Vector<std::int32_t>& items, bool grow) {
    require_below(span_of(items), self.places().size(), "an item is beyond the places");
    require(std::all_of(items.data(), items.data() + items.shape(0), [](auto k) { return k >= 0; }),
            "an item is negative");
    return to_numpy(self.numbers(span_of(items), grow));
}

auto all_places(const weigh::Places& self) {
    return to_numpy(std::vector<std::int32_t>(self.places().begin(), self.places().end()));
}

}  // namespace

void bind_numbering(nb::module_& m) {
    nb::class_<weigh::Numbering>(m, "NameIndexer", "Numbers for names that come in batches.")
        .def("__init__", &make_numbering, "buckets"_a)
        .def("__len__", &weigh::Numbering::size)
        .def("index", &numbers, "text"_a, "offsets"_a, "grow"_a, "Return the number of each name.")
        .def("index_tokens", &learn, "documents"_a, "settings"_a, "Return (indptr, numbers, counts) of all tokens.")
        .def("merge", &join, "other"_a, "Take over the names of other buckets.")
        .def("names", &names, "Return (text, offsets) of the names by number.");
    nb::class_<weigh::Places>(m, "IndexCompactor", "Numbers in order of first use for items that have numbers already.")
        .def("__init__", &make_places, "mapping"_a)
        .def("__len__", &weigh::Places::size)
        .def("compact", &place_numbers, "items"_a, "grow"_a, "Return the number of each item.")
        .def("mapping", &all_places, "Return every item's number, negative if it has none.");
}
