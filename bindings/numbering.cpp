#include "weigh/numbering.h"

#include <bit>

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

nb::tuple names(const weigh::Numbering& self) {
    auto [text, offsets] = to_numpy(self.names());
    return nb::make_tuple(text, offsets);
}

}  // namespace

void bind_numbering(nb::module_& m) {
    nb::class_<weigh::Numbering>(m, "Numbering", "Numbers for names that come in batches.")
        .def("__init__", &make_numbering, "buckets"_a)
        .def("__len__", &weigh::Numbering::size)
        .def("numbers", &numbers, "text"_a, "offsets"_a, "grow"_a, "Return the number of each name.")
        .def("names", &names, "Return (text, offsets) of the names by number.");
}
