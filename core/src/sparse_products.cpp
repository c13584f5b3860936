#include "weigh/sparse_products.h"

#include <algorithm>
#include <utility>

#include "parallel.h"
#include "table_rows.h"
#include "weigh/zeroed_array.h"

namespace weigh {
namespace {

// Call entry(row, feature, value) for all entries of a range of rows.
template <bool kHasValues, class Entry>
void for_each_entry(const SparseRows& rows, std::size_t begin, std::size_t end, const Entry& entry) {
    for (std::size_t i = begin; i < end; ++i) {
        const auto last = static_cast<std::size_t>(rows.indptr[i + 1]);
        for (auto e = static_cast<std::size_t>(rows.indptr[i]); e < last; ++e)
            entry(i, static_cast<std::size_t>(rows.indices[e]), kHasValues ? rows.values[e] : 1.0);
    }
}

template <class Entry>
void for_each_entry(const SparseRows& rows, std::size_t begin, std::size_t end, const Entry& entry) {
    rows.values.empty() ? for_each_entry<false>(rows, begin, end, entry)
                        : for_each_entry<true>(rows, begin, end, entry);
}

// Pointers to the entries of a row; `values` is null if all of them are 1.
struct Entries {
    Entries(const SparseRows& rows, std::size_t i)
        : features(rows.indices.data() + rows.indptr[i]),
          values(rows.values.empty() ? nullptr : rows.values.data() + rows.indptr[i]),
          size(static_cast<std::size_t>(rows.indptr[i + 1] - rows.indptr[i])) {}

    const std::int32_t* features;
    const double* values;
    std::size_t size;
};

// Four partial sums per row, which hides the latency of the additions.
template <bool kHasValues>
double row_times(const SparseRows& rows, std::size_t i, const double* w) {
    double sums[4] = {0, 0, 0, 0};
    const auto last = static_cast<std::size_t>(rows.indptr[i + 1]);
    auto e = static_cast<std::size_t>(rows.indptr[i]);
    for (; e + 4 <= last; e += 4)
        for (std::size_t k = 0; k < 4; ++k) sums[k] += (kHasValues ? rows.values[e + k] : 1.0) * w[rows.indices[e + k]];
    for (; e < last; ++e) sums[0] += (kHasValues ? rows.values[e] : 1.0) * w[rows.indices[e]];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Run work(begin row, end row, table) on every part with a table of its own, and add the tables into `out`.
template <class Work>
void parallel_sum(const std::vector<std::size_t>& bounds, std::span<double> out, const Work& work) {
    const std::size_t parts = bounds.size() - 1;
    std::vector<ZeroedArray<double>> partial(parts);
    for (std::size_t part = 1; part < parts; ++part) partial[part] = ZeroedArray<double>(out.size());
    std::fill(out.begin(), out.end(), 0.0);
    parallel_for(parts, [&](std::size_t part) {
        work(bounds[part], bounds[part + 1], part == 0 ? out.data() : partial[part].data());
    });
    parallel_for(parts, [&](std::size_t slice) {
        const std::size_t begin = out.size() * slice / parts, end = out.size() * (slice + 1) / parts;
        for (std::size_t part = 1; part < parts; ++part)
            for (std::size_t j = begin; j < end; ++j) out[j] += partial[part][j];
    });
}

// Use one thread if the partial tables would cost more than the work that is shared.
std::vector<std::size_t> partition_for_tables(const SparseRows& rows, std::size_t threads, std::size_t cells) {
    return partition_rows(rows, rows.indices.size() < cells ? 1 : threads);
}

}  // namespace

void times(const SparseRows& rows, std::span<const double> table, std::size_t columns, std::size_t threads,
           std::span<double> out) {
    const auto bounds = partition_rows(rows, threads);
    parallel_for(bounds.size() - 1, [&](std::size_t part) {
        const std::size_t begin = bounds[part], end = bounds[part + 1];
        if (columns == 1) {
            const bool valued = !rows.values.empty();
            for (std::size_t i = begin; i < end; ++i)
                out[i] = valued ? row_times<true>(rows, i, table.data()) : row_times<false>(rows, i, table.data());
            return;
        }
        std::fill(out.begin() + begin * columns, out.begin() + end * columns, 0.0);
        for (std::size_t i = begin; i < end; ++i) {
            const Entries row(rows, i);
            add_rows(row.features, row.values, row.size, table.data(), columns, out.data() + i * columns);
        }
    });
}

void transposed_times(const SparseRows& rows, std::span<const double> table, std::size_t columns, std::size_t threads,
                      std::span<double> out) {
    parallel_sum(
        partition_for_tables(rows, threads, out.size()), out, [&](std::size_t begin, std::size_t end, double* sums) {
            if (columns == 1) {
                for_each_entry(rows, begin, end,
                               [&](std::size_t i, std::size_t feature, double x) { sums[feature] += x * table[i]; });
                return;
            }
            for (std::size_t i = begin; i < end; ++i) {
                const Entries row(rows, i);
                add_to_rows(row.features, row.values, row.size, table.data() + i * columns, columns, sums);
            }
        });
}

void squared_times(const SparseRows& rows, std::span<const double> s, std::size_t threads, std::span<double> out) {
    parallel_sum(
        partition_for_tables(rows, threads, out.size()), out, [&](std::size_t begin, std::size_t end, double* sums) {
            for_each_entry(rows, begin, end,
                           [&](std::size_t i, std::size_t feature, double x) { sums[feature] += s[i] * x * x; });
        });
}

SparseColumns select_columns(const SparseRows& rows, Codes index_map, std::size_t count, std::size_t threads) {
    const auto bounds = partition_for_tables(rows, threads, count);
    const std::size_t parts = bounds.size() - 1;
    // next[part][k] first counts the entries of feature k in the part, then is the position of the next one.
    std::vector<std::vector<std::int64_t>> next(parts, std::vector<std::int64_t>(count));
    parallel_for(parts, [&](std::size_t part) {
        for_each_entry<false>(rows, bounds[part], bounds[part + 1], [&](std::size_t, std::size_t feature, double) {
            if (index_map[feature] >= 0) ++next[part][static_cast<std::size_t>(index_map[feature])];
        });
    });
    SparseColumns columns{std::vector<std::int64_t>(count + 1), {}, {}};
    std::int64_t entries = 0;
    for (std::size_t k = 0; k < count; ++k) {
        for (auto& partial : next) entries += std::exchange(partial[k], entries);
        columns.indptr[k + 1] = entries;
    }
    columns.rows.resize(static_cast<std::size_t>(entries));
    columns.values.resize(static_cast<std::size_t>(entries));
    parallel_for(parts, [&](std::size_t part) {
        for_each_entry(rows, bounds[part], bounds[part + 1], [&](std::size_t i, std::size_t feature, double x) {
            if (index_map[feature] < 0) return;
            const auto at = static_cast<std::size_t>(next[part][static_cast<std::size_t>(index_map[feature])]++);
            columns.rows[at] = static_cast<std::int32_t>(i);
            columns.values[at] = x;
        });
    });
    return columns;
}

void weighted_gram(const SparseRows& rows, Codes index_map, std::size_t count, std::span<const double> s,
                   std::size_t threads, std::span<double> out) {
    std::size_t longest = 0;
    for (std::size_t i = 0; i < rows.rows(); ++i)
        longest = std::max(longest, static_cast<std::size_t>(rows.indptr[i + 1] - rows.indptr[i]));
    struct Cell {
        std::size_t index;
        double value;
    };
    parallel_sum(partition_rows(rows, threads), out, [&](std::size_t begin, std::size_t end, double* sums) {
        std::vector<Cell> cells(longest);
        for (std::size_t i = begin; i < end; ++i) {
            std::size_t n_cells = 0;
            for_each_entry(rows, i, i + 1, [&](std::size_t, std::size_t feature, double x) {
                if (index_map[feature] >= 0) cells[n_cells++] = {static_cast<std::size_t>(index_map[feature]), x};
            });
            for (std::size_t a = 0; a < n_cells; ++a) {
                const double x = (s.empty() ? 1.0 : s[i]) * cells[a].value;
                double* sum = sums + cells[a].index * count;
                for (std::size_t b = 0; b < n_cells; ++b) sum[cells[b].index] += x * cells[b].value;
            }
        }
    });
}

}  // namespace weigh
