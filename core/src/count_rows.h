// Rows of counts in blocks that never move, so that a growing table is never copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace weigh {

// `width` cells per row, all zero at first.
template <class Cell>
class CountRows {
public:
    std::size_t rows() const { return rows_; }
    std::size_t width() const { return width_; }

    Cell* operator[](std::size_t row) { return blocks_[row / kBlock].get() + row % kBlock * width_; }
    const Cell* operator[](std::size_t row) const { return blocks_[row / kBlock].get() + row % kBlock * width_; }

    void prefetch(std::size_t row, std::size_t cell) const { __builtin_prefetch((*this)[row] + cell, 1); }

    // Have at least so many rows of at least so many cells.
    void reach(std::size_t rows, std::size_t width) {
        if (width > width_) widen(width);
        for (; blocks_.size() * kBlock < rows; blocks_.push_back(zeros(width_))) {}
        rows_ = std::max(rows_, rows);
    }

private:
    static constexpr std::size_t kBlock = 4096;

    struct Free {
        void operator()(Cell* cells) const { std::free(cells); }
    };
    using Block = std::unique_ptr<Cell[], Free>;

    // From calloc, which takes zeroed pages from the system only as they are touched.
    static Block zeros(std::size_t width) {
        Block block(static_cast<Cell*>(std::calloc(kBlock * std::max<std::size_t>(width, 1), sizeof(Cell))));
        if (!block) throw std::bad_alloc();
        return block;
    }

    void widen(std::size_t width) {
        for (Block& block : blocks_) {
            Block wider = zeros(width);
            for (std::size_t row = 0; row < kBlock && width_ != 0; ++row)
                std::memcpy(wider.get() + row * width, block.get() + row * width_, width_ * sizeof(Cell));
            block = std::move(wider);
        }
        width_ = width;
    }

    std::vector<Block> blocks_;
    std::size_t rows_ = 0, width_ = 0;
};

}  // namespace weigh
