"""The perceptron as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from weigh.estimators.online import SAMPLE_WEIGHT_CHECKS, OnlineClassifier
from weigh.learn.perceptron import PerceptronTask, PerceptronTraining
from weigh.model.fit import Certificate
from weigh.model.perceptron import PerceptronModel
from weigh.source.base import Source
from weigh.source.missing import to_markers


class Perceptron(OnlineClassifier):
    """Perceptron over mixed columns: last, averaged, voted or lazy, with margin and certificate.

    A misclassified row is added to the weights of its class and subtracted from the weights of the predicted
    class. If a hyperplane separates the classes with margin γ and all rows lie within radius R, there are at
    most (R / γ)² mistakes (Novikoff), however many rows there are.

    Parameters
    ----------
    keep : "averaged", "last", "voted" or "lazy"
        The hypothesis that predicts: the mean of the weights over all examples, the last weights, the vote of
        all weights, or the mean of the weights after each update.
    record : keep the misclassified rows, so that ``model_.keep("voted")`` and the others are available from
        one training; "voted" implies it.
    margin : number
        Also update for rows that are correct by less than the margin (thick separator); with `relative=True`,
        in units of the length of the weight vector.
    rate : number
        The step size; without a margin it changes no prediction.
    max_iter : maximum number of passes; fewer if one changes nothing.
    shuffle, random_state : whether rows are shuffled before each pass, and the seed.
    multiclass : "joint" or "one-vs-rest"
        Train the weight vectors of several classes against each other, or each separately.
    bias : whether to fit an intercept.
    scale : None or "unit"
        With "unit", numbers are standardised for training; the weights are reported in the original units.
    class_weight : None, "balanced" or a mapping from class to weight
    warm_start : whether `fit` continues from the current weights.
    columns : "auto", a kind for all columns, a mapping from names to kinds, or a schema
        Categories have one feature per level, two-valued ones a single feature.
        ``weigh.Products(2)`` adds products of columns.
    missing : values that mean "missing", such as ``["?"]``; None and NaN always do.

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

    _failed_checks: ClassVar[dict[str, str]] = SAMPLE_WEIGHT_CHECKS

    _training: PerceptronTraining

    def __init__(
        self,
        keep: str = "averaged",
        record: bool = False,
        margin: float = 0.0,
        relative: bool = False,
        rate: float = 1.0,
        max_iter: int = 20,
        shuffle: bool = True,
        random_state: Any = 0,
        multiclass: str = "joint",
        bias: bool = True,
        scale: str | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        columns: Any = "auto",
        missing: Any = (),
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

    def _online_task(self, source: Source, before: Any) -> PerceptronTask:
        """Return the task for a source; with a training to continue, it keeps its schema."""
        self._check_unchanged_columns(before)
        return PerceptronTask.for_source(
            source,
            self.columns if before is None else before.schema,
            keep=self.keep,
            record=self.record,
            margin=self.margin,
            relative=self.relative,
            rate=self.rate,
            max_iter=self.max_iter,
            shuffle=self.shuffle,
            random_state=self._resolve_seed(),
            multiclass=self.multiclass,
            bias=self.bias,
            scale=self.scale if before is None else None,
            class_weight=self.class_weight,
            missing=to_markers(self.missing, type(self).__name__),
        )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model; y is one label per row or the name of the label column."""
        source = self._source(X, y, sample_weight, to_markers(self.missing, type(self).__name__))
        self._fit_online(
            source,
            self._training.copy() if self.warm_start and hasattr(self, "_training") else None,
        )
        return self

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Make one pass over further rows in their order; `classes` declares all classes.

        Without `classes`, later calls may add new ones, whose weights start at zero.
        """
        self._partial_fit_online(X, y, classes, sample_weight)
        return self

    @property
    def model_(self) -> PerceptronModel:
        """The model of the current weights, built on first access."""
        check_is_fitted(self)
        return self._training.model()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_training")

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
