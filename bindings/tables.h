// Long tables on their way to NumPy.
#pragma once

#include "arrays.h"
#include "weigh/zeroed.h"

// Hand the memory of a table to NumPy; it is freed with the array.
template <class Cell>
nb::ndarray<nb::numpy, Cell, nb::ndim<2>> to_table(weigh::Zeroed<Cell>&& cells, std::size_t rows, std::size_t columns) {
    auto owned = std::make_unique<weigh::Zeroed<Cell>>(std::move(cells));
    Cell* data = owned->data();
    nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<weigh::Zeroed<Cell>*>(p); });
    return nb::ndarray<nb::numpy, Cell, nb::ndim<2>>(data, {rows, columns}, owner);
}
