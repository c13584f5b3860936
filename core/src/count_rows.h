// Rows of counts in blocks that never move, so that a growing table is never copied.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <vector>

#include "weigh/zeroed.h"

namespace weigh {

// `width` cells per row, all zero at first.
template <class Cell>
class CountRows {
public:
    std::size_t rows() const { return rows_; }
    std::size_t width() const { return width_; }

    Cell* operator[](std::size_t row) const {
        return blocks_[row >> shift_].data() + (row & ((std::size_t{1} << shift_) - 1)) * width_;
    }

    void prefetch(std::size_t row, std::size_t cell) const { __builtin_prefetch((*this)[row] + cell, 1); }

    // Have at least so many rows of at least so many cells.
    void reach(std::size_t rows, std::size_t width) {
        if (width > width_) widen(width);
        // Small tables never leave the first block, of which they touch little.
        while (blocks_.size() << shift_ < rows) blocks_.emplace_back(width_ << shift_, !blocks_.empty());
        rows_ = std::max(rows_, rows);
    }

private:
    static constexpr std::size_t kBlockBytes = std::size_t{8} << 20;

    void widen(std::size_t width) {
        CountRows wider;
        wider.width_ = width;
        const std::size_t fitting = std::max<std::size_t>(kBlockBytes / (width * sizeof(Cell)), 1);
        wider.shift_ = static_cast<int>(std::bit_width(fitting)) - 1;
        wider.reach(rows_, width);
        for (std::size_t row = 0; row < rows_ && width_ != 0; ++row)
            std::memcpy(wider[row], (*this)[row], width_ * sizeof(Cell));
        *this = std::move(wider);
    }

    std::vector<Zeroed<Cell>> blocks_;
    int shift_ = 0;  // how many rows a block has, as a power of two
    std::size_t rows_ = 0, width_ = 0;
};

}  // namespace weigh
