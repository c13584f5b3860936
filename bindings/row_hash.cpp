#include "weigh/row_hash.h"

#include "arrays.h"
#include "documents.h"

using namespace nb::literals;

namespace {

using Keys = std::optional<Vector<std::uint64_t>>;
using Hashes = MutableVector<std::uint64_t>;

weigh::ColumnKeys keys_of(const Keys& keys, std::uint64_t first, std::size_t columns) {
    require(!keys || keys->shape(0) == columns, "there must be one key per column");
    return {keys ? span_of(*keys) : std::span<const std::uint64_t>{}, first};
}

void add_matrix_hashes(const Matrix<double>& matrix, const Keys& keys, std::uint64_t first, const Hashes& hashes) {
    require(hashes.shape(0) == matrix.shape(0), "there must be one hash per row");
    const auto columns = keys_of(keys, first, matrix.shape(1));
    const ScopedGilRelease released(matrix.shape(0) * matrix.shape(1));
    weigh::add_matrix_hashes(strided_of(matrix), columns, span_of(hashes));
}

void add_code_hashes(const Vector<std::int32_t>& codes, const Vector<std::uint64_t>& by_code, const Hashes& hashes) {
    require(hashes.shape(0) == codes.shape(0), "there must be one hash per row");
    require(by_code.shape(0) > 0, "there must be a hash of missing values");
    require_below(span_of(codes), by_code.shape(0) - 1, "a code is out of range");
    const ScopedGilRelease released(codes.shape(0));
    weigh::add_code_hashes(span_of(codes), span_of(by_code), span_of(hashes));
}

void add_sparse_hashes(const Vector<std::int64_t>& indptr, const Vector<std::int32_t>& indices,
                       const std::optional<Vector<double>>& values, std::size_t width, const Keys& keys,
                       std::uint64_t first, const Hashes& hashes) {
    const auto columns = keys_of(keys, first, width);
    const ScopedGilRelease released(indices.shape(0));
    weigh::add_sparse_hashes(sparse_of(indptr, indices, values, hashes.shape(0), width), columns, span_of(hashes));
}

void add_text_hashes(const DocumentsBinding& documents, std::uint64_t key, const Hashes& hashes) {
    require(hashes.shape(0) == documents.rows(), "there must be one hash per row");
    const ScopedGilRelease released(documents.work_units());
    weigh::add_text_hashes(documents.view(), key, span_of(hashes));
}

nb::tuple finish_row_hashes(const Hashes& hashes) {
    const auto sums = weigh::finish_row_hashes(span_of(hashes));
    return nb::make_tuple(sums.first, sums.second);
}

}  // namespace

void bind_row_hash(nb::module_& m) {
    m.def("add_matrix_hashes", &add_matrix_hashes, "matrix"_a, "keys"_a.none(), "first"_a, "hashes"_a,
          "Add the hashes of the cells of every row; column j has the key keys[j], or first + j without keys.");
    m.def("add_code_hashes", &add_code_hashes, "codes"_a, "by_code"_a, "hashes"_a,
          "Add the hash of the code of every row; the last hash is that of a missing value, a negative code.");
    m.def("add_sparse_hashes", &add_sparse_hashes, "indptr"_a, "indices"_a, "values"_a.none(), "width"_a,
          "keys"_a.none(), "first"_a, "hashes"_a, "Add the hashes of the entries of every row, as for a matrix.");
    m.def("add_text_hashes", &add_text_hashes, "documents"_a, "key"_a, "hashes"_a,
          "Add the hash of the text, or of the tokens, of every row.");
    m.def("finish_row_hashes", &finish_row_hashes, "hashes"_a,
          "Finish the hashes of rows in place; return two sums of them modulo 2^64.");
}
