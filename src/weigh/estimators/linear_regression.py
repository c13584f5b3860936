"""Linear regression as a scikit-learn regressor."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from weigh import errors
from weigh.engines import run
from weigh.estimators.inferred import Inferred
from weigh.estimators.learner import Learner
from weigh.features.blocks import Floats
from weigh.learn.measured import measured
from weigh.learn.regress.linear import LinearTask
from weigh.model import RegressionModel
from weigh.source import Source
from weigh.source import rows as rows_of
from weigh.source.missing import marker_list
from weigh.source.table import check_weights


class LinearRegression(Inferred, RegressorMixin, Learner):
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
        source = self._rows(X, y, sample_weight)
        self.model_ = run(self._task(source), source)
        self._remember(source)
        return self

    def _rows(self, X: Any, y: Any, sample_weight: Any = None) -> Source:
        self._require_labels(X, y, "number")
        if y is not None and not isinstance(y, str):
            y = _numbers(y)
        return rows_of(X, y, sample_weight, missing=marker_list(self.missing, type(self).__name__))

    def _task(self, source: Source) -> LinearTask:
        given = {name: value for name, value in self.get_params(deep=False).items() if name != "columns"}
        given["missing"] = marker_list(self.missing, type(self).__name__)
        return LinearTask.over(source, self.columns, **given)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return one number per row; with `return_std` also the predictive standard deviations."""
        check_is_fitted(self)
        return self.model_.predict(X, return_std)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R², the share of the targets' variance that is predicted; y may be a column's name."""
        check_is_fitted(self)
        label = self.model_.label if y is None else y
        source = self._rows(X, label).stored(self.model_.storage)
        pairs = [(measured(chunk), self.model_.predict(chunk)) for chunk in self.schema_.chunks(source)]
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


def _numbers(y: Any) -> Any:
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
