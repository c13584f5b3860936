// A growing table of counts, one row per word and one cell per class.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "weigh/zeroed_array.h"

namespace weigh {

// A growing table of counts, `width` cells per row, all zero at first. The rows are in blocks that never move, so
// that growing copies nothing.
template <class Cell>
class GrowingTable {
public:
    std::size_t rows() const { return rows_; }
    std::size_t width() const { return width_; }

    Cell* operator[](std::size_t row) const {
        return blocks_[row >> shift_].data() + (row & ((std::size_t{1} << shift_) - 1)) * width_;
    }

    void prefetch(std::size_t row, std::size_t cell) const { __builtin_prefetch((*this)[row] + cell, 1); }

    // Ensure a minimum number of rows and of cells per row.
    void ensure_size(std::size_t rows, std::size_t width) {
        if (width > width_) widen(width);
        // Small tables stay in the first block and touch little of it, so do not use huge pages for it.
        while (blocks_.size() << shift_ < rows) blocks_.emplace_back(width_ << shift_, !blocks_.empty());
        rows_ = std::max(rows_, rows);
    }

private:
    static constexpr std::size_t kBlockBytes = std::size_t{8} << 20;

    void widen(std::size_t width) {
        GrowingTable wider;
        wider.width_ = width;
        const std::size_t fitting = std::max<std::size_t>(kBlockBytes / (width * sizeof(Cell)), 1);
        wider.shift_ = static_cast<int>(std::bit_width(fitting)) - 1;
        wider.ensure_size(rows_, width);
        for (std::size_t row = 0; row < rows_ && width_ != 0; ++row)
            std::memcpy(wider[row], (*this)[row], width_ * sizeof(Cell));
        *this = std::move(wider);
    }

    std::vector<ZeroedArray<Cell>> blocks_;
    int shift_ = 0;  // log2 of the rows per block
    std::size_t rows_ = 0, width_ = 0;
};

// Transpose to class-major order in blocks of words: writing all classes of one word at a time would touch a page
// per class for every word.
template <class Cell, class Value>
ZeroedArray<Cell> transpose_cells(std::span<const std::int32_t> order, std::span<const std::int64_t> class_map,
                                  const Value& value) {
    constexpr std::size_t kBlock = 64;
    ZeroedArray<Cell> cells(order.size() * class_map.size());
    for (std::size_t first = 0; first < order.size(); first += kBlock) {
        const std::size_t last = std::min(first + kBlock, order.size());
        for (std::size_t c = 0; c < class_map.size(); ++c) {
            Cell* row = cells.data() + static_cast<std::size_t>(class_map[c]) * order.size();
            for (std::size_t at = first; at < last; ++at)
                row[at] = static_cast<Cell>(value(static_cast<std::size_t>(order[at]), c));
        }
    }
    return cells;
}

}  // namespace weigh
