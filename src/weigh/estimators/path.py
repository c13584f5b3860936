"""Regularisation paths of the regressions."""

from __future__ import annotations

from typing import Any

from weigh import errors
from weigh.estimators.linear_model import LinearRegression, LogisticRegression
from weigh.learn.regularisation_path import Path, check_path_parameters, compute_path


def path(
    learner: Any,
    X: Any,
    y: Any = None,
    *,
    n: int = 100,
    ratio: float = 1e-3,
    folds: int | None = None,
    sample_weight: Any = None,
) -> Path:
    """Fit a regression for n penalties, each fit starting from the previous solution.

    Parameters
    ----------
    learner : a LinearRegression or LogisticRegression with a prior; it is not modified
        The type of the prior selects the path: Normal for ridge, Laplace for lasso, Penalty(l1, l2) for an
        elastic net with a fixed ratio of l1 to l2. Its scale does not matter.
    X, y : rows as for `fit`
    n : number of penalties
    ratio : with l1, the smallest penalty relative to the smallest one at which all weights are zero
    folds : if given, the number of folds to cross-validate every penalty with
    sample_weight : array of weights, one per row, or None

    Examples
    --------
    >>> import weigh
    >>> rows = {"a": [1.0, 2, 3, 4], "b": [1.0, -1, 1, -1], "y": [1.0, 2.1, 2.9, 4.2]}
    >>> lasso = weigh.path(weigh.LinearRegression(weigh.Laplace(1)), rows, "y", n=4)
    >>> lasso.counts.tolist()
    [0, 1, 1, 2]
    """
    if not isinstance(learner, LinearRegression | LogisticRegression):
        raise errors.parameter_error("path", "learner", "a LinearRegression or LogisticRegression", learner)
    n, ratio, folds = check_path_parameters(n, ratio, folds)
    source = learner._labelled_source(X, y, sample_weight)
    return compute_path(learner._task(source), source, n, ratio, folds)
