// The averaged perceptron of two classes over CSR rows and nothing else: the floor for any other.
#include <cstddef>
#include <cstdint>

namespace {

constexpr std::int64_t kAhead = 4;  // rows whose memory is asked for before it is their turn

// A weight beside its sum u = Σ (examples before the update) · change, so that one line of memory has both.
struct Cell {
    double weight, sum;
};

struct Rows {
    std::int64_t number;
    const std::int32_t* indptr;
    const std::int32_t* indices;
    const double* values;
    const std::int8_t* labels;  // −1 or 1
};

void prefetch(const Rows& rows, std::int64_t row) {
    for (std::int32_t j = rows.indptr[row]; j < rows.indptr[row + 1]; j += 16) __builtin_prefetch(rows.indices + j);
    for (std::int32_t j = rows.indptr[row]; j < rows.indptr[row + 1]; j += 8) __builtin_prefetch(rows.values + j);
}

// Returns whether the row was mistaken.
bool learn(const Rows& rows, std::int64_t row, double before, Cell* bias, Cell* cells) {
    const std::int32_t begin = rows.indptr[row], end = rows.indptr[row + 1];
    double score = bias->weight;
    for (std::int32_t j = begin; j < end; ++j) score += rows.values[j] * cells[rows.indices[j]].weight;
    if ((score >= 0) == (rows.labels[row] > 0)) return false;
    const double change = rows.labels[row], late = change * before;
    bias->weight += change;
    bias->sum += late;
    for (std::int32_t j = begin; j < end; ++j) {
        Cell& cell = cells[rows.indices[j]];
        cell.weight += change * rows.values[j];
        cell.sum += late * rows.values[j];
    }
    return true;
}

template <bool kShuffled>
std::int64_t pass(const Rows& rows, const std::int64_t* order, std::int64_t before, Cell* cells) {
    std::int64_t mistakes = 0;
    for (std::int64_t k = 0; k < rows.number; ++k) {
        if constexpr (kShuffled) {
            if (k + 2 * kAhead < rows.number) __builtin_prefetch(rows.indptr + order[k + 2 * kAhead]);
            if (k + kAhead < rows.number) prefetch(rows, order[k + kAhead]);
        }
        const std::int64_t row = kShuffled ? order[k] : k;
        mistakes += learn(rows, row, static_cast<double>(before + k), cells, cells + 1);
    }
    return mistakes;
}

}  // namespace

// Go through the rows at most `passes` times, in order or in that of `orders` (one after the other),
// until a pass has no mistake. The cells (width + 1, the bias first) are zeros to begin with; `mean`
// receives the averaged weights. Returns the number of passes that were made.
extern "C" std::int64_t averaged_perceptron(std::int64_t number, const std::int32_t* indptr, const std::int32_t* indices,
                                            const double* values, const std::int8_t* labels,
                                            const std::int64_t* orders, std::int64_t passes, std::int64_t width,
                                            void* table, double* mean) {
    const Rows rows{number, indptr, indices, values, labels};
    Cell* cells = static_cast<Cell*>(table);
    std::int64_t made = 0;
    for (bool clean = false; made < passes && !clean; ++made) {
        const std::int64_t before = made * number;
        clean = (orders ? pass<true>(rows, orders + before, before, cells) : pass<false>(rows, nullptr, before, cells)) == 0;
    }
    const auto ticks = static_cast<double>(made * number);
    for (std::int64_t f = 0; f <= width; ++f) mean[f] = (ticks * cells[f].weight - cells[f].sum) / ticks;
    return made;
}
