#include "weigh/spelling/reader.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>

#include "names.h"

using namespace nb::literals;
namespace spelling = weigh::spelling;

namespace {

// A reader with a lock.
struct SharedReader {
    spelling::Reader reader;
    std::mutex mutex;
};

template <class Work>
auto with_lock(SharedReader& self, Work work) {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(self.mutex);
    return work(self.reader);
}

void make(SharedReader* self, const std::vector<std::vector<std::string>>& sets, std::size_t window,
          std::size_t max_occurrences) {
    require(max_occurrences > 0, "max_occurrences must be at least 1");
    new (self) SharedReader{{sets, window, max_occurrences}, {}};
}

std::int64_t read_chunk(SharedReader& self, const nb::bytes& chunk, std::int32_t document, std::int64_t words_before,
                        std::int64_t bytes_before) {
    const std::string_view text(chunk.c_str(), chunk.size());
    return with_lock(
        self, [&](spelling::Reader& reader) { return reader.read(text, {document, words_before, bytes_before}); });
}

nb::tuple columns(SharedReader& self, std::size_t set) {
    require(set < self.reader.size(), "there is no such set");
    spelling::OccurrenceColumns occurrences =
        with_lock(self, [&](const spelling::Reader& reader) { return reader.set(set).columns; });
    auto& [members, documents, at, begins, sizes, indptr, features] = occurrences;
    return nb::make_tuple(to_numpy(std::move(members)), to_numpy(std::move(documents)), to_numpy(std::move(at)),
                          to_numpy(std::move(begins)), to_numpy(std::move(sizes)), to_numpy(std::move(indptr)),
                          to_numpy(std::move(features)));
}

std::uint64_t stride(SharedReader& self, std::size_t set) {
    require(set < self.reader.size(), "there is no such set");
    return with_lock(self, [&](const spelling::Reader& reader) { return reader.set(set).stride(); });
}

auto names(SharedReader& self) {
    return to_numpy(with_lock(self, [](const spelling::Reader& reader) { return reader.names(); }));
}

}  // namespace

void bind_spelling(nb::module_& m) {
    nb::class_<SharedReader>(m, "ContextReader", "Finds the words of confusion sets in texts, with their contexts.")
        .def("__init__", &make, "sets"_a, "window"_a, "max_occurrences"_a)
        .def("read", &read_chunk, "chunk"_a, "document"_a, "words_before"_a, "bytes_before"_a,
             "Read a chunk of UTF-8 and return its number of words.")
        .def("columns", &columns, "set"_a,
             "Return members, documents, word positions, byte offsets, sizes, indptr and features of a set's "
             "occurrences.")
        .def("stride", &stride, "set"_a, "Return the sampling interval of a set's occurrences.")
        .def("names", &names, "Return (text, offsets) of the feature names by index.");
}
