"""Base classes of all models, and the tables of their HTML display.

A classifier implements one scoring hook; predictions, probabilities and explanations follow from the scores.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, Level
from weigh.features.names import LazyNames
from weigh.features.schema import Schema
from weigh.immutable import Immutable, read_only
from weigh.model.decision import Decision, best_class, label_array, log_softmax
from weigh.model.file import store
from weigh.model.parallel import map_in_order
from weigh.result import Table
from weigh.source.base import ChunkReader, Source
from weigh.source.chunk import Chunk
from weigh.source.memory.columns import base_type_names, is_partitioned
from weigh.source.memory.table import rows as rows_of
from weigh.text import format_float, html_paragraph

if TYPE_CHECKING:
    from weigh.model.evidence.evidence import Evidence, Explained
    from weigh.model.training_rows import TrainingRows

Result = TypeVar("Result")
MAX_OUTPUT_VALUES = 4_000_000  # rows × outputs of a chunk, which bounds memory


class BaseModel(Immutable, ABC):
    """A frozen model, without its training rows."""

    type_name: ClassVar[str]
    learner: ClassVar[str] = "weigh"  # the estimator that errors name
    schema: Schema
    training_rows: TrainingRows | None = None  # None if unknown, or if counts tell them

    @abstractmethod
    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the content of a model file: JSON metadata and arrays."""

    @property
    def n_outputs(self) -> int:
        """The number of outputs per row."""
        return 1

    @property
    def max_rows(self) -> int:
        """The largest number of rows whose outputs are computed at once."""
        return max(1, MAX_OUTPUT_VALUES // max(self.n_outputs, 1))

    @property
    def uncalibrated(self) -> BaseModel:
        """The model without its calibration."""
        return self

    def predictive(self) -> BaseModel:
        """Return the model with its parameters integrated out, if it has their posterior."""
        raise _no_posterior_error(self)

    @property
    def label(self) -> str | None:
        """The name of the label column, if there was one."""
        return self.schema.label

    @property
    def levels(self) -> Mapping[str, Sequence[Level]]:
        """The known levels of each categorical column; empty if the model stores none."""
        return {}

    @property
    def label_levels(self) -> Mapping[str, Sequence[Any]]:
        """The classes by the name of the label column; empty if the labels are not classes."""
        return {}

    @cached_property
    def storage(self) -> dict[str, str]:
        """The column types with which text files must be read to match training, for `with_storage`."""
        return self.schema.level_storage({**self.levels, **self.label_levels})

    def chunks(self, rows: Any) -> Iterator[Chunk]:
        """Yield rows of any storage in chunks with the schema's column names."""
        return (reader.read() for reader in self.chunk_readers(rows))

    def map_chunks(self, work: Callable[[Chunk], Result], rows: Any) -> Iterator[Result]:
        """Yield work(chunk) for all chunks of rows, in order; reading and work use all cores."""
        return map_in_order(work, self.chunk_readers(rows))

    def check_has_outputs(self) -> None:
        """Raise Unsupported if there is nothing to predict."""
        if not self.n_outputs:
            raise errors.Unsupported(
                "This model has no classes because it has forgotten all its rows. Train it on labelled rows "
                "first."
            )

    def chunk_readers(self, rows: Any) -> Iterator[ChunkReader]:
        """Yield readers of rows of any storage with at most `MAX_OUTPUT_VALUES` outputs each."""
        self.check_has_outputs()
        if isinstance(rows, Chunk):
            return ChunkReader.split(rows.n_rows, self.max_rows, rows.slice)
        source = rows_of(_single_row(rows, self.schema), missing=self.schema.missing)
        if isinstance(rows, Source):  # other rows are in memory, where only one storage is possible
            source = source.with_storage(self.storage)
        return self.schema.chunk_readers(source, self.max_rows, self.learner)

    def encode(self, chunk: Chunk) -> EncodedRows:
        """Encode the rows of a chunk with the schema's column names."""
        return EncodedRows(self.schema.blocks(chunk), chunk.n_rows, chunk.row_number)

    def unknown_words(self, rows: EncodedRows, row: int) -> list[str]:
        """Return the words in the texts of a row that the model does not know."""
        return []

    def display_tables(self) -> Iterator[Table]:
        """Yield the tables of the model's HTML display."""
        yield column_table(self.schema)

    def _repr_html_(self) -> str:
        tables = "".join(f"<div>{table.to_html()}</div>" for table in self.display_tables())
        side_by_side = f'<div style="display:flex;flex-wrap:wrap;gap:0 2em">{tables}</div>'
        return f"<div>{html_paragraph(repr(self)[1:-1])}{side_by_side}</div>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file atomically."""
        meta, arrays = self.to_store()
        store.write(path, {"model": self.type_name, **meta}, arrays)

    def to_bytes(self) -> bytes:
        """Return the bytes that `save` writes; equal models have equal bytes."""
        meta, arrays = self.to_store()
        return store.to_bytes({"model": self.type_name, **meta}, arrays)


def _no_posterior_error(model: BaseModel) -> errors.Unsupported:
    return errors.Unsupported(
        f"Posterior predictive probabilities are computed from counts, and a {type(model).__name__} has "
        "none. Train naive Bayes or joint Bayes for them."
    )


def _single_row(rows: Any, schema: Schema) -> Any:
    """Return a pandas Series with the names of the columns as its index, such as df.iloc[0], as one row."""
    if not schema.named or "pandas.Series" not in base_type_names(rows):
        return rows
    row = {str(name): value for name, value in rows.items()}
    return [row] if schema.has_columns(row) else rows


class EncodedRows(NamedTuple):
    """The rows of a chunk, encoded once for scores and evidence.

    `row_number` returns the number of a row in its source, for messages.
    """

    blocks: Sequence[Any]  # of the types that the model's terms take, one per term
    n_rows: int
    row_number: Callable[[int], int]


class Model(BaseModel):
    """A frozen classifier, without its training rows.

    Scores are logarithms. The class with the highest score wins; `tie` says which of several wins ("first"
    or "last" in the order of `classes`). `is_generative` says whether a score is log p(x, class).
    """

    has_probabilities: ClassVar[bool] = True  # whether normalised scores are probabilities

    @property
    @abstractmethod
    def classes(self) -> list[Any]:
        """The classes, in canonical order."""

    @property
    @abstractmethod
    def log_prior(self) -> Floats:
        """The log prior probability of each class."""

    @abstractmethod
    def score_rows(self, rows: EncodedRows) -> Floats:
        """Return the scores [rows, classes]."""

    def predictive(self) -> Model:
        """Return the classifier with its parameters integrated out, if it has their posterior."""
        raise _no_posterior_error(self)

    @abstractmethod
    def explain_rows(self, rows: EncodedRows, scores: Floats) -> Iterator[Evidence]:
        """Yield the evidence for each row, given the scores of all."""

    def __repr__(self) -> str:
        columns = f"{len(self.schema.names):,} column" + "s" * (len(self.schema.names) != 1)
        label = "" if self.label is None else f" of {self.label!r}"
        return f"<{type(self).__name__}: {columns}, classes{label} {errors.quote_names(self.classes)}>"

    @property
    def class_table_columns(self) -> dict[str, list[str]]:
        """Further columns of the class table of the HTML display, by their titles."""
        return {}

    def display_tables(self) -> Iterator[Table]:
        """Yield the tables of the model's HTML display."""
        yield class_table(self.classes, self.class_table_columns)
        yield from super().display_tables()

    @property
    def tie(self) -> str:
        """The class that wins a tie: the "first" or "last" in the order of `classes`."""
        return "first"

    @property
    def is_generative(self) -> bool:
        """Whether scores are joint log-probabilities."""
        return True

    @property
    def n_outputs(self) -> int:
        """The number of outputs per row: one score per class."""
        return len(self.classes)

    @property
    def label_levels(self) -> Mapping[str, Sequence[Any]]:
        """The classes by the name of the label column."""
        return {} if self.label is None else {self.label: self.classes}

    @cached_property
    @read_only
    def labels(self) -> Any:
        """The classes as an array of the labels' type."""
        return label_array(self.classes)

    def scores(self, rows: Any) -> Floats:
        """Return the scores [rows, classes]."""
        return np.concatenate(list(self.map_chunks(self.score_chunk, rows)))

    def score_chunk(self, chunk: Chunk) -> Floats:
        """Return the finite scores [rows, classes] of a chunk with the schema's column names."""
        return self.finite_scores(self.encode(chunk))

    def finite_scores(self, rows: EncodedRows) -> Floats:
        """Return `score_rows`; raise ImpossibleEvidence for −∞ in all classes and DataError for overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.score_rows(rows)
        best = scores.max(axis=1)
        if np.isfinite(best).all():
            return scores
        row = int(np.argmin(np.isfinite(best)))
        if best[row] == -np.inf:
            raise self.impossible_row_error(rows, row)
        raise overflow_error("score", rows, row)

    def impossible_row_error(self, rows: EncodedRows, row: int) -> errors.ImpossibleEvidence:
        """Return the error for a row with probability zero in every class."""
        return errors.ImpossibleEvidence(
            f"Row {rows.row_number(row):,} has probability 0 in every class. Train with a prior above 0."
        )

    def log_proba(self, rows: Any) -> Floats:
        """Return the log posterior probabilities [rows, classes]."""
        return log_softmax(self.scores(rows))

    def predict_proba(self, rows: Any) -> Any:
        """Return the posterior probabilities [rows, classes]; of a Dask or Spark frame a lazy table."""
        if is_partitioned(rows):
            # Imported here because few rows are in the partitions of an engine.
            from weigh.model.partitioned import predict_partitions

            return predict_partitions(self, rows, probabilities_only=True)
        return np.exp(self.log_proba(rows))

    def predict(self, rows: Any, decision: Decision | None = None, *, reasons: int = 0) -> Any:
        """Return one verdict per row: the class with the highest score, or the choice of `decision`.

        The verdicts of a Dask or Spark frame are a lazy table of that engine, with the probability of each
        class and the strongest `reasons`.
        """
        if reasons or is_partitioned(rows):
            # Imported here because few rows are in the partitions of an engine.
            from weigh.model.partitioned import predict_frame

            return predict_frame(self, rows, reasons, decision=decision)
        model = self.predictive() if decision is not None and decision.predictive else self
        return np.concatenate(list(self.map_chunks(partial(model._verdicts, decision), rows)))

    def _verdicts(self, decision: Decision | None, chunk: Chunk) -> Any:
        scores = self.score_chunk(chunk)
        if decision is None:
            return self.labels[self.best(scores)]
        return decision.verdicts(scores, self.log_prior, self.classes)

    def best(self, scores: Floats) -> Any:
        """Return the index of each row's best class."""
        return best_class(scores, self.tie)

    def leads(self, scores: Floats) -> Floats:
        """Return the difference between the two highest scores of each row."""
        if scores.shape[1] < 2:
            return scores[:, 0]
        top_two = np.partition(scores, -2, axis=1)[:, -2:]
        return np.asarray(top_two[:, 1] - top_two[:, 0])

    def linear(self) -> Any:
        """Return the linear model that makes the same decisions, if there is one."""
        raise errors.Unsupported(f"A {type(self).__name__} is not a linear function of its features.")

    def explain(self, rows: Any) -> Explained:
        """Return the evidence for each row: named contributions that sum to the score, up to rounding."""
        # Imported here because predictions need no evidence.
        from weigh.model.evidence.evidence import Explained

        explained = Explained()
        for chunk in self.chunks(rows):
            encoded = self.encode(chunk)
            evidence = self.explain_rows(encoded, self.finite_scores(encoded))
            words = self.schema.flag_words
            explained.extend(
                each.detach().with_flag_words(words).with_unknown_words(self.unknown_words(encoded, row))
                for row, each in enumerate(evidence)
            )
        return explained


def overflow_error(output: str, rows: EncodedRows, row: int) -> errors.DataError:
    """Return the error for a row whose score or prediction overflows."""
    return errors.DataError(
        f"Row {rows.row_number(row):,} has values so large that its {output} overflows. Scale the columns "
        f"down, in the same way for training and prediction."
    )


MAX_DISPLAY_COLUMNS = 12
MAX_DISPLAY_CLASSES = 12
MAX_DISPLAY_WEIGHTS = 12


def column_table(schema: Schema) -> Table:
    """Return a table of the derived columns and the first other columns, with their kinds."""
    derived = [
        [name, f"{kind.name}, made"] for name, kind in islice(schema.made.items(), MAX_DISPLAY_COLUMNS)
    ]
    pairs = islice(zip(schema.names, schema.kinds, strict=True), MAX_DISPLAY_COLUMNS)
    rows = [["column", "kind"], *derived, *([name, kind.name] for name, kind in pairs)]
    n_hidden = max(0, len(schema.names) - MAX_DISPLAY_COLUMNS)
    return Table(rows, left=2, caption="Columns", widths=(40,), n_hidden=n_hidden)


def class_table(classes: Sequence[Any], further_columns: Mapping[str, Sequence[str]]) -> Table:
    """Return a table of the first classes with further columns."""
    rows = zip(map(str, classes), *further_columns.values(), strict=True)
    header = ["class", *further_columns]
    return Table([header, *rows], caption="Classes", widths=(40,), most=MAX_DISPLAY_CLASSES)


def weight_table(title: str, names: Sequence[str], weights: Floats) -> Table:
    """Return a table of the weights with the largest absolute values, with bars."""
    largest = np.argsort(-np.abs(weights), kind="stable")[:MAX_DISPLAY_WEIGHTS].tolist()
    rows = [["feature", "weight"], *([names[i], format_float(float(weights[i]))] for i in largest)]
    bars, n_hidden = weights[largest].tolist(), len(names) - len(largest)
    return Table(rows, caption=title, widths=(40,), bars=bars, n_hidden=n_hidden)


class ClassWeightNames(LazyNames):
    """The names "class: feature" of the weights of a multiclass model, class by class."""

    def __init__(self, names: Sequence[str], classes: Sequence[Any]) -> None:
        self._names, self._classes = names, classes

    def __len__(self) -> int:
        return len(self._classes) * len(self._names)

    def _name(self, k: int) -> str:
        c, j = divmod(k, len(self._names))
        return f"{self._classes[c]}: {self._names[j]}"
