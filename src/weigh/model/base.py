"""What all classifiers share: one scoring hook, and everything that follows from scores."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any, ClassVar, TypeVar

import numpy as np

from weigh import errors
from weigh.features import Schema
from weigh.features.blocks import Floats, Level
from weigh.model.decision import Decision, best_class, label_array, log_softmax
from weigh.model.evidence.evidence import Evidence, Explained
from weigh.model.file import store
from weigh.model.parallel import map_in_order
from weigh.source import Chunk
from weigh.source import rows as rows_of
from weigh.source.base import ChunkReader, constant_reader
from weigh.text import format_float, html_paragraph, html_table, truncate

Result = TypeVar("Result")
MAX_OUTPUT_VALUES = 4_000_000  # results held at once: rows × results of each


class BaseModel(ABC):
    """A frozen model: reads rows, knows no training rows; `results` says how many numbers a row gets."""

    type_name: ClassVar[str]
    schema: Schema

    @abstractmethod
    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a model file holds: plain data, and arrays."""

    @property
    def n_outputs(self) -> int:
        """How many numbers a row gets."""
        return 1

    @property
    def uncalibrated(self) -> BaseModel:
        """The model as it was learned; a calibrated one has another inside."""
        return self

    @property
    def label(self) -> str | None:
        """The name of the label column, if there was one."""
        return self.schema.label

    @property
    def levels(self) -> Mapping[str, Sequence[Level]]:
        """The values that columns of categories are known to have; empty if the model keeps none."""
        return {}

    @property
    def label_levels(self) -> Mapping[str, Sequence[Any]]:
        """The classes under the name of their column; empty where labels are no classes."""
        return {}

    @cached_property
    def storage(self) -> dict[str, str]:
        """How text files must be read to match what was learned, for `Source.stored`."""
        return self.schema.level_storage({**self.levels, **self.label_levels})

    def chunks(self, rows: Any) -> Iterator[Chunk]:
        """Read rows of any storage, a few at a time, in the schema's names."""
        return (chunk for piece in self._pieces(rows) for chunk in self._split_chunk(piece()))

    def map_chunks(self, work: Callable[[Chunk], Result], rows: Any) -> Iterator[Result]:
        """Yield work(chunk) for all chunks of rows, in order, read and worked on by all cores."""

        def done(piece: ChunkReader) -> list[Result]:
            return [work(chunk) for chunk in self._split_chunk(piece())]

        return (result for results in map_in_order(done, self._pieces(rows)) for result in results)

    def _pieces(self, rows: Any) -> Iterator[ChunkReader]:
        if isinstance(rows, Chunk):
            return iter([constant_reader(rows)])
        return self.schema.chunk_readers(
            rows_of(rows, missing=self.schema.missing).with_storage(self.storage)
        )

    def _split_chunk(self, chunk: Chunk) -> list[Chunk]:
        """Return a chunk in parts whose results do not take too much memory."""
        step = max(1, MAX_OUTPUT_VALUES // max(1, self.n_outputs))
        if chunk.n_rows <= step:
            return [chunk]
        return [chunk.slice(start, start + step) for start in range(0, chunk.n_rows, step)]

    def display_tables(self) -> Iterator[DisplayTable]:
        """Yield what the model is as small tables, for its display."""
        yield column_table(self.schema)

    def _repr_html_(self) -> str:
        return model_html(repr(self)[1:-1], self.display_tables())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, at once or not at all."""
        meta, arrays = self.to_store()
        store.write(path, {"model": self.type_name, **meta}, arrays)

    def to_bytes(self) -> bytes:
        """Return the bytes that `save` writes: equal models, equal bytes."""
        meta, arrays = self.to_store()
        return store.to_bytes({"model": self.type_name, **meta}, arrays)


class Model(BaseModel):
    """A frozen classifier: reads rows, gives scores; knows no training rows.

    Scores are logarithms: the greatest wins, and at a tie the class that `tie` names ("first" or
    "last" in the order of `classes`). `generative` says whether a score is log p(x, class).
    """

    has_probabilities: ClassVar[bool] = True  # whether scores, normalised, are probabilities

    @property
    @abstractmethod
    def classes(self) -> list[Any]:
        """The classes, in canonical order."""

    @property
    @abstractmethod
    def log_prior(self) -> Floats:
        """The logarithm of each class's prior probability."""

    @abstractmethod
    def score_chunk(self, chunk: Chunk) -> Floats:
        """Return the scores [rows, classes] of a chunk in the schema's names."""

    @abstractmethod
    def explain_chunk(self, chunk: Chunk) -> Iterator[Evidence]:
        """Yield the evidence for each row of a chunk."""

    def __repr__(self) -> str:
        columns = f"{len(self.schema.names):,} column" + "s" * (len(self.schema.names) != 1)
        label = "" if self.label is None else f" of {self.label!r}"
        return f"<{type(self).__name__}: {columns}, classes{label} {errors.quote_names(self.classes)}>"

    @property
    def class_table_columns(self) -> dict[str, list[str]]:
        """What the display tells of each class, by the title of its column."""
        return {}

    def display_tables(self) -> Iterator[DisplayTable]:
        """Yield what the model is as small tables, for its display."""
        yield class_table(self.classes, self.class_table_columns)
        yield from super().display_tables()

    @property
    def tie(self) -> str:
        """Which class wins at a tie, in the order of `classes`."""
        return "first"

    @property
    def is_generative(self) -> bool:
        """Whether scores are joint log-probabilities."""
        return True

    @property
    def n_outputs(self) -> int:
        """A row has one score per class."""
        return len(self.classes)

    @property
    def label_levels(self) -> Mapping[str, Sequence[Any]]:
        """The classes under the name of their column."""
        return {} if self.label is None else {self.label: self.classes}

    @cached_property
    def labels(self) -> Any:
        """The classes as an array of their own type."""
        return label_array(self.classes)

    def _pieces(self, rows: Any) -> Iterator[ChunkReader]:
        if not self.classes:
            raise errors.Unsupported(
                "This model knows no class, because it has forgotten all its rows. Let it learn some first."
            )
        return super()._pieces(rows)

    def scores(self, rows: Any) -> Floats:
        """Return the score of every class for every row."""
        return np.concatenate(list(self.map_chunks(self.compute_scores, rows)))

    def compute_scores(self, chunk: Chunk) -> Floats:
        """Return the scores of a chunk, refused where they decide nothing."""
        scores = self.score_chunk(chunk)
        impossible = scores.max(axis=1) == -np.inf
        if impossible.any():
            raise self.impossible_row_error(chunk, int(np.argmax(impossible)))
        return scores

    def impossible_row_error(self, chunk: Chunk, row: int) -> errors.ImpossibleEvidence:
        """Word the error of a row that no class can have."""
        return errors.ImpossibleEvidence(
            f"Row {chunk.first_row + row:,} has probability 0 in every class. Train with a prior above 0."
        )

    def log_proba(self, rows: Any) -> Floats:
        """Return the logarithm of every class's posterior probability."""
        return log_softmax(self.scores(rows))

    def predict_proba(self, rows: Any) -> Floats:
        """Return every class's posterior probability."""
        return np.exp(self.log_proba(rows))

    def predict(self, rows: Any, decision: Decision | None = None) -> Any:
        """Return one verdict per row: the best class, or what `decision` says."""
        return np.concatenate(list(self.map_chunks(partial(self._verdicts, decision), rows)))

    def _verdicts(self, decision: Decision | None, chunk: Chunk) -> Any:
        scores = self.compute_scores(chunk)
        if decision is None:
            return self.labels[self.best(scores)]
        return decision.verdicts(scores, self.log_prior, self.classes)

    def best(self, scores: Floats) -> Any:
        """Return the number of the best class of each row."""
        return best_class(scores, self.tie)

    def linear(self) -> Any:
        """Return the linear function that decides alike, where there is one."""
        raise errors.Unsupported(f"A {type(self).__name__} is no linear function of its features.")

    def explain(self, rows: Any) -> Explained:
        """Return the evidence for each row: named contributions that sum to the score."""
        found = Explained()
        for chunk in self.chunks(rows):
            self.compute_scores(chunk)  # what no class can have is refused here as in predict
            found.extend(evidence.detach() for evidence in self.explain_chunk(chunk))
        return found


MAX_DISPLAY_COLUMNS = 12
MAX_DISPLAY_CLASSES = 12
MAX_DISPLAY_WEIGHTS = 12


@dataclass(frozen=True)
class DisplayTable:
    """One table: the first of its rows is the head; `bars` draw a number beside each other row."""

    title: str
    rows: Sequence[Sequence[str]]
    n_left_aligned: int = 1
    bars: Sequence[float | None] = ()


def model_html(title: str, tables: Iterable[DisplayTable]) -> str:
    """Return a model as HTML: side by side as far as there is room, below each other where there is none."""
    drawn = "".join(f"<div>{html_table(t.title, t.rows, t.n_left_aligned, t.bars)}</div>" for t in tables)
    return (
        f'<div>{html_paragraph(title)}<div style="display:flex;flex-wrap:wrap;gap:0 2em">{drawn}</div></div>'
    )


def column_table(schema: Schema) -> DisplayTable:
    """Return the columns with their kinds, the first few of them."""
    pairs = zip(schema.names, schema.kinds, strict=True)
    rows = [[truncate(name, 40), kind.name] for name, kind in islice(pairs, MAX_DISPLAY_COLUMNS)]
    made = [
        [truncate(name, 40), f"{kind.name}, made"]
        for name, kind in islice(schema.made.items(), MAX_DISPLAY_COLUMNS)
    ]
    return DisplayTable(
        "Columns",
        [["column", "kind"], *rows, *_remainder_row(len(schema.names), MAX_DISPLAY_COLUMNS, 2), *made],
        2,
    )


def class_table(classes: Sequence[Any], facts: Mapping[str, Sequence[str]]) -> DisplayTable:
    """Return the classes with what is known of them, the first few."""
    values = [
        [truncate(label, 40) for label in classes[:MAX_DISPLAY_CLASSES]],
        *(each[:MAX_DISPLAY_CLASSES] for each in facts.values()),
    ]
    rows = [list(row) for row in zip(*values, strict=True)]
    heads = ["class", *facts]
    return DisplayTable(
        "Classes", [heads, *rows, *_remainder_row(len(classes), MAX_DISPLAY_CLASSES, len(heads))]
    )


def weight_table(title: str, names: Sequence[str], weights: Floats) -> DisplayTable:
    """Return the heaviest weights, for or against, with bars."""
    first = np.argsort(-np.abs(weights), kind="stable")[:MAX_DISPLAY_WEIGHTS].tolist()
    rows = [[truncate(names[at], 40), format_float(float(weights[at]))] for at in first]
    more = _remainder_row(len(names), MAX_DISPLAY_WEIGHTS, 2)
    return DisplayTable(
        title, [["feature", "weight"], *rows, *more], 1, [*weights[first].tolist(), *[None] * len(more)]
    )


def name_weights_by_class(names: Sequence[str], classes: Sequence[Any]) -> Iterator[str]:
    """Yield the name of each weight of several classes, class by class."""
    return (f"{label}: {name}" for label in classes for name in names)


def _remainder_row(number: int, shown: int, width: int) -> list[list[str]]:
    return [[f"… and {number - shown:,} more", *[""] * (width - 1)]] if number > shown else []
