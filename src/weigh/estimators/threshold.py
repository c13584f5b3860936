"""The decision stump as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from weigh.engines import run
from weigh.estimators.base import ProbabilisticClassifier, serialised
from weigh.learn.threshold import ThresholdTask
from weigh.parameters.learners import THRESHOLD


class Threshold(ProbabilisticClassifier):
    """Decision stump: the best single split of one numeric column.

    The split minimises the (weighted) training errors over all numeric columns. Ties go to the first column,
    then to the widest interval between neighbouring values, then to the lowest. Each side predicts its
    majority class, with probabilities (n_class + 1) / (n + C) from the rows on that side. Rows with a missing
    value form a third side; if training had none, they predict the majority class of all rows.

    Columns of numbers, flags and integer codes are used; strings and text are skipped. The numeric columns
    are kept in memory during training, because they must be sorted.

    {parameters}

    Examples
    --------
    >>> import weigh
    >>> table = {"x": [1.5, 2.2, 1.8, 1.2, 0.9], "y": [True, True, True, False, False]}
    >>> stump = weigh.Threshold().fit(table, "y")
    >>> stump.column_, stump.threshold_, stump.interval_
    ('x', 1.35, (1.2, 1.5))
    """

    _table = THRESHOLD

    def __init__(self, columns: Any = "auto", missing: Any = ()) -> None:
        self.columns = columns
        self.missing = missing

    def infer_columns(self, X: Any, y: Any = None) -> dict[str, Any]:
        """Return parameters that state the kinds of the columns which `fit` would infer from these rows."""
        source = self._source(X, y, None, self._missing_markers())
        return {"columns": ThresholdTask.for_source(source, **self._parameters()).schema}

    @serialised
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, label: str | None = None) -> Self:
        """Fit the model; y is one label per row, or y or `label` is the name of the label column."""
        y = self._labels(y, label)
        source = self._source(X, y, sample_weight, self._missing_markers())
        model = run(ThresholdTask.for_source(source, **self._parameters()), source, threads=1)
        self._warn_of_labels(source, model.schema, model.labels)
        self._set_fitted_attributes(source, model_=model, classes_=model.labels)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # A single split cannot separate the three clusters of scikit-learn's check.
        tags.classifier_tags.poor_score = True
        return tags

    @property
    def column_(self) -> str:
        """The column that is split."""
        check_is_fitted(self)
        return str(self.model_.column)

    @property
    def threshold_(self) -> float:
        """The threshold, the midpoint of `interval_`."""
        check_is_fitted(self)
        return float(self.model_.cut)

    @property
    def interval_(self) -> tuple[float, float]:
        """The interval (low, high); any threshold in [low, high) has the same training errors."""
        check_is_fitted(self)
        low, high = self.model_.interval
        return float(low), float(high)
