// Validation of the order in which dual coordinate ascent visits the rows.
#pragma once

#include "arrays.h"

inline void require_distinct_rows(const Vector<std::int32_t>& order, std::size_t size) {
    require(order.shape(0) <= size, "order has more entries than there are rows");
    // rows must be distinct, because threads update them without locks
    std::vector<std::uint8_t> seen(size);
    for (const std::int32_t row : span_of(order)) {
        require(row >= 0 && static_cast<std::size_t>(row) < size, "the order has a wrong place");
        require(!std::exchange(seen[static_cast<std::size_t>(row)], 1), "the order has a place twice");
    }
}
