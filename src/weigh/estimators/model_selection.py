"""Hyperparameter search on held-out rows (`tune`) and regularisation paths (`path`)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils import _safe_indexing

from weigh import errors
from weigh.estimators.base import fix_schema
from weigh.estimators.linear_model import LinearRegression, LogisticRegression
from weigh.estimators.perceptron import Perceptron
from weigh.learn.holdout import evaluate_on_holdout
from weigh.learn.perceptron import PerceptronTask
from weigh.learn.regularisation_path import Path, check_path_parameters, compute_path
from weigh.parameters import check_finite, check_integer
from weigh.pictures import line_chart
from weigh.result import Section, Table, TabularResult
from weigh.source.base import Source
from weigh.source.memory.columns import base_type_names
from weigh.source.memory.matrices import is_sparse
from weigh.source.memory.sparse_layout import to_csr
from weigh.source.memory.table import rows as rows_of
from weigh.source.missing import to_markers
from weigh.source.selected_rows import SelectedRows
from weigh.text import truncate

MAX_SHOWN_ROWS = 30


@dataclass(frozen=True)
class TuningCandidate:
    """One combination of parameters and its accuracy, or R² of a regression, on the held-out rows."""

    settings: Mapping[str, Any]
    accuracy: float


@dataclass(frozen=True, repr=False)
class TuningResult(TabularResult):
    """The result of `tune`: all trials, best first, and the best `learner` trained on all rows."""

    trials: tuple[TuningCandidate, ...]
    learner: Any
    held_out: float
    _frames = ("trials",)

    @property
    def best(self) -> dict[str, Any]:
        """The best parameters; ties go to the first that was tried."""
        return dict(self.trials[0].settings)

    def to_dict(self) -> dict[str, Any]:
        """Return all values as JSON types."""
        name = "r2" if is_regressor(self.learner) else "accuracy"
        return {
            "best": {name: _to_plain(value) for name, value in self.best.items()},
            "held_out": self.held_out,
            "trials": [
                {"settings": {k: _to_plain(v) for k, v in trial.settings.items()}, name: trial.accuracy}
                for trial in self.trials
            ],
        }

    def plot(self) -> Any:
        """Plot the accuracy against the parameter with the most numbers, one line per other setting."""
        tried = {name: {trial.settings[name] for trial in self.trials} for name in self.best}
        numbers = {name: list(filter(_is_number, values)) for name, values in tried.items()}
        measure = self._measure
        x_name = max(numbers, key=lambda name: len(numbers[name]))
        if len(numbers[x_name]) < 2:
            raise errors.Unsupported("A plot needs a parameter for which several numbers were tried.")
        rows = [
            {
                "series": ", ".join(f"{k} {v}" for k, v in trial.settings.items() if k != x_name) or measure,
                "x": trial.settings[x_name],
                "y": trial.accuracy,
            }
            for trial in self.trials
            if _is_number(trial.settings[x_name])
        ]
        rows.sort(key=lambda row: (row["series"], row["x"]))
        return line_chart(rows, x=x_name, y=f"{measure} on held-out rows")

    @property
    def _measure(self) -> str:
        return "R²" if is_regressor(self.learner) else "accuracy"

    @property
    def headline(self) -> str:
        """The number of settings and the share of the rows held out."""
        title = f"{len(self.trials):,} settings of {type(self.learner).__name__}, best first"
        return f"{title} ({self.held_out:.0%} of the rows held out)"

    def sections(self) -> list[Section]:
        """Return the best trials."""
        header = [*self.trials[0].settings, self._measure]
        rows = [
            [*map(_format_value, trial.settings.values()), f"{trial.accuracy:.4f}"] for trial in self.trials
        ]
        return [Section("trials", [Table([header, *rows], indent="  ", most=MAX_SHOWN_ROWS)])]


def tune(
    learner: Any,
    grid: Mapping[str, Iterable[Any]],
    X: Any,
    y: Any = None,
    *,
    validation: float = 0.25,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> TuningResult:
    """Score all combinations of parameters on held-out rows and train the best on all rows.

    Perceptrons with the same columns are trained side by side while the rows are read once; those that differ
    only in `max_iter` share one training, scored after several passes. Other learners are trained one by one.
    The kinds of the columns are inferred from all rows.

    Parameters
    ----------
    learner : an estimator; it is not modified
    grid : mapping from a parameter to the values to try, such as ``{"margin": [0, 0.1, 1]}``
    X, y : rows as for `fit`
    validation : the fraction of the rows to hold out
    random_state : seed that selects the held-out rows
    progress : called with the number of scored combinations and the total

    Examples
    --------
    >>> import weigh
    >>> rows = {"x": [k % 90 / 9 for k in range(900)], "big": [str(k % 90 > 60) for k in range(900)]}
    >>> weigh.tune(weigh.Perceptron(), {"max_iter": [1, 10]}, rows, "big").best
    {'max_iter': 10}
    """
    combinations = _grid_combinations(learner, grid)
    fraction = check_finite("tune", "validation", validation, "a share between 0 and 1")
    if not 0 < fraction < 1:
        raise errors.parameter_error("tune", "validation", "a share between 0 and 1", validation)
    seed = check_integer("tune", "random_state", random_state, 0)
    score = _score_perceptrons if isinstance(learner, Perceptron) else _score_by_refitting
    report = progress or _ignore_progress
    report(0, len(combinations))
    accuracies = score(learner, combinations, X, y, fraction, seed, report)
    trials = [TuningCandidate(settings, a) for settings, a in zip(combinations, accuracies, strict=True)]
    trials.sort(key=lambda trial: -trial.accuracy)
    best = clone(learner).set_params(**trials[0].settings)
    return TuningResult(tuple(trials), best.fit(X, y), fraction)


def _ignore_progress(done: int, total: int) -> None:
    """Show nothing."""


def _grid_combinations(learner: Any, grid: Any) -> list[dict[str, Any]]:
    constraint = "a mapping from parameters to lists of values"
    if not isinstance(grid, Mapping) or not grid:
        raise errors.parameter_error("tune", "grid", constraint, grid)
    if isinstance(learner, type) or not hasattr(learner, "get_params"):
        raise errors.parameter_error("tune", "learner", "an estimator, such as weigh.Perceptron()", learner)
    params = learner.get_params()
    values_by_name: dict[str, list[Any]] = {}
    for name, values in grid.items():
        if name not in params:
            raise errors.ParameterError(
                f"tune: {type(learner).__name__} has no parameter {name!r}; it has "
                f"{errors.quote_names(params, 20)}.{errors.did_you_mean(str(name), params)}"
            )
        is_list = isinstance(values, Iterable) and not isinstance(values, str)
        values_by_name[name] = list(values) if is_list else []
        if not values_by_name[name]:
            raise errors.parameter_error("tune", "grid", constraint, {name: values})
    product = itertools.product(*values_by_name.values())
    return [dict(zip(values_by_name, values, strict=True)) for values in product]


def _score_perceptrons(
    learner: Perceptron,
    combinations: Sequence[dict[str, Any]],
    X: Any,
    y: Any,
    fraction: float,
    seed: int,
    progress: Callable[[int, int], None],
) -> list[float]:
    """Return held-out accuracies; perceptrons with the same schema are trained together."""
    candidates = [clone(learner).set_params(**settings) for settings in combinations]
    markers = [to_markers(candidate.missing, "Perceptron") for candidate in candidates]
    source = learner._source(X, y, None, to_markers(learner.missing, "Perceptron"))
    groups: dict[Any, list[tuple[int, PerceptronTask]]] = {}
    for i, candidate in enumerate(candidates):
        marked = candidate._source(X, y, None, markers[i]) if candidate.missing else source
        task = candidate._online_task(marked, None)
        groups.setdefault(json.dumps(task.schema.without_dialect().to_json(), default=repr), []).append(
            (i, task)
        )
    accuracies, n_done = [0.0] * len(candidates), 0
    for group in groups.values():
        marked = source.with_missing(markers[group[0][0]])
        scores = evaluate_on_holdout([task for _, task in group], marked, fraction, seed)
        for (i, _), score in zip(group, scores, strict=True):
            accuracies[i] = score.accuracy
        n_done += len(group)
        progress(n_done, len(candidates))
    return accuracies


def _score_by_refitting(
    learner: Any,
    combinations: Sequence[dict[str, Any]],
    X: Any,
    y: Any,
    fraction: float,
    seed: int,
    progress: Callable[[int, int], None],
) -> list[float]:
    """Return held-out accuracies; the kinds of the columns are inferred from all rows."""
    rows, labels, training, validation = _hold_out(X, y, fraction, seed)

    scores = []
    for settings in combinations:
        candidate = fix_schema(clone(learner).set_params(**settings), rows, labels)
        scores.append(float(candidate.fit(*training).score(*validation)))
        progress(len(scores), len(combinations))
    return scores


def _hold_out(X: Any, y: Any, fraction: float, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return rows and labels, and the pairs of both for training and for validation."""
    # Imported here because it is slow and perceptrons do not need it.
    from sklearn.model_selection import ShuffleSplit

    split = ShuffleSplit(1, test_size=fraction, random_state=seed).split
    if isinstance(X, Source | Mapping):
        source = X if isinstance(X, Source) and y is None else rows_of(X, y)
        n_rows = sum(reader.n_rows for reader in source.chunk_readers())
        is_held_out = np.zeros(n_rows, dtype=np.bool_)
        is_held_out[next(split(is_held_out))[1]] = True
        training, validation = (SelectedRows(source, mask) for mask in (~is_held_out, is_held_out))
        return source, None, (training, None), (validation, None)
    rows, labels = _split_labels(X, y)
    parts = [
        tuple(_safe_indexing(each, part) for each in (rows, labels)) for part in next(split(rows, labels))
    ]
    return rows, labels, parts[0], parts[1]


def _split_labels(X: Any, y: Any) -> tuple[Any, Any]:
    """Separate the label column of a table from the rows, as scikit-learn requires."""
    if not isinstance(y, str):
        # scikit-learn cannot select rows of pandas arrays outside a Series.
        is_pandas_array = base_type_names(y) & {"pandas.ExtensionArray", "pandas.Index"}
        return to_csr(X) if is_sparse(X) else X, np.asarray(y) if is_pandas_array else y
    if isinstance(y, str) and hasattr(X, "drop") and hasattr(X, "columns"):
        return X.drop(columns=y) if hasattr(X, "loc") else X.drop(y), X[y]
    raise errors.Unsupported(
        "tune cannot take the labels from this table by their name. Give a pandas or polars frame, or X and "
        "y."
    )


def _format_value(value: Any) -> str:
    # Priors describe themselves at length in their text.
    return truncate(value if isinstance(value, str) else repr(value), 24)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _to_plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


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
