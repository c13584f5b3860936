"""`path`: the weights of a regression for every strength of its prior."""

from __future__ import annotations

from typing import Any

from weigh import errors
from weigh.estimators.linear_regression import LinearRegression
from weigh.estimators.logistic_regression import LogisticRegression
from weigh.learn.regress.path_result import Path, checked_path, path_of

__all__ = ["Path", "path"]


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
    """Fit a regression for n strengths of its prior, each fit beginning where the last one ended.

    Parameters
    ----------
    learner : a LinearRegression or LogisticRegression with a prior; it stays as it is
        The prior says which path: Normal is ridge, Laplace lasso, Penalty(l1, l2) an elastic net in which
        both keep their ratio. Its own scale does not matter.
    X, y : rows as `fit` takes them
    n : how many strengths
    ratio : with l1, the weakest penalty as a share of the least that leaves no weight
    folds : judge every strength by cross-validation over so many folds
    sample_weight : the weight of every row

    Examples
    --------
    >>> import weigh
    >>> rows = {"a": [1.0, 2, 3, 4], "b": [1.0, -1, 1, -1], "y": [1.0, 2.1, 2.9, 4.2]}
    >>> found = weigh.path(weigh.LinearRegression(weigh.Laplace(1)), rows, "y", n=4)
    >>> found.counts.tolist()
    [0, 1, 1, 2]
    """
    if not isinstance(learner, LinearRegression | LogisticRegression):
        raise errors.parameter("path", "learner", "a LinearRegression or LogisticRegression", learner)
    numbers = checked_path(n, ratio, folds)
    source = learner._rows(X, y, sample_weight)
    return path_of(learner._task(source), source, *numbers)
