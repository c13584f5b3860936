"""Logistic regression as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from weigh import errors
from weigh.engines import run
from weigh.estimators.base import BaseLearner, ProbabilisticClassifier
from weigh.estimators.online import SAMPLE_WEIGHT_CHECKS, OnlineClassifier
from weigh.features.blocks import Floats
from weigh.learn.dataset import numeric_targets
from weigh.learn.linear_regression import LinearTask
from weigh.learn.logistic_regression import LogisticTask
from weigh.learn.sgd import OnlineLogisticTask, online_penalty
from weigh.model import LogisticModel, Optimality, Posterior, RegressionModel
from weigh.model.inference import Summary
from weigh.source import Source
from weigh.source import rows as rows_of
from weigh.source.memory.table import check_weights
from weigh.source.missing import to_markers


class InferenceMixin:
    """An estimator whose model has a certificate, a posterior and a summary."""

    model_: Any

    @property
    def certificate_(self) -> Optimality:
        """The proof: how far the objective can be above its minimum."""
        check_is_fitted(self)
        certificate: Optimality | None = self.model_.certificate
        if certificate is None:
            raise errors.Unsupported("Online learning proves nothing. Use method='exact' for a certificate.")
        return certificate

    @property
    def posterior_(self) -> Posterior:
        """The weights' mean and covariance, with a Normal prior or none.

        Of logistic regression, with two classes, by Laplace's approximation.
        """
        check_is_fitted(self)
        posterior: Posterior = self.model_.posterior
        return posterior

    def summary(self, level: float = 0.95) -> Summary:
        """Return the weights with standard errors and intervals, the noise, the penalties by other names."""
        check_is_fitted(self)
        summary: Summary = self.model_.summary(level)
        return summary


METHODS = ("exact", "online")
EXACT_PARAMETERS = ("prior", "bias", "scale", "offset", "class_weight", "folds", "tol", "max_iter")
ONLINE_PARAMETERS = ("bias", "scale", "class_weight", "tol", "max_iter", "rate", "shuffle")
OPTIONAL_PARAMETERS = ("tol", "max_iter")


def _is_online(estimator: Any) -> bool:
    return bool(estimator.method == "online")


class LogisticRegression(InferenceMixin, OnlineClassifier, ProbabilisticClassifier):
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
        return SAMPLE_WEIGHT_CHECKS if self.method == "online" else {}

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
        source = self._labelled_source(X, y, sample_weight)
        if self._is_online():
            self._fit_online(source)
            self.__dict__.pop("_exact", None)
            return self
        self._exact = run(self._task(source), source)
        self.__dict__.pop("_training_state", None)
        self._set_fitted_attributes(source)
        return self

    @available_if(_is_online)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go once through more rows, in their order; `classes` names all classes there will be.

        Without `classes` later calls may bring new ones, whose weights begin at zero then.
        """
        self._partial_fit_online(X, y, classes, sample_weight)
        self.__dict__.pop("_exact", None)
        return self

    def _is_online(self) -> bool:
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise errors.parameter_error(type(self).__name__, "method", "'exact' or 'online'", self.method)
        return self.method == "online"

    def _labelled_source(self, X: Any, y: Any, sample_weight: Any = None) -> Source:
        return self._source(X, y, sample_weight, to_markers(self.missing, type(self).__name__))

    def _task_parameters(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the parameters of a task that were given."""
        given = {name: getattr(self, name) for name in names}
        found = {
            name: value
            for name, value in given.items()
            if value is not None or name not in OPTIONAL_PARAMETERS
        }
        if self._is_online() and found.get("tol") == 0:
            found["tol"] = None
        return found | {"missing": to_markers(self.missing, type(self).__name__)}

    def _task(self, source: Source) -> LogisticTask:
        return LogisticTask.for_source(source, self.columns, **self._task_parameters(EXACT_PARAMETERS))

    def _online_task(self, source: Source, before: Any) -> OnlineLogisticTask:
        self._check_unchanged_columns(before)
        settings = self._task_parameters(ONLINE_PARAMETERS)
        settings |= {"l2": online_penalty(self.prior, self.offset), "random_state": self._resolve_seed()}
        if before is not None:
            settings["scale"] = None
        return OnlineLogisticTask.for_source(
            source, self.columns if before is None else before.schema, **settings
        )

    def _labels(self) -> Any:
        return super()._labels() if hasattr(self, "_training_state") else self._exact.labels

    @property
    def model_(self) -> LogisticModel:
        """The model: it predicts, explains and is saved without scikit-learn."""
        check_is_fitted(self)
        model: LogisticModel = self._exact if hasattr(self, "_exact") else self._training_state.model()
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_exact") or hasattr(self, "_training_state")

    @property
    def n_iter_(self) -> int:
        """How many iterations the solver made."""
        check_is_fitted(self)
        return (
            int(self._training_state.state.passes)
            if hasattr(self, "_training_state")
            else self.certificate_.iterations
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags


class LinearRegression(InferenceMixin, RegressorMixin, BaseLearner):
    """Linear regression over any columns: noise and prior say what is minimised.

    Normal noise makes the loss squared, Laplace noise absolute. A Normal prior is ridge, a Laplace prior
    lasso, ``Penalty(l1, l2)`` an elastic net: with squared loss the minimised sum is

        ½ Σ (y − w·x − b)² + l1 Σ |w| + ½ l2 Σ w²,

    where l2 = σ²/γ² for Normal(γ) and l1 = σ²/τ for Laplace(τ), σ being the noise's standard deviation. The
    bias b is not penalised. Every fit comes with the proof that it is optimal, `certificate_`.

    Parameters
    ----------
    prior : None, a number γ (Normal(γ)), Normal, Laplace or Penalty, or a mapping from column to one
        Columns that a mapping does not name have none. ``Normal("cv")``, ``Laplace("cv")`` choose the scale
        by cross-validation, ``Normal("evidence")`` by the marginal likelihood.
        ``Normal(0.3, mean=older_model)`` expects the weights where an older model has them.
    noise : "normal", "laplace", Normal(σ) or Laplace(b)
        Without a number σ is estimated, from the residuals of least squares, where a prior needs it.
    bias : whether what is predicted may be other than zero when all features are zero.
    scale : None or "unit"
        "unit" lets the prior see numbers in standard deviations; the weights are told for numbers as they
        are.
    offset : name of a column that is added to the prediction as it is, with the weight one.
    folds : parts, of consecutive rows, for cross-validation; "loo" leaves out one row at a time, by formula,
        to choose the scale of a Normal prior.
    tol : the largest gap to the minimum, as a share of the objective without features.
    max_iter : iterations of the solver at most.
    columns : "auto", a kind for all columns, a mapping from names to kinds, or a schema
        Categories have one feature per level, two-valued ones a single feature.
    missing : values that mean "missing", such as ``["?"]``; None and NaN always do. Missing numbers count as
        zero, with a warning.

    Examples
    --------
    >>> import weigh
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 3.0, 5.0, 7.0]}
    >>> line = weigh.LinearRegression().fit(table, "y")
    >>> line.predict({"x": 4.0}).round(6)
    array([9.])
    """

    model_: RegressionModel

    def __init__(
        self,
        prior: Any = None,
        noise: Any = "normal",
        bias: bool = True,
        scale: str | None = None,
        offset: str | None = None,
        folds: int | str = 5,
        tol: float = 1e-8,
        max_iter: int = 10_000,
        columns: Any = "auto",
        missing: Any = (),
    ) -> None:
        self.prior = prior
        self.noise = noise
        self.bias = bias
        self.scale = scale
        self.offset = offset
        self.folds = folds
        self.tol = tol
        self.max_iter = max_iter
        self.columns = columns
        self.missing = missing

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows with a number each; y is one number per row or the name of the label column."""
        source = self._labelled_source(X, y, sample_weight)
        self.model_ = run(self._task(source), source)
        self._set_fitted_attributes(source)
        return self

    def _labelled_source(self, X: Any, y: Any, sample_weight: Any = None) -> Source:
        self._check_labels_given(X, y, "number")
        if y is not None and not isinstance(y, str):
            y = _check_targets(y)
        return rows_of(X, y, sample_weight, missing=to_markers(self.missing, type(self).__name__))

    def _task(self, source: Source) -> LinearTask:
        given = {name: value for name, value in self.get_params(deep=False).items() if name != "columns"}
        given["missing"] = to_markers(self.missing, type(self).__name__)
        return LinearTask.for_source(source, self.columns, **given)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return one number per row; with `return_std` also the predictive standard deviations."""
        check_is_fitted(self)
        return self.model_.predict(X, return_std)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R², the share of the targets' variance that is predicted; y may be a column's name."""
        check_is_fitted(self)
        label = self.model_.label if y is None else y
        source = self._labelled_source(X, label).with_storage(self.model_.storage)
        pairs = [
            (numeric_targets(chunk), self.model_.predict(chunk)) for chunk in self.schema_.chunks(source)
        ]
        truth, found = (np.concatenate(each) for each in zip(*pairs, strict=True))
        weights = check_weights(sample_weight, len(truth))
        weights = np.ones(len(truth)) if weights is None else weights
        left = float(weights @ np.square(truth - found))
        all_of_it = float(weights @ np.square(truth - np.average(truth, weights=weights)))
        return 1.0 - left / all_of_it if all_of_it else float(left == 0)

    @property
    def coef_(self) -> Floats:
        """The weights, one per feature."""
        check_is_fitted(self)
        return self.model_.coef

    @property
    def intercept_(self) -> float:
        """What is predicted when all features are zero."""
        check_is_fitted(self)
        return self.model_.intercept

    @property
    def n_iter_(self) -> int:
        """How many iterations the solver made."""
        return self.certificate_.iterations


def _check_targets(y: Any) -> Any:
    """Return targets as a column of numbers; several per row are refused."""
    if hasattr(y, "dictionary_encode"):
        return y
    y = y if hasattr(y, "shape") else np.asarray(y)
    if len(y.shape) == 2 and y.shape[1] > 1:
        raise errors.LabelError(
            f"y has {y.shape[1]} columns, several numbers per row; a regression learns one. Train one model "
            f"per column: [weigh.LinearRegression().fit(X, y[:, j]) for j in range({y.shape[1]})]."
        )
    y = column_or_1d(y, warn=True, dtype=None)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        word = "NaN" if np.isnan(y).any() else "infinity"
        raise errors.LabelError(f"Input y contains {word}. Leave such rows out before fitting.")
    return y
