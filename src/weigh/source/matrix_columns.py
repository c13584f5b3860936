"""The columns of a matrix by name, made when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from numpy.typing import NDArray


class MatrixColumns(Mapping[str, Any]):
    """Views of a matrix's columns, under names in their order."""

    def __init__(self, matrix: NDArray[Any], names: Sequence[str]) -> None:
        self.matrix, self.names = matrix, names

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.names)}

    def __getitem__(self, name: str) -> Any:
        return self.matrix[:, self._places[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def renamed(self, names: Sequence[str]) -> MatrixColumns:
        """Return the same columns under other names."""
        return MatrixColumns(self.matrix, names)

    def cut(self, start: int, stop: int) -> MatrixColumns:
        """Return some consecutive rows."""
        return MatrixColumns(self.matrix[start:stop], self.names)


def renamed(columns: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
    """Return columns under other names, in their order."""
    if isinstance(columns, MatrixColumns):
        return columns.renamed(names)
    return dict(zip(names, columns.values(), strict=True))
