"""Features of a model, listed class by class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from weigh import errors
from weigh.text import aligned, html_table


class ByClass(ABC):
    """What speaks for each class: prints as one table per class."""

    classes: Mapping[Any, Sequence[Any]]
    unit: ClassVar[str] = "weight"

    @abstractmethod
    def rows_of(self, found: Sequence[Any]) -> list[list[str]]:
        """Return the table of one class's features, its head first."""

    @abstractmethod
    def bar_of(self, each: Any) -> tuple[str, float]:
        """Return the name and the size of one feature."""

    def title_of(self, label: Any) -> str:
        """Return what the features of a class do."""
        return f"speaks for {label}"

    def to_dict(self) -> dict[str, Any]:
        """The features by class, for JSON."""
        return {str(label): [each.to_dict() for each in found] for label, found in self.classes.items()}

    def plot(self) -> Any:
        """Return a picture of the features, a panel for each class."""
        from weigh.pictures import bars
        from weigh.pictures.ends import bounded

        found = [
            (self.title_of(label), *self.bar_of(each))
            for label in self.classes
            for each in self.classes[label]
        ]
        if not found:
            raise errors.Unsupported("No feature speaks for any class, so there is nothing to draw.")
        sizes = bounded([size for *_, size in found])
        rows = [
            {"group": title, "name": name, "value": size}
            for (title, name, _), size in zip(found, sizes, strict=True)
        ]
        return bars(rows, x=self.unit)

    def __str__(self) -> str:
        tables = (f"{title}\n{aligned(rows, indent='  ')}".rstrip() for title, rows in self._tables())
        return "\n\n".join(tables)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(html_table(title, rows) for title, rows in self._tables())

    def _tables(self) -> Iterator[tuple[str, list[list[str]]]]:
        for label, found in self.classes.items():
            rows = self.rows_of(found)
            title = self.title_of(label)
            yield (f"What {title}:", rows) if found else (f"Nothing {title}.", [[""]])
