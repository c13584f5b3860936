"""The regressions as scikit-learn estimators: LogisticRegression and LinearRegression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from weigh import errors
from weigh.advice import Setting
from weigh.engines import run
from weigh.estimators.base import (
    BaseLearner,
    ProbabilisticClassifier,
    count_columns,
    serialised,
    to_finite_column,
)
from weigh.estimators.online import SAMPLE_WEIGHT_CHECKS, OnlineClassifier
from weigh.features.blocks import Floats
from weigh.learn.chunk_encoder import numeric_targets
from weigh.learn.linear_regression import LinearTask
from weigh.learn.logistic_regression import LogisticTask
from weigh.learn.sgd import OnlineLogisticTask
from weigh.model.fit import Optimality
from weigh.model.inference import Posterior, Summary
from weigh.model.regression import RegressionModel
from weigh.model.scorecard import Scorecard
from weigh.parameters.learners import LINEAR_REGRESSION, LOGISTIC_REGRESSION
from weigh.source.base import Source
from weigh.source.memory.table import check_weights
from weigh.source.memory.table import rows as rows_of

CURVE_CHECKS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "the cells and strengths of curves are chosen by the number of rows, whatever their weights"
    )
}


class InferenceMixin:
    """An estimator whose model has a certificate, a posterior and a summary."""

    model_: Any

    @property
    def certificate_(self) -> Optimality:
        """A bound on how far the objective is above its minimum."""
        check_is_fitted(self)
        certificate: Optimality | None = self.model_.certificate
        if certificate is None:
            raise errors.Unsupported(
                "Online learning has no certificate.",
                hint=("Use ", Setting("method", "exact"), " to get one."),
            )
        return certificate

    @property
    def posterior_(self) -> Posterior:
        """The posterior mean and covariance of the weights under a Normal prior or none.

        For logistic regression by Laplace approximation, with two classes only.
        """
        check_is_fitted(self)
        posterior: Posterior = self.model_.posterior
        return posterior

    def summary(
        self,
        level: float = 0.95,
        *,
        data: Any = None,
        y: Any = None,
        weights: Any = None,
        errors: str | None = None,
        groups: Any = None,
    ) -> Summary:
        """Return weights with standard errors and intervals, noise, and equivalent penalties elsewhere.

        `errors="hc3"` allows the variance to differ between rows; `errors="clustered"` allows rows of the
        same group to be correlated, with one value of `groups` per row. Both need the training rows, and
        their weights if they had any: `data`, `y` and `weights`.
        """
        check_is_fitted(self)
        rows = {"data": data, "y": y, "weights": weights, "errors": errors, "groups": groups}
        summary: Summary = self.model_.summary(level, **rows)
        return summary


def _is_online(estimator: Any) -> bool:
    return bool(estimator.method == "online")


class LogisticRegression(InferenceMixin, OnlineClassifier, ProbabilisticClassifier):
    """Logistic regression over mixed columns: maximum a posteriori weights under a prior.

    The log-odds of two classes are a weighted sum of the features; for more classes the probabilities are the
    softmax of one such sum per class. The objective is

        Σ log loss + l1 Σ |w| + ½ l2 Σ w²,

    where l2 = 1/s² for Normal(s), so that s² is scikit-learn's C, and l1 = 1/t for Laplace(t). The bias is
    not penalised. Every exact fit has a `certificate_` of optimality.

    {parameters}

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

    _table = LOGISTIC_REGRESSION

    @property
    def _failed_checks(self) -> dict[str, str]:
        if self.method == "online":
            return SAMPLE_WEIGHT_CHECKS
        return {} if self.curves is None else CURVE_CHECKS

    def __init__(
        self,
        prior: Any = "auto",
        method: str = "exact",
        bias: bool = True,
        scale: str | None = "auto",
        offset: str | None = None,
        curves: str | None = None,
        pairs: Any = None,
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
        self.curves = curves
        self.pairs = pairs
        self.class_weight = class_weight
        self.folds = folds
        self.tol = tol
        self.max_iter = max_iter
        self.rate = rate
        self.shuffle = shuffle
        self.random_state = random_state
        self.columns = columns
        self.missing = missing

    def infer_columns(self, X: Any, y: Any = None) -> dict[str, Any]:
        """Return parameters that state the kinds of the columns which `fit` would infer from these rows."""
        source = self._labelled_source(X, y)
        if self._is_online():
            return self._infer_online_columns(source)
        return {"columns": self._task(source).schema}

    @serialised
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, label: str | None = None) -> Self:
        """Fit the model; y is one label per row, or y or `label` is the name of the label column."""
        y = self._labels(y, label)
        source = self._labelled_source(X, y, sample_weight)
        if self._is_online():
            self._require_no_curves()
            self._fit_online(source)
            return self
        model = run(self._task(source), source)
        self._warn_of_labels(source, model.schema, model.labels)
        self._set_fitted_attributes(source, _fitted=model, classes_=model.labels)
        return self

    @available_if(_is_online)  # type: ignore[untyped-decorator]
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
        self._require_no_curves()
        self._partial_fit_online(X, y, classes, sample_weight, label)
        return self

    def _require_no_curves(self) -> None:
        for name in ("curves", "pairs"):
            if getattr(self, name) is not None:
                raise errors.ParameterError(
                    f"LogisticRegression: {name} needs method='exact', but the method is 'online'.",
                    hint=("Use ", Setting("method", "exact"), " or ", Setting(name, None), "."),
                )

    def scorecard(self, points: float = 20, odds: float = 2) -> Scorecard:
        """Return whole points for every range, level and flag; `points` points multiply the odds by `odds`.

        It needs two classes, and curves (`curves="auto"`) in place of straight lines.
        """
        check_is_fitted(self)
        card: Scorecard = self.model_.scorecard(points, odds)
        return card

    def _is_online(self) -> bool:
        return bool(self._table.check_value("method", self.method) == "online")

    def _labelled_source(self, X: Any, y: Any, sample_weight: Any = None) -> Source:
        return self._source(X, y, sample_weight, self._missing_markers())

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters of the method; the others have no effect."""
        return {name: getattr(self, name) for name in self._table.for_method(self.method).names}

    def _task(self, source: Source) -> LogisticTask:
        return LogisticTask.for_source(source, **self._parameters())

    def _online_task(self, source: Source, before: Any, *, is_batch: bool = False) -> OnlineLogisticTask:
        parameters = self._parameters() | {"random_state": self._resolve_seed()}
        return OnlineLogisticTask.for_source(source, **self._continue_from(before, parameters))

    @property
    def n_iter_(self) -> int:
        """The number of solver iterations."""
        check_is_fitted(self)
        training = self._training
        return self.certificate_.iterations if training is None else int(training.state.passes)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        tags.input_tags.sparse = self.curves is None or self.method == "online"
        return tags


class LinearRegression(InferenceMixin, RegressorMixin, BaseLearner):
    """Linear regression over mixed columns; noise and prior determine the objective.

    Normal noise gives squared loss, Laplace noise absolute loss. A Normal prior gives ridge, a Laplace prior
    lasso, ``Penalty(l1, l2)`` an elastic net. With squared loss the objective is

        ½ Σ (y − w·x − b)² + l1 Σ |w| + ½ l2 Σ w²,

    where l2 = σ²/γ² for Normal(γ), l1 = σ²/τ for Laplace(τ), and σ is the standard deviation of the noise.
    The bias b is not penalised. Every fit has a `certificate_` of optimality.

    {parameters}

    Examples
    --------
    >>> import weigh
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 3.0, 5.0, 7.0]}
    >>> line = weigh.LinearRegression().fit(table, "y")
    >>> line.predict({"x": 4.0}).round(6)
    array([9.])
    """

    _table = LINEAR_REGRESSION

    model_: RegressionModel

    @property
    def _failed_checks(self) -> dict[str, str]:
        return {} if self.curves is None else CURVE_CHECKS

    def __init__(
        self,
        prior: Any = None,
        noise: Any = "normal",
        bias: bool = True,
        scale: str | None = "auto",
        offset: str | None = None,
        curves: str | None = None,
        pairs: Any = None,
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
        self.curves = curves
        self.pairs = pairs
        self.folds = folds
        self.tol = tol
        self.max_iter = max_iter
        self.columns = columns
        self.missing = missing

    def infer_columns(self, X: Any, y: Any = None) -> dict[str, Any]:
        """Return parameters that state the kinds of the columns which `fit` would infer from these rows."""
        return {"columns": self._task(self._labelled_source(X, y)).schema}

    @serialised
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, label: str | None = None) -> Self:
        """Fit the model; y is one number per row, or y or `label` is the name of the label column."""
        y = self._labels(y, label)
        source = self._labelled_source(X, y, sample_weight)
        self._set_fitted_attributes(source, model_=run(self._task(source), source))
        return self

    def _labelled_source(self, X: Any, y: Any, sample_weight: Any = None) -> Source:
        self._check_labels_given(X, y, "number")
        if y is not None and not isinstance(y, str):
            y = _check_targets(y)
        return rows_of(X, y, sample_weight, missing=self._missing_markers())

    def _task(self, source: Source) -> LinearTask:
        return LinearTask.for_source(source, **self._parameters())

    def predict(self, X: Any, return_std: bool = False, *, reasons: int = 0) -> Any:
        """Return one number per row, with `return_std` also the predictive standard deviations.

        For a Dask or Spark frame they are a lazy table of that engine, with the strongest `reasons`.
        """
        check_is_fitted(self)
        return self.model_.predict(X, return_std, reasons=reasons)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, label: str | None = None) -> float:
        """Return R², the explained fraction of the variance; y or `label` may name the label column."""
        check_is_fitted(self)
        model, y = self.model_, self._labels(y, label)
        source = self._labelled_source(X, model.label if y is None else y).with_storage(model.storage)
        model.schema.align_source(source, type(self).__name__)
        pairs = [(numeric_targets(chunk), model.predict(chunk)) for chunk in model.schema.chunks(source)]
        truth, predicted = (np.concatenate(arrays) for arrays in zip(*pairs, strict=True))
        weights = check_weights(sample_weight, len(truth))
        weights = np.ones(len(truth)) if weights is None else weights
        residual = float(weights @ np.square(truth - predicted))
        total = float(weights @ np.square(truth - np.average(truth, weights=weights)))
        return 1.0 - residual / total if total else float(residual == 0)

    @property
    def coef_(self) -> Floats:
        """The weights, one per feature."""
        check_is_fitted(self)
        return self.model_.coef

    @property
    def intercept_(self) -> float:
        """The prediction when all features are zero."""
        check_is_fitted(self)
        return self.model_.intercept

    @property
    def n_iter_(self) -> int:
        """The number of solver iterations."""
        return self.certificate_.iterations

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.curves is None
        return tags


def _check_targets(y: Any) -> Any:
    """Return the targets as one column; raise LabelError for several per row and for non-finite ones."""
    n_columns = count_columns(y)
    if n_columns > 1:
        raise errors.LabelError(
            f"y has {n_columns} columns, but a regression predicts one number per row. Train one model per "
            f"column: [weigh.LinearRegression().fit(X, y[:, j]) for j in range({n_columns})]."
        )
    return to_finite_column(y)
