"""The threshold as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from weigh.engines import run
from weigh.estimators.base import ProbabilisticClassifier
from weigh.learn import ThresholdTask
from weigh.source.missing import to_markers


class Threshold(ProbabilisticClassifier):
    """The best single column and cut: a decision stump, the smallest classifier there is.

    All numeric columns, all cuts and all classes on either side are tried; the fewest (weighted)
    errors win. Of equally good columns the first is taken, in it the widest interval between two
    neighbouring values, and of equally wide ones the lowest. Each side says its most frequent
    class; probabilities are (n_class + 1) / (n + number of classes), counted on that side. Rows
    whose value is missing say the most frequent class of such rows in training, or of all rows if
    there were none.

    Columns of numbers, flags and whole-numbered codes take part; strings and text are left out.
    While it learns, the numeric columns are held in memory, because they have to be sorted.

    Parameters
    ----------
    columns : "auto", or a mapping from names to kinds
        Columns given as "category", "text" or "skip" are left out.
    missing : values that mean "missing", such as ``["?"]``; None and NaN always do.

    Examples
    --------
    >>> import weigh
    >>> table = {"x": [1.5, 2.2, 1.8, 1.2, 0.9], "y": [True, True, True, False, False]}
    >>> stump = weigh.Threshold().fit(table, "y")
    >>> stump.column_, stump.threshold_, stump.interval_
    ('x', 1.35, (1.2, 1.5))
    """

    def __init__(self, columns: Any = "auto", missing: Any = ()) -> None:
        self.columns = columns
        self.missing = missing

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from labelled rows; y is one label per row or the name of the label column."""
        markers = to_markers(self.missing, type(self).__name__)
        source = self._source(X, y, sample_weight, markers)
        self.model_ = run(ThresholdTask.for_source(source, self.columns, missing=markers), source, threads=1)
        self._set_fitted_attributes(source)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # One cut cannot tell three groups of points apart.
        tags.classifier_tags.poor_score = True
        return tags

    @property
    def column_(self) -> str:
        """The column that is cut."""
        check_is_fitted(self)
        return str(self.model_.column)

    @property
    def threshold_(self) -> float:
        """The cut: the middle of `interval_`."""
        check_is_fitted(self)
        return float(self.model_.cut)

    @property
    def interval_(self) -> tuple[float, float]:
        """Low and high: any cut in [low, high) does as well."""
        check_is_fitted(self)
        low, high = self.model_.interval
        return float(low), float(high)
