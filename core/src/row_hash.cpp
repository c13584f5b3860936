#include "weigh/row_hash.h"

#include <bit>
#include <cstdlib>
#include <limits>
#include <string>

#include "weigh/text_key.h"

namespace weigh {
namespace {

constexpr std::uint64_t kKeyFactor = 0x9E3779B97F4A7C15ULL;
constexpr std::uint64_t kMissingText = 0xC2B2AE3D27D4EB4FULL;
constexpr std::uint64_t kSecondSum = 0xD6E8FEB86659FD93ULL;

std::uint64_t spread(std::uint64_t key) { return key * kKeyFactor; }

// One wide multiplication: a row may have thousands of cells.
std::uint64_t cell_hash(std::uint64_t spread_key, std::uint64_t value) { return mix(value, spread_key); }

std::uint64_t number_hash(std::uint64_t spread_key, double number) {
    constexpr std::uint64_t kInfinity = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
    constexpr std::uint64_t kNan = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
    const auto bits = std::bit_cast<std::uint64_t>(number);
    if (bits << 1 == 0) return 0;
    // All NaN mean missing, whatever their bits are.
    return cell_hash(spread_key, bits << 1 > kInfinity << 1 ? kNan : bits);
}

// A functor, so that the loops over cells are compiled for each way to find the key of a column.
template <class Add>
void with_keys(const ColumnKeys& keys, Add add) {
    if (keys.keys.empty()) add([first = keys.first](std::size_t column) { return spread(first + column); });
    else add([list = keys.keys](std::size_t column) { return spread(list[column]); });
}

}  // namespace

void add_matrix_hashes(const StridedMatrix& matrix, const ColumnKeys& keys, std::span<std::uint64_t> hashes) {
    const auto add_row = [&](std::size_t row, auto key) {
        const double* cell = matrix.data + static_cast<std::ptrdiff_t>(row) * matrix.row_stride;
        std::uint64_t hash = 0;
        for (std::size_t j = 0; j < matrix.columns; ++j, cell += matrix.column_stride)
            hash += number_hash(key(j), *cell);
        hashes[row] += hash;
    };
    const auto add_column = [&](std::size_t column, std::uint64_t key) {
        const double* cell = matrix.data + static_cast<std::ptrdiff_t>(column) * matrix.column_stride;
        for (std::size_t i = 0; i < matrix.rows; ++i, cell += matrix.row_stride) hashes[i] += number_hash(key, *cell);
    };
    with_keys(keys, [&](auto key) {
        // Follow the order in memory.
        if (std::abs(matrix.column_stride) <= std::abs(matrix.row_stride) && matrix.columns > 1) {
            for (std::size_t i = 0; i < matrix.rows; ++i) add_row(i, key);
        } else {
            for (std::size_t j = 0; j < matrix.columns; ++j) add_column(j, key(j));
        }
    });
}

void add_code_hashes(Codes codes, std::span<const std::uint64_t> by_code, std::span<std::uint64_t> hashes) {
    const std::uint64_t missing = by_code.back();
    for (std::size_t i = 0; i < codes.size(); ++i)
        hashes[i] += codes[i] < 0 ? missing : by_code[static_cast<std::size_t>(codes[i])];
}

void add_sparse_hashes(const SparseRows& rows, const ColumnKeys& keys, std::span<std::uint64_t> hashes) {
    const auto add_rows = [&](auto key, auto value) {
        const std::int32_t* indices = rows.indices.data();
        for (std::size_t i = 0; i < rows.rows(); ++i) {
            std::uint64_t hash = 0;
            const auto end = static_cast<std::size_t>(rows.indptr[i + 1]);
            for (auto entry = static_cast<std::size_t>(rows.indptr[i]); entry < end; ++entry)
                hash += number_hash(key(static_cast<std::size_t>(indices[entry])), value(entry));
            hashes[i] += hash;
        }
    };
    with_keys(keys, [&](auto key) {
        if (rows.values.empty()) add_rows(key, [](std::size_t) { return 1.0; });
        else add_rows(key, [values = rows.values.data()](std::size_t entry) { return values[entry]; });
    });
}

void add_text_hashes(const Documents& documents, std::uint64_t key, std::span<std::uint64_t> hashes) {
    std::string scratch;
    const auto text_hash = [&](const Text& text) {
        return cell_hash(spread(key), text.is_missing() ? kMissingText : key_of(to_utf8(text, scratch), false).hash);
    };
    if (!documents.is_tokenized()) {
        for (std::size_t i = 0; i < documents.texts.size(); ++i) hashes[i] += text_hash(documents.texts[i]);
        return;
    }
    for (std::size_t i = 0; i < documents.rows(); ++i)
        for (auto token = static_cast<std::size_t>(documents.indptr[i]);
             token < static_cast<std::size_t>(documents.indptr[i + 1]); ++token) {
            const double count = documents.values.empty() ? 1.0 : documents.values[token];
            hashes[i] += number_hash(spread(text_hash(documents.texts[token])), count);
        }
}

HashSums finish_row_hashes(std::span<std::uint64_t> hashes) {
    HashSums sums;
    for (auto& hash : hashes) {
        hash = mix(hash + kKeyFactor);
        sums.first += hash;
        sums.second += mix(hash ^ kSecondSum);
    }
    return sums;
}

}  // namespace weigh
