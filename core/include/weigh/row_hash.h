// Hashes of rows that depend only on their values: not on the order of the columns, the storage or the machine.
//
// The hash of a row is the sum of the hashes of its cells, finished by `finish_row_hashes`. Zeros add nothing, so
// dense and sparse rows agree. The hashes are part of the model file format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "weigh/documents.h"
#include "weigh/views.h"

namespace weigh {

// The keys of the columns; without keys, column j has the key `first` + j.
struct ColumnKeys {
    std::span<const std::uint64_t> keys;
    std::uint64_t first = 0;
};

// Add the hash of each row's code; the last hash is that of a negative code, a missing value.
void add_code_hashes(Codes codes, std::span<const std::uint64_t> by_code, std::span<std::uint64_t> hashes);

void add_matrix_hashes(const StridedMatrix& matrix, const ColumnKeys& keys, std::span<std::uint64_t> hashes);
void add_sparse_hashes(const SparseRows& rows, const ColumnKeys& keys, std::span<std::uint64_t> hashes);
void add_text_hashes(const Documents& documents, std::uint64_t key, std::span<std::uint64_t> hashes);

struct HashSums {
    std::uint64_t first = 0, second = 0;
};

// Finish the hashes in place, and return two independent sums of them.
HashSums finish_row_hashes(std::span<std::uint64_t> hashes);

}  // namespace weigh
