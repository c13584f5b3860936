"""What the scikit-learn faces of all classifiers share: rows in, a model out, the model asked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from weigh import errors
from weigh.estimators.learner import Learner
from weigh.model import Decision
from weigh.source import Source
from weigh.source import rows as rows_of


class Classifier(ClassifierMixin, Learner):
    """A scikit-learn classifier around a model; subclasses say how the model is made."""

    def _source(self, X: Any, y: Any, sample_weight: Any = None, missing: Any = ()) -> Source:
        """Return the labelled rows of a call to fit: y is an array, a column's name or None."""
        self._require_labels(X, y, "label")
        if y is not None and not isinstance(y, str):
            y = _to_labels(y)
        return rows_of(X, y, sample_weight, missing=missing)

    def _remember(self, source: Source) -> None:
        """Set what scikit-learn expects of a fitted classifier."""
        self.classes_ = self._labels()
        super()._remember(source)

    def _labels(self) -> Any:
        return self.model_.labels

    def predict(self, X: Any, decision: Decision | None = None) -> Any:
        """Return one label per row; `decision` states costs, another class prior, or 'unsure'."""
        check_is_fitted(self)
        return self.model_.predict(X, decision)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy on labelled rows; y may be the name of the label column."""
        check_is_fitted(self)
        label = self.model_.label if y is None else y
        source = self._source(X, label, missing=self.model_.schema.missing)
        chunks = self.model_.schema.chunks(source.stored(self.model_.storage))
        right = [
            np.asarray(_values(chunk.labels), dtype=object) == self.model_.predict(chunk).astype(object)
            for chunk in chunks
        ]
        return float(np.average(np.concatenate(right), weights=sample_weight))


def _values(labels: Any) -> list[Any]:
    values: list[Any] = labels.to_pylist() if hasattr(labels, "to_pylist") else labels.tolist()
    return values


def _to_labels(y: Any) -> Any:
    """Return labels as a column; several labels per row, and measured numbers, are refused."""
    if hasattr(y, "dictionary_encode"):
        return y
    if isinstance(y, (list, tuple)) and _LISTS & set(map(type, y)) and any(map(_is_several, y)):
        raise errors.several_labels("lists")
    # Foreign containers may offer nothing but their conversion to an array.
    y = y if hasattr(y, "shape") else np.asarray(y)
    if len(y.shape) == 2 and y.shape[1] > 1:
        raise errors.several_labels(f"{y.shape[1]} columns")
    y = column_or_1d(y, warn=True, dtype=None)
    if y.dtype.kind == "f":
        if not np.isfinite(y).all():
            word = "NaN" if np.isnan(y).any() else "infinity"
            raise errors.LabelError(f"Input y contains {word}. Leave such rows out before fitting.")
        check_classification_targets(y)
    return y


_LISTS = {list, tuple, set, frozenset}


def _is_several(value: Any) -> bool:
    return type(value) in _LISTS and len(value) != 1
