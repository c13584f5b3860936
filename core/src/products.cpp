#include "weigh/products.h"

#include <algorithm>
#include <utility>

#include "parts.h"
#include "weigh/zeroed.h"

namespace weigh {
namespace {

// Call entry(row, feature, value) for all entries of some rows.
template <bool kValued, class Entry>
void each_entry(const SparseRows& rows, std::size_t begin, std::size_t end, const Entry& entry) {
    for (std::size_t i = begin; i < end; ++i) {
        const auto last = static_cast<std::size_t>(rows.indptr[i + 1]);
        for (auto e = static_cast<std::size_t>(rows.indptr[i]); e < last; ++e)
            entry(i, static_cast<std::size_t>(rows.indices[e]), kValued ? rows.values[e] : 1.0);
    }
}

template <class Entry>
void each_entry(const SparseRows& rows, std::size_t begin, std::size_t end, const Entry& entry) {
    rows.values.empty() ? each_entry<false>(rows, begin, end, entry) : each_entry<true>(rows, begin, end, entry);
}

// Several sums of one row are under way at once: an addition takes longer than it takes to begin the next.
template <bool kValued>
double row_times(const SparseRows& rows, std::size_t i, const double* w) {
    double sums[4] = {0, 0, 0, 0};
    const auto last = static_cast<std::size_t>(rows.indptr[i + 1]);
    auto e = static_cast<std::size_t>(rows.indptr[i]);
    for (; e + 4 <= last; e += 4)
        for (std::size_t k = 0; k < 4; ++k) sums[k] += (kValued ? rows.values[e + k] : 1.0) * w[rows.indices[e + k]];
    for (; e < last; ++e) sums[0] += (kValued ? rows.values[e] : 1.0) * w[rows.indices[e]];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Sums that every part makes for itself in a table of its own: the first in `out`, which the others are added to.
template <class Work>
void summed(const std::vector<std::size_t>& cut, std::span<double> out, const Work& work) {
    const std::size_t parts = cut.size() - 1;
    std::vector<Zeroed<double>> own(parts);
    for (std::size_t part = 1; part < parts; ++part) own[part] = Zeroed<double>(out.size());
    std::fill(out.begin(), out.end(), 0.0);
    in_parts(parts, [&](std::size_t part) {
        work(cut[part], cut[part + 1], part == 0 ? out.data() : own[part].data());
    });
    in_parts(parts, [&](std::size_t slice) {
        const std::size_t begin = out.size() * slice / parts, end = out.size() * (slice + 1) / parts;
        for (std::size_t part = 1; part < parts; ++part)
            for (std::size_t j = begin; j < end; ++j) out[j] += own[part][j];
    });
}

// Memory of its own for every part must not cost more than the work that it shares out.
std::vector<std::size_t> cuts_for_tables(const SparseRows& rows, std::size_t threads, std::size_t cells) {
    return cuts(rows, rows.indices.size() < cells ? 1 : threads);
}

}  // namespace

void times(const SparseRows& rows, std::span<const double> table, std::size_t columns, std::size_t threads,
           std::span<double> out) {
    const auto cut = cuts(rows, threads);
    in_parts(cut.size() - 1, [&](std::size_t part) {
        const std::size_t begin = cut[part], end = cut[part + 1];
        if (columns == 1) {
            const bool valued = !rows.values.empty();
            for (std::size_t i = begin; i < end; ++i)
                out[i] = valued ? row_times<true>(rows, i, table.data()) : row_times<false>(rows, i, table.data());
            return;
        }
        std::fill(out.begin() + begin * columns, out.begin() + end * columns, 0.0);
        each_entry(rows, begin, end, [&](std::size_t i, std::size_t feature, double x) {
            const double* w = table.data() + feature * columns;
            double* score = out.data() + i * columns;
            for (std::size_t c = 0; c < columns; ++c) score[c] += x * w[c];
        });
    });
}

void transposed_times(const SparseRows& rows, std::span<const double> table, std::size_t columns,
                      std::size_t threads, std::span<double> out) {
    summed(cuts_for_tables(rows, threads, out.size()), out, [&](std::size_t begin, std::size_t end, double* sums) {
        if (columns == 1) {
            each_entry(rows, begin, end,
                       [&](std::size_t i, std::size_t feature, double x) { sums[feature] += x * table[i]; });
            return;
        }
        each_entry(rows, begin, end, [&](std::size_t i, std::size_t feature, double x) {
            const double* r = table.data() + i * columns;
            double* sum = sums + feature * columns;
            for (std::size_t c = 0; c < columns; ++c) sum[c] += x * r[c];
        });
    });
}

void squared_times(const SparseRows& rows, std::span<const double> s, std::size_t threads, std::span<double> out) {
    summed(cuts_for_tables(rows, threads, out.size()), out, [&](std::size_t begin, std::size_t end, double* sums) {
        each_entry(rows, begin, end,
                   [&](std::size_t i, std::size_t feature, double x) { sums[feature] += s[i] * x * x; });
    });
}

SparseColumns selected(const SparseRows& rows, Codes places, std::size_t count, std::size_t threads) {
    const auto cut = cuts_for_tables(rows, threads, count);
    const std::size_t parts = cut.size() - 1;
    // next[part][k] is first how many entries of feature k the part has, then where its next one goes.
    std::vector<std::vector<std::int64_t>> next(parts, std::vector<std::int64_t>(count));
    in_parts(parts, [&](std::size_t part) {
        each_entry<false>(rows, cut[part], cut[part + 1], [&](std::size_t, std::size_t feature, double) {
            if (places[feature] >= 0) ++next[part][static_cast<std::size_t>(places[feature])];
        });
    });
    SparseColumns columns{std::vector<std::int64_t>(count + 1), {}, {}};
    std::int64_t entries = 0;
    for (std::size_t k = 0; k < count; ++k) {
        for (auto& own : next) entries += std::exchange(own[k], entries);
        columns.indptr[k + 1] = entries;
    }
    columns.rows.resize(static_cast<std::size_t>(entries));
    columns.values.resize(static_cast<std::size_t>(entries));
    in_parts(parts, [&](std::size_t part) {
        each_entry(rows, cut[part], cut[part + 1], [&](std::size_t i, std::size_t feature, double x) {
            if (places[feature] < 0) return;
            const auto at = static_cast<std::size_t>(next[part][static_cast<std::size_t>(places[feature])]++);
            columns.rows[at] = static_cast<std::int32_t>(i);
            columns.values[at] = x;
        });
    });
    return columns;
}

void weighted_gram(const SparseRows& rows, Codes places, std::size_t count, std::span<const double> s,
                   std::size_t threads, std::span<double> out) {
    std::size_t longest = 0;
    for (std::size_t i = 0; i < rows.rows(); ++i)
        longest = std::max(longest, static_cast<std::size_t>(rows.indptr[i + 1] - rows.indptr[i]));
    struct Cell {
        std::size_t place;
        double value;
    };
    summed(cuts(rows, threads), out, [&](std::size_t begin, std::size_t end, double* sums) {
        std::vector<Cell> cells(longest);
        for (std::size_t i = begin; i < end; ++i) {
            std::size_t held = 0;
            each_entry(rows, i, i + 1, [&](std::size_t, std::size_t feature, double x) {
                if (places[feature] >= 0) cells[held++] = {static_cast<std::size_t>(places[feature]), x};
            });
            for (std::size_t a = 0; a < held; ++a) {
                const double x = (s.empty() ? 1.0 : s[i]) * cells[a].value;
                double* sum = sums + cells[a].place * count;
                for (std::size_t b = 0; b < held; ++b) sum[cells[b].place] += x * cells[b].value;
            }
        }
    });
}

}  // namespace weigh
