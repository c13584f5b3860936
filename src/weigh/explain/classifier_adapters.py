"""A classifier and rows of it, whoever made it: which columns it has, and what it says of other rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, Longs
from weigh.features.columns import is_missing, to_numbers, to_objects
from weigh.model.base import BaseModel, Model
from weigh.source import Chunk
from weigh.source import rows as rows_of

ColumnPair = tuple[str, str]
NON_NUMERIC_KINDS = frozenset({"category", "flag", "text", "tokens", "skip"})


@dataclass(frozen=True, eq=False)
class GridPredictions:
    """What is said of places: class numbers, how sure (½ to 1 without probabilities), and by what lead.

    `leads`, of two classes, speak for the second where they are positive.
    """

    codes: Longs
    confidences: Floats
    decision_values: Floats | None


class ClassifierAdapter(ABC):
    """A classifier with the rows around which it is asked."""

    classes: list[Any]
    labels: Sequence[Any]
    columns: Mapping[str, Any]

    @abstractmethod
    def predict_columns(self, columns: Mapping[str, Any]) -> GridPredictions:
        """Return what is said of rows that are given by column."""

    @abstractmethod
    def kind(self, name: str) -> str:
        """Return the name of a column's kind."""

    @abstractmethod
    def numeric_column(self, name: str) -> Floats:
        """Return a column of the rows as numbers, nan where it is missing."""

    def choose_columns(self, across: str | None, up: str | None) -> ColumnPair:
        """Return the two columns, those not given the first of numbers that are left."""
        for name in (across, up):
            if name is not None and not (isinstance(name, str) and name in self.columns):
                raise errors.unknown_column_error(str(name), self.columns, "The classifier")
            if name is not None and self.kind(name) in NON_NUMERIC_KINDS:
                raise errors.ColumnError(
                    f"regions goes along columns of numbers, and {name!r} is a {self.kind(name)}. Hold it "
                    f"instead: hold={{{name!r}: ...}}."
                )
        left = [n for n in self.columns if self.kind(n) not in NON_NUMERIC_KINDS and n not in (across, up)]
        found = [name if name is not None else left.pop(0) if left else "" for name in (across, up)]
        if "" in found or found[0] == found[1]:
            raise errors.ColumnError(
                f"regions needs two different columns of numbers; the classifier has "
                f"{errors.quote_names(n for n in self.columns if self.kind(n) not in NON_NUMERIC_KINDS)}."
            )
        return found[0], found[1]

    def fixed_values(self, pair: ColumnPair, stated: Mapping[str, Any]) -> dict[str, Any]:
        """Return the value at which every other column is held."""
        for name in stated:
            if name not in self.columns or name in pair:
                others = [each for each in self.columns if each not in pair]
                raise errors.unknown_column_error(str(name), others, "What is held")
        return {
            name: stated[name] if name in stated else self._typical_value(name)
            for name in self.columns
            if name not in pair and self.kind(name) != "skip"
        }

    def _typical_value(self, name: str) -> Any:
        if self.kind(name) in ("text", "tokens"):
            return None
        if self.kind(name) not in NON_NUMERIC_KINDS:
            known = self.numeric_column(name)
            known = known[~np.isnan(known)]
            return float(np.median(known)) if len(known) else None
        values = Counter(value for value in self.columns[name].tolist() if not is_missing(value))
        return values.most_common(1)[0][0] if values else None

    def predict_plane(
        self, pair: ColumnPair, held: Mapping[str, Any], x: Floats, y: Floats
    ) -> GridPredictions:
        """Return what is said of places on the plane of two columns."""
        fixed = {name: _repeat_value(value, len(x)) for name, value in held.items()}
        given = {**fixed, pair[0]: x, pair[1]: y}
        return self.predict_columns({name: given[name] for name in self.columns if name in given})

    @abstractmethod
    def predict_rows(self) -> list[Any]:
        """Return what is said of the rows themselves."""


class ModelAdapter(ClassifierAdapter):
    """A model of this library."""

    def __init__(self, model: Model, rows: Any, label: Any) -> None:
        self._model = model
        self._chunks = read_labelled_chunks(model, rows, label)
        self.classes = list(model.classes)
        if any(chunk.sparse is not None for chunk in self._chunks):
            raise errors.Unsupported(
                "regions needs columns by name; sparse rows have too many. Give a table."
            )
        names = [name for name in model.schema.names if name in self._chunks[0].columns]
        self.columns = {
            name: np.concatenate([to_objects(chunk.columns[name]) for chunk in self._chunks])
            for name in names
        }
        self.labels = concatenate_labels(self._chunks)

    def kind(self, name: str) -> str:
        """Return the name of a column's kind."""
        return self._kinds[name]

    @cached_property
    def _kinds(self) -> dict[str, str]:
        schema = self._model.schema
        return {name: kind.name for name, kind in zip(schema.names, schema.kinds, strict=True)}

    def numeric_column(self, name: str) -> Floats:
        """Return a column of the rows as numbers, nan where it is missing."""
        return to_numbers(self.columns[name], name, self._model.schema.missing)

    def predict_columns(self, columns: Mapping[str, Any]) -> GridPredictions:
        """Return what is said of rows that are given by column."""
        scores = self._model.scores(columns)
        codes = self._model.best(scores)
        leads = scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else None
        if self._model.has_probabilities:
            return GridPredictions(codes, self._model.predict_proba(columns).max(axis=1), leads)
        two = np.partition(scores, -2, axis=1)[:, -2:]
        ahead = two[:, 1] - two[:, 0]
        return GridPredictions(codes, 0.5 + 0.5 * ahead / (ahead.max() or 1.0), leads)

    def predict_rows(self) -> list[Any]:
        """Return what is said of the rows themselves."""
        return [verdict for chunk in self._chunks for verdict in self._model.predict(chunk).tolist()]


class SklearnAdapter(ClassifierAdapter):
    """A fitted classifier with scikit-learn's methods, and rows as it takes them."""

    def __init__(self, model: Any, rows: Any, label: Any) -> None:
        self._model, self._rows = model, rows
        self.classes = _sklearn_classes(model)
        if isinstance(label, str) and hasattr(rows, "columns"):
            if label not in rows.columns:
                raise errors.unknown_column_error(label, map(str, rows.columns), "The table")
            self._rows, label = rows[[name for name in rows.columns if name != label]], rows[label]
        table = np.asarray(self._rows)
        if table.ndim != 2 or not table.size:
            raise errors.DataError(
                f"regions asks a classifier of another library about a table [rows, columns], got "
                f"{_describe_value(self._rows)}. Give the rows as it learned them."
            )
        named = hasattr(self._rows, "columns")
        names = (
            [str(name) for name in self._rows.columns] if named else [f"x{j}" for j in range(table.shape[1])]
        )
        if len(set(names)) < len(names):
            raise errors.ColumnError(
                f"The table has two columns of one name among {errors.quote_names(names)}."
            )
        typed = [np.asarray(self._rows[name]) for name in self._rows.columns] if named else table.T
        self.columns = dict(zip(names, typed, strict=True))
        self.labels = _sklearn_labels(label, len(table))

    def kind(self, name: str) -> str:
        """Return whether a column holds numbers."""
        return "number" if self.columns[name].dtype.kind in "fiu" else "category"

    def numeric_column(self, name: str) -> Floats:
        """Return a column of the rows as numbers, nan where it is missing."""
        return np.asarray(self.columns[name], dtype=np.float64)

    def predict_columns(self, columns: Mapping[str, Any]) -> GridPredictions:
        """Return what is said of rows that are given by column."""
        named = hasattr(self._rows, "columns")
        # A table of the kind that came in, so that nothing here needs the library that made it.
        given = type(self._rows)(dict(columns)) if named else np.column_stack(list(columns.values()))
        place = {label: code for code, label in enumerate(self.classes)}
        codes = np.array([place[label] for label in np.asarray(self._model.predict(given)).tolist()])
        leads = None
        if hasattr(self._model, "decision_function") and len(self.classes) == 2:
            leads = np.asarray(self._model.decision_function(given), dtype=np.float64).reshape(len(codes))
        if not hasattr(self._model, "predict_proba"):
            return GridPredictions(codes, np.ones(len(codes)), leads)
        return GridPredictions(codes, np.asarray(self._model.predict_proba(given)).max(axis=1), leads)

    def predict_rows(self) -> list[Any]:
        """Return what is said of the rows themselves."""
        return list(np.asarray(self._model.predict(self._rows)).tolist())


def _sklearn_classes(model: Any) -> list[Any]:
    classes = np.asarray(model.classes_, dtype=object)
    if classes.ndim != 1 or any(isinstance(each, np.ndarray) for each in classes):
        raise errors.Unsupported("regions asks a classifier of one label per row, got one of several.")
    return list(np.asarray(model.classes_).tolist())


def _sklearn_labels(label: Any, n: int) -> list[Any]:
    if label is None:
        return [None] * n
    labels = np.asarray(label)
    if labels.shape not in ((n,), (n, 1)):
        raise errors.LabelError(
            f"regions needs one label for each of the {n:,} rows, got {_describe_value(label)}. Give them as y, or the "
            f"name of a table's label column."
        )
    return list(labels.ravel().tolist())


def _describe_value(value: Any) -> str:
    """Tell what a value is, however large, in a few words."""
    shape = np.shape(value) if hasattr(value, "__len__") else ()
    of = f" of shape {'×'.join(map(str, shape))}" if shape else ""
    return f"{value!r}" if isinstance(value, str | int | float | None) else f"{type(value).__name__}{of}"


def adapt_classifier(model: Any, rows: Any, label: Any) -> ClassifierAdapter:
    """Return a classifier with its rows; anything else is refused."""
    own = getattr(model, "model_", model)
    if isinstance(own, Model):
        return ModelAdapter(own, rows, label)
    if hasattr(model, "classes_") and hasattr(model, "predict"):
        return SklearnAdapter(model, rows, label)
    raise errors.Unsupported(
        f"regions asks a fitted classifier, got {type(model).__name__} without classes. Fit a classifier "
        f"first."
    )


def read_labelled_chunks(model: BaseModel, rows: Any, label: Any) -> list[Chunk]:
    """Return rows as a model reads them, labelled as given or by the model's column, if they have it."""
    missing = model.schema.missing
    source = rows_of(rows, label, missing=missing)
    if label is None and source.label is None and model.label in source.names:
        source = source.with_label(str(model.label))
    return list(model.schema.chunks(source.with_storage(model.storage)))


def concatenate_labels(chunks: Sequence[Chunk]) -> list[Any]:
    """Return the label of every row, None where there is none."""
    known = (
        [None] * each.n_rows if each.labels is None else to_objects(each.labels).tolist() for each in chunks
    )
    labels = [label for each in known for label in each]
    if any(isinstance(label, list | set | dict | np.ndarray) for label in labels):
        raise errors.multiple_labels_error("lists")
    return labels


def _repeat_value(value: Any, n: int) -> Any:
    if isinstance(value, float | int) and not isinstance(value, bool):
        return np.full(n, value)
    return [value] * n
