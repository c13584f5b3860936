#include <utility>

#include "parts.h"
#include "weigh/descend_columns.h"

namespace weigh {

namespace {

// Call entry(row, place, value) for all entries of chosen features in some rows.
template <class Each>
void each_chosen(const SparseRows& rows, Codes places, std::size_t begin, std::size_t end, const Each& each) {
    for (std::size_t i = begin; i < end; ++i) {
        const auto last = static_cast<std::size_t>(rows.indptr[i + 1]);
        for (auto e = static_cast<std::size_t>(rows.indptr[i]); e < last; ++e) {
            const std::int32_t place = places[static_cast<std::size_t>(rows.indices[e])];
            if (place >= 0) each(i, static_cast<std::size_t>(place), rows.value(e));
        }
    }
}

}  // namespace

Columns::Columns(const SparseRows& rows, Codes places, std::size_t count, std::size_t threads)
    : rows_(rows.rows()), begins_(count + 1) {
    const auto cut = cuts(rows, rows.indices.size() < count ? 1 : threads);
    const std::size_t parts = cut.size() - 1;
    // next[part][j] is first how many entries of column j the part has, then where its next one goes.
    std::vector<std::vector<std::size_t>> next(parts, std::vector<std::size_t>(count));
    in_parts(parts, [&](std::size_t part) {
        each_chosen(rows, places, cut[part], cut[part + 1],
                    [&](std::size_t, std::size_t place, double) { ++next[part][place]; });
    });
    std::size_t entries = 0;
    for (std::size_t j = 0; j < count; ++j) {
        for (auto& own : next) entries += std::exchange(own[j], entries);
        begins_[j + 1] = entries;
    }
    entries_ = Zeroed<Entry>(entries);
    in_parts(parts, [&](std::size_t part) {
        each_chosen(rows, places, cut[part], cut[part + 1], [&](std::size_t i, std::size_t place, double value) {
            entries_[next[part][place]++] = {static_cast<std::int32_t>(i), static_cast<float>(value)};
        });
    });
}

}  // namespace weigh
