"""One interface to classifiers of this library and of scikit-learn, together with the rows to inspect."""

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
from weigh.source.chunk import Chunk
from weigh.source.memory.table import rows as rows_of

ColumnPair = tuple[str, str]
NON_NUMERIC_KINDS = frozenset({"category", "date", "flag", "text", "tokens", "skip"})


@dataclass(frozen=True, eq=False)
class GridPredictions:
    """Predictions at grid points: class codes, confidences and, for two classes, decision values.

    Confidences are the probabilities of the predicted classes; a model without probabilities has scaled
    margins from ½ to 1 instead. Positive decision values favour the second class.
    """

    codes: Longs
    confidences: Floats
    decision_values: Floats | None


class ClassifierAdapter(ABC):
    """A classifier and the rows around which its predictions are inspected."""

    classes: list[Any]
    labels: Sequence[Any]
    columns: Mapping[str, Any]

    @abstractmethod
    def predict_columns(self, columns: Mapping[str, Any]) -> GridPredictions:
        """Return the predictions for rows given as columns."""

    @abstractmethod
    def kind(self, name: str) -> str:
        """Return the name of the kind of a column."""

    @abstractmethod
    def numeric_column(self, name: str) -> Floats:
        """Return a column of the rows as floats, nan where missing."""

    @abstractmethod
    def class_scores(self, columns: Mapping[str, Any]) -> Floats:
        """Return the scores [rows, classes] for rows given as columns."""

    @abstractmethod
    def best(self, scores: Floats) -> Longs:
        """Return the code of the best class of each row."""

    @property
    def log_prior(self) -> Floats | None:
        """The log prior of the classes if the scores are log P(class) + log p(x | class), else None."""
        return None

    @property
    def has_probabilities(self) -> bool:
        """Whether the posterior probabilities follow from the scores."""
        return True

    @property
    def numeric_columns(self) -> list[str]:
        """The names of the numeric columns."""
        return [name for name in self.columns if self.kind(name) not in NON_NUMERIC_KINDS]

    def choose_column(self, across: str | None) -> str:
        """Return the column of curves; by default the first numeric one."""
        self._check_columns("class_curves", (across,))
        if across is None and not self.numeric_columns:
            raise errors.ColumnError(
                "class_curves needs a numeric column; the classifier has "
                f"{errors.quote_names(list(self.columns))}."
            )
        return self.numeric_columns[0] if across is None else across

    def _check_columns(self, owner: str, names: Sequence[str | None]) -> None:
        for name in names:
            if name is not None and not (isinstance(name, str) and name in self.columns):
                raise errors.unknown_column_error(str(name), self.columns, "The classifier")
            if name is not None and self.kind(name) in NON_NUMERIC_KINDS:
                raise errors.ColumnError(
                    f"{owner} needs numeric columns, but {name!r} is a {self.kind(name)}. Fix its "
                    f"value instead: hold={{{name!r}: ...}}."
                )

    def choose_columns(self, across: str | None, up: str | None) -> ColumnPair:
        """Return the two columns of the plane; by default the first numeric ones."""
        self._check_columns("regions", (across, up))
        numeric = self.numeric_columns
        unused = [name for name in numeric if name not in (across, up)]
        pair = [name if name is not None else unused.pop(0) if unused else "" for name in (across, up)]
        if "" in pair or pair[0] == pair[1]:
            raise errors.ColumnError(
                "regions needs two different numeric columns; the classifier has "
                f"{errors.quote_names(numeric)}."
            )
        return pair[0], pair[1]

    def fixed_values(self, pair: ColumnPair, hold: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fixed value of every column outside the pair: from `hold`, or a typical value."""
        for name in hold:
            if name not in self.columns or name in pair:
                others = [column for column in self.columns if column not in pair]
                raise errors.unknown_column_error(str(name), others, "The set of fixed columns")
        return {
            name: hold[name] if name in hold else self._typical_value(name)
            for name in self.columns
            if name not in pair and self.kind(name) != "skip"
        }

    def _typical_value(self, name: str) -> Any:
        if self.kind(name) in ("text", "tokens"):
            return None
        if self.kind(name) not in NON_NUMERIC_KINDS:
            numbers = self.numeric_column(name)
            numbers = numbers[~np.isnan(numbers)]
            return float(np.median(numbers)) if len(numbers) else None
        values = Counter(value for value in self.columns[name].tolist() if not is_missing(value))
        return values.most_common(1)[0][0] if values else None

    def predict_plane(
        self, pair: ColumnPair, fixed: Mapping[str, Any], x: Floats, y: Floats
    ) -> GridPredictions:
        """Return the predictions at points (x, y) of the plane, with all other columns fixed."""
        return self.predict_columns(self.fill_columns({pair[0]: x, pair[1]: y}, fixed, len(x)))

    def fill_columns(
        self, columns: Mapping[str, Floats], fixed: Mapping[str, Any], n_rows: int
    ) -> dict[str, Any]:
        """Return all columns of rows that have some columns and fixed values of the others."""
        values = {name: _repeat_value(value, n_rows) for name, value in fixed.items()} | dict(columns)
        return {name: values[name] for name in self.columns if name in values}

    @abstractmethod
    def predict_rows(self) -> list[Any]:
        """Return the predicted labels of the rows."""


class ModelAdapter(ClassifierAdapter):
    """A model of this library."""

    def __init__(self, model: Model, rows: Any, label: Any) -> None:
        self._model = model
        self._chunks = read_labelled_chunks(model, rows, label)
        self.classes = list(model.classes)
        if any(chunk.sparse is not None for chunk in self._chunks):
            raise errors.Unsupported("regions needs named columns and cannot read sparse rows. Pass a table.")
        names = [name for name in model.schema.names if name in self._chunks[0].columns]
        self.columns = {
            name: np.concatenate([to_objects(chunk.columns[name], name) for chunk in self._chunks])
            for name in names
        }
        self.labels = concatenate_labels(self._chunks)

    def kind(self, name: str) -> str:
        """Return the name of the kind of a column."""
        return self._kinds[name]

    @cached_property
    def _kinds(self) -> dict[str, str]:
        schema = self._model.schema
        return {name: kind.name for name, kind in zip(schema.names, schema.kinds, strict=True)}

    def numeric_column(self, name: str) -> Floats:
        """Return a column of the rows as floats, nan where missing."""
        return to_numbers(self.columns[name], name, self._model.schema.missing)

    def predict_columns(self, columns: Mapping[str, Any]) -> GridPredictions:
        """Return the predictions for rows given as columns."""
        scores = self._model.scores(columns)
        codes = self._model.best(scores)
        decision_values = scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else None
        if self._model.has_probabilities:
            return GridPredictions(codes, self._model.predict_proba(columns).max(axis=1), decision_values)
        second, best = np.partition(scores, -2, axis=1)[:, -2:].T
        margins = best - second
        return GridPredictions(codes, 0.5 + 0.5 * margins / (margins.max() or 1.0), decision_values)

    def class_scores(self, columns: Mapping[str, Any]) -> Floats:
        """Return the scores [rows, classes] for rows given as columns."""
        return self._model.scores(columns)

    def best(self, scores: Floats) -> Longs:
        """Return the code of the best class of each row, with the tie rule of the model."""
        return np.asarray(self._model.best(scores))

    @property
    def log_prior(self) -> Floats | None:
        """The log prior of the classes of a generative model."""
        return self._model.log_prior if self._model.is_generative else None

    @property
    def has_probabilities(self) -> bool:
        """Whether the model has probabilities."""
        return self._model.has_probabilities

    def predict_rows(self) -> list[Any]:
        """Return the predicted labels of the rows."""
        return [verdict for chunk in self._chunks for verdict in self._model.predict(chunk).tolist()]


class SklearnAdapter(ClassifierAdapter):
    """A fitted classifier with the scikit-learn interface, and rows in the form that it accepts."""

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
                f"regions needs a non-empty table [rows, columns] for a scikit-learn classifier, got "
                f"{_describe_value(self._rows)}. Pass rows in the form it was fitted on."
            )
        has_names = hasattr(self._rows, "columns")
        names = (
            [str(name) for name in self._rows.columns]
            if has_names
            else [f"x{j}" for j in range(table.shape[1])]
        )
        if len(set(names)) < len(names):
            raise errors.ColumnError(f"The table has duplicate column names: {errors.quote_names(names)}.")
        arrays = [np.asarray(self._rows[name]) for name in self._rows.columns] if has_names else table.T
        self.columns = dict(zip(names, arrays, strict=True))
        self.labels = _sklearn_labels(label, len(table))

    def kind(self, name: str) -> str:
        """Return "number" or "category", by the dtype of the column."""
        return "number" if self.columns[name].dtype.kind in "fiu" else "category"

    def numeric_column(self, name: str) -> Floats:
        """Return a column of the rows as floats, nan where missing."""
        return np.asarray(self.columns[name], dtype=np.float64)

    def predict_columns(self, columns: Mapping[str, Any]) -> GridPredictions:
        """Return the predictions for rows given as columns."""
        X = self._to_rows(columns)
        code_by_label = {label: code for code, label in enumerate(self.classes)}
        codes = np.array([code_by_label[label] for label in np.asarray(self._model.predict(X)).tolist()])
        decision_values = None
        if hasattr(self._model, "decision_function") and len(self.classes) == 2:
            decision_values = np.asarray(self._model.decision_function(X), dtype=np.float64).reshape(
                len(codes)
            )
        if not hasattr(self._model, "predict_proba"):
            return GridPredictions(codes, np.ones(len(codes)), decision_values)
        return GridPredictions(codes, np.asarray(self._model.predict_proba(X)).max(axis=1), decision_values)

    def _to_rows(self, columns: Mapping[str, Any]) -> Any:
        # A table of the same type as the rows, so that pandas is not imported here.
        has_names = hasattr(self._rows, "columns")
        return type(self._rows)(dict(columns)) if has_names else np.column_stack(list(columns.values()))

    def class_scores(self, columns: Mapping[str, Any]) -> Floats:
        """Return the log-probabilities [rows, classes] for rows given as columns."""
        if not hasattr(self._model, "predict_proba"):
            raise errors.Unsupported(
                f"class_curves needs probabilities, which a {type(self._model).__name__} does not have. "
                "Calibrate it with scikit-learn's CalibratedClassifierCV, or use another classifier."
            )
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._model.predict_proba(self._to_rows(columns))))

    def best(self, scores: Floats) -> Longs:
        """Return the code of the most probable class of each row, the first among ties."""
        return np.asarray(scores.argmax(axis=1))

    def predict_rows(self) -> list[Any]:
        """Return the predicted labels of the rows."""
        return list(np.asarray(self._model.predict(self._rows)).tolist())


def _sklearn_classes(model: Any) -> list[Any]:
    classes = np.asarray(model.classes_, dtype=object)
    if classes.ndim != 1 or any(isinstance(label, np.ndarray) for label in classes):
        raise errors.Unsupported("regions needs a classifier with one label per row, got a multi-output one.")
    return list(np.asarray(model.classes_).tolist())


def _sklearn_labels(label: Any, n: int) -> list[Any]:
    if label is None:
        return [None] * n
    labels = np.asarray(label)
    if labels.shape not in ((n,), (n, 1)):
        raise errors.LabelError(
            f"regions needs one label for each of the {n:,} rows, got {_describe_value(label)}. Pass the "
            f"labels, or the name of the label column of a table."
        )
    return list(labels.ravel().tolist())


def _describe_value(value: Any) -> str:
    """Describe a value briefly, by its type and shape if it is large."""
    shape = np.shape(value) if hasattr(value, "__len__") else ()
    suffix = f" of shape {'×'.join(map(str, shape))}" if shape else ""
    return f"{value!r}" if isinstance(value, str | int | float | None) else f"{type(value).__name__}{suffix}"


def adapt_classifier(model: Any, rows: Any, label: Any) -> ClassifierAdapter:
    """Wrap a fitted classifier and its rows; raise Unsupported for anything else."""
    fitted = getattr(model, "model_", model)
    if isinstance(fitted, Model):
        return ModelAdapter(fitted, rows, label)
    if hasattr(model, "classes_") and hasattr(model, "predict"):
        return SklearnAdapter(model, rows, label)
    raise errors.Unsupported(
        f"regions needs a fitted classifier, got {type(model).__name__}. Fit a classifier first."
    )


def read_labelled_chunks(model: BaseModel, rows: Any, label: Any) -> list[Chunk]:
    """Read rows with the schema of a model; by default labels come from its label column, if present."""
    missing = model.schema.missing
    source = rows_of(rows, label, missing=missing)
    if label is None and source.label is None and model.label in source.names:
        source = source.with_label(str(model.label))
    return list(model.schema.chunks(source.with_storage(model.storage)))


def concatenate_labels(chunks: Sequence[Chunk]) -> list[Any]:
    """Return the labels of all rows, None where missing."""
    labels: list[Any] = []
    for chunk in chunks:
        labels += [None] * chunk.n_rows if chunk.labels is None else to_objects(chunk.labels).tolist()
    if any(isinstance(label, list | set | dict | np.ndarray) for label in labels):
        raise errors.multiple_labels_error("lists")
    return labels


def _repeat_value(value: Any, n: int) -> Any:
    if isinstance(value, float | int) and not isinstance(value, bool):
        return np.full(n, value)
    return [value] * n
