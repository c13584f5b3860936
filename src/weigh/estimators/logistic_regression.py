"""Logistic regression as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from weigh import errors
from weigh.engines import run
from weigh.estimators.coursed import UNWEIGHTED, Coursed
from weigh.estimators.inferred import Inferred
from weigh.estimators.probable import Probable
from weigh.learn.online_logistic import OnlineLogisticTask, online_penalty
from weigh.learn.regress.logistic_task import LogisticTask
from weigh.model import LogisticModel
from weigh.source import Source
from weigh.source.missing import marker_list

METHODS = ("exact", "online")
EXACT = ("prior", "bias", "scale", "offset", "class_weight", "folds", "tol", "max_iter")
ONLINE = ("bias", "scale", "class_weight", "tol", "max_iter", "rate", "shuffle")
LEFT_OUT = ("tol", "max_iter")


def _is_online(estimator: Any) -> bool:
    return bool(estimator.method == "online")


class LogisticRegression(Inferred, Coursed, Probable):
    """Logistic regression over any columns: the most probable weights under a prior.

    The log-odds of two classes, or the scores whose softmax the probabilities of more are, are sums of
    weighted features. The minimised sum is

        Σ log loss + l1 Σ |w| + ½ l2 Σ w²,

    where l2 = 1/s² for Normal(s), so that s² is scikit-learn's C, and l1 = 1/t for Laplace(t). The bias is
    not penalised. Every exact fit comes with the proof that it is optimal, `certificate_`.

    Parameters
    ----------
    prior : a number s (Normal(s)), Normal, Laplace, Penalty or None, or a mapping from column to one
        Columns that a mapping does not name have Normal(1). ``Normal("cv")`` and ``Laplace("cv")`` choose the
        scale by cross-validation. ``Normal(0.3, mean=older_model)`` expects the weights where an older model
        has them.
    method : "exact" or "online"
        "exact" finds the minimum; "online" goes through the rows one after the other, w ← w + ε (y − p) x,
        which takes files of any size and `partial_fit`.
    bias : whether the log-odds may be other than zero when all features are zero.
    scale : None or "unit"
        "unit" lets the prior see numbers in standard deviations; the weights are told for numbers as they
        are.
    offset : name of a column that is added to the log-odds as it is, with the weight one.
    class_weight : None, "balanced" or a mapping from class to weight
    folds : parts for cross-validation; the rows of every class are dealt out in turn.
    tol : the largest gap to the minimum, as a share of the objective without features, 1e-6 if left out;
        online: the least fall of the loss from pass to pass, as a share of it, 1e-3 if left out; 0 goes on
        for `max_iter` passes.
    max_iter : iterations of the solver at most, 1,000 if left out; online: passes, 20 if left out.
    rate : "safe", or the number ε of the plain update; online only.
    shuffle, random_state : whether rows are shuffled before every pass, and by which seed; online only.
    columns : "auto", a kind for all columns, a mapping from names to kinds, or a schema
    missing : values that mean "missing", such as ``["?"]``; None and NaN always do. Missing numbers count as
        zero, of which exact fits warn.

    Examples
    --------
    >>> import weigh
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "late": ["no", "no", "yes", "no", "yes", "yes"]}
    >>> model = weigh.LogisticRegression().fit(table, "late")
    >>> model.predict({"x": 5.0})
    array(['yes'], dtype='<U3')
    >>> model.certificate_.converged
    True
    """

    @property
    def _failed_checks(self) -> dict[str, str]:
        return UNWEIGHTED if self.method == "online" else {}

    def __init__(
        self,
        prior: Any = 1.0,
        method: str = "exact",
        bias: bool = True,
        scale: str | None = None,
        offset: str | None = None,
        class_weight: Any = None,
        folds: int = 5,
        tol: float | None = None,
        max_iter: int | None = None,
        rate: Any = "safe",
        shuffle: bool = True,
        random_state: Any = 0,
        columns: Any = "auto",
        missing: Any = (),
    ) -> None:
        self.prior = prior
        self.method = method
        self.bias = bias
        self.scale = scale
        self.offset = offset
        self.class_weight = class_weight
        self.folds = folds
        self.tol = tol
        self.max_iter = max_iter
        self.rate = rate
        self.shuffle = shuffle
        self.random_state = random_state
        self.columns = columns
        self.missing = missing

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from labelled rows; y is one label per row or the name of the label column."""
        source = self._rows(X, y, sample_weight)
        if self._is_online():
            self._begin(source)
            self.__dict__.pop("_exact", None)
            return self
        self._exact = run(self._task(source), source)
        self.__dict__.pop("_course", None)
        self._remember(source)
        return self

    @available_if(_is_online)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go once through more rows, in their order; `classes` names all classes there will be.

        Without `classes` later calls may bring new ones, whose weights begin at zero then.
        """
        self._go_on(X, y, classes, sample_weight)
        self.__dict__.pop("_exact", None)
        return self

    def _is_online(self) -> bool:
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise errors.parameter(type(self).__name__, "method", "'exact' or 'online'", self.method)
        return self.method == "online"

    def _rows(self, X: Any, y: Any, sample_weight: Any = None) -> Source:
        return self._source(X, y, sample_weight, marker_list(self.missing, type(self).__name__))

    def _settings(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the parameters of a task that were given."""
        given = {name: getattr(self, name) for name in names}
        found = {name: value for name, value in given.items() if value is not None or name not in LEFT_OUT}
        if self._is_online() and found.get("tol") == 0:
            found["tol"] = None
        return found | {"missing": marker_list(self.missing, type(self).__name__)}

    def _task(self, source: Source) -> LogisticTask:
        return LogisticTask.over(source, self.columns, **self._settings(EXACT))

    def _course_task(self, source: Source, before: Any) -> OnlineLogisticTask:
        self._check_going_on(before)
        settings = self._settings(ONLINE)
        settings |= {"l2": online_penalty(self.prior, self.offset), "random_state": self._seed()}
        if before is not None:
            settings["scale"] = None
        return OnlineLogisticTask.over(source, self.columns if before is None else before.schema, **settings)

    def _labels(self) -> Any:
        return super()._labels() if hasattr(self, "_course") else self._exact.labels

    @property
    def model_(self) -> LogisticModel:
        """The model: it predicts, explains and is saved without scikit-learn."""
        check_is_fitted(self)
        model: LogisticModel = self._exact if hasattr(self, "_exact") else self._course.model()
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_exact") or hasattr(self, "_course")

    @property
    def n_iter_(self) -> int:
        """How many iterations the solver made."""
        check_is_fitted(self)
        return int(self._course.run.passes) if hasattr(self, "_course") else self.certificate_.iterations

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags
