"""The perceptron as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from weigh.estimators.online import SAMPLE_WEIGHT_CHECKS, OnlineClassifier
from weigh.learn import PerceptronTask, PerceptronTraining
from weigh.model import Certificate, PerceptronModel
from weigh.source import Source
from weigh.source.missing import to_markers


class Perceptron(OnlineClassifier):
    """The perceptron over any columns: last, averaged, voted or lazy, with margin and certificate.

    Rows go by, one after the other; a row that is predicted wrongly is added to the weights of its
    class and taken from those of the class it was mistaken for. If some plane separates the classes
    with margin γ, there are at most (R / γ)² mistakes, however many rows there are.

    Parameters
    ----------
    keep : "averaged", "last", "voted" or "lazy"
        Which hypothesis of the run predicts: the mean of the weights over all examples, the last
        ones, all of them by vote, or the mean of those that followed an error.
    record : keep the mistaken rows, so that ``model_.keep("voted")`` and the others come from this one
        run; "voted" does so anyway.
    margin : number
        A row that is right by less is learned too (the thick separator); `relative=True` gives it in
        lengths of the weight vector.
    rate : number
        What a mistaken row is multiplied with; without margin it changes no prediction.
    max_iter : passes at most; fewer if one changes nothing.
    shuffle, random_state : whether rows are shuffled before every pass, and by which seed.
    multiclass : "joint" or "one-vs-rest"
        Several classes: all weight vectors against each other, or each by itself.
    bias : whether the planes may miss the origin.
    scale : None or "unit"
        "unit" learns numbers centred and in standard deviations; the weights are told for the numbers
        as they are.
    class_weight : None, "balanced" or a mapping from class to weight
    warm_start : whether `fit` goes on from the weights there are.
    columns : "auto", a kind for all columns, a mapping from names to kinds, or a schema
        Categories have one feature per level, two-valued ones a single feature.
        ``weigh.Products(2)`` adds products.
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

    _training_state: PerceptronTraining

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
        """Return the task for a source; one that goes on keeps the columns it has."""
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
        """Learn from labelled rows; y is one label per row or the name of the label column."""
        source = self._source(X, y, sample_weight, to_markers(self.missing, type(self).__name__))
        self._fit_online(
            source,
            self._training_state.copy() if self.warm_start and hasattr(self, "_training_state") else None,
        )
        return self

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go once through more rows, in their order; `classes` names all classes there will be.

        Without `classes` later calls may bring new ones, whose weights begin at zero then.
        """
        self._partial_fit_online(X, y, classes, sample_weight)
        return self

    @property
    def model_(self) -> PerceptronModel:
        """The model of the run as it stands, made when it is first asked for."""
        check_is_fitted(self)
        return self._training_state.model()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_training_state")

    @property
    def certificate_(self) -> Certificate:
        """Mistakes, radius and, if the run converged, the margin of the last plane."""
        check_is_fitted(self)
        certificate: Certificate = self.model_.certificate
        return certificate

    @property
    def mistakes_(self) -> int:
        """How many rows were predicted wrongly while learning; of one-vs-rest, wrongly by some class."""
        return self.certificate_.mistakes

    @property
    def converged_(self) -> bool:
        """Whether the last pass changed nothing: the last plane separates the rows."""
        return self.certificate_.converged

    @property
    def n_iter_(self) -> int:
        """How many passes were made."""
        return self.certificate_.passes

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags
