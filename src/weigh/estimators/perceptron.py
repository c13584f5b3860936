"""The perceptron as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from weigh.estimators.base import serialised
from weigh.estimators.online import SAMPLE_WEIGHT_CHECKS, OnlineClassifier
from weigh.learn.perceptron import PerceptronTask
from weigh.model.fit import Certificate
from weigh.parameters.learners import PERCEPTRON
from weigh.source.base import Source


class Perceptron(OnlineClassifier):
    """Perceptron over mixed columns: last, averaged, voted or lazy, with margin and certificate.

    A misclassified row is added to the weights of its class and subtracted from the weights of the predicted
    class. If a hyperplane separates the classes with margin γ and all rows lie within radius R, there are at
    most (R / γ)² mistakes (Novikoff), however many rows there are.

    {parameters}

    Examples
    --------
    >>> import weigh
    >>> table = {"x": [0, 0, 1, 1], "y": [0, 1, 0, 1], "both": ["no", "no", "no", "yes"]}
    >>> p = weigh.Perceptron(keep="last", shuffle=False).fit(table, "both")
    >>> p.predict({"x": 1, "y": 1})
    array(['yes'], dtype='<U3')
    >>> p.coef_, p.intercept_, p.mistakes_, p.converged_
    (array([[2., 1.]]), array([-3.]), 11, True)
    """

    _table = PERCEPTRON

    _failed_checks: ClassVar[dict[str, str]] = SAMPLE_WEIGHT_CHECKS

    def __init__(
        self,
        keep: str = "averaged",
        record: bool = False,
        margin: float = 0.0,
        relative: bool = False,
        rate: float = 1.0,
        max_iter: int | None = 20,
        shuffle: bool = True,
        random_state: Any = 0,
        multiclass: str = "joint",
        bias: bool = True,
        scale: str | None = "auto",
        class_weight: Any = None,
        warm_start: bool = False,
        columns: Any = "auto",
        missing: Any = (),
        mixing: str | None = None,
    ) -> None:
        self.keep = keep
        self.record = record
        self.margin = margin
        self.relative = relative
        self.rate = rate
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.multiclass = multiclass
        self.bias = bias
        self.scale = scale
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.columns = columns
        self.missing = missing
        self.mixing = mixing

    def _online_task(self, source: Source, before: Any, *, is_batch: bool = False) -> PerceptronTask:
        """Return the task for a source or a batch; with a training to continue, it keeps its schema."""
        parameters = self._parameters() | {"random_state": self._resolve_seed()}
        parameters = self._continue_from(before, parameters)
        return PerceptronTask.for_source(source, is_batch=is_batch, **parameters)

    def infer_columns(self, X: Any, y: Any = None) -> dict[str, Any]:
        """Return parameters that state the kinds of the columns which `fit` would infer from these rows."""
        return self._infer_online_columns(self._source(X, y, None, self._missing_markers()))

    @serialised
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, label: str | None = None) -> Self:
        """Fit the model; y is one label per row, or y or `label` is the name of the label column."""
        y = self._labels(y, label)
        source, before = self._source(X, y, sample_weight, self._missing_markers()), self._training
        self._fit_online(source, before.copy() if self.warm_start and before is not None else None)
        return self

    @serialised
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        label: str | None = None,
    ) -> Self:
        """Make one pass over further rows in their order; `classes` declares all classes.

        Without `classes`, later calls may add new ones, whose weights start at zero. The vocabulary and the
        idf of weighted text are those of the first call.
        """
        self._partial_fit_online(X, y, classes, sample_weight, label)
        return self

    @property
    def certificate_(self) -> Certificate:
        """Mistakes, radius and, if training converged, the margin of the last hyperplane."""
        check_is_fitted(self)
        certificate: Certificate = self.model_.certificate
        return certificate

    @property
    def mistakes_(self) -> int:
        """The number of mistakes during training; for one-vs-rest, of rows that any class got wrong."""
        return self.certificate_.mistakes

    @property
    def converged_(self) -> bool:
        """Whether the last pass changed nothing, so that the last hyperplane separates the rows."""
        return self.certificate_.converged

    @property
    def n_iter_(self) -> int:
        """The number of passes."""
        return self.certificate_.passes

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags
