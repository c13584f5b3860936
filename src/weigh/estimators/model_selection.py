"""`tune`: which settings of a learner are best on rows that were held out."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from weigh import errors
from weigh.estimators.linear_model import LinearRegression, LogisticRegression
from weigh.estimators.perceptron import Perceptron
from weigh.features.validation import check_finite, check_integer
from weigh.learn import PerceptronTask
from weigh.learn.holdout import evaluate_on_holdout
from weigh.learn.regularisation_path import Path, check_path_parameters, compute_path
from weigh.pictures import line_chart
from weigh.source import Source
from weigh.source.missing import to_markers
from weigh.text import html_table, text_table, truncate

MAX_SHOWN_ROWS = 30


@dataclass(frozen=True)
class TuningCandidate:
    """One combination of settings, with its accuracy on the held-out rows."""

    settings: Mapping[str, Any]
    accuracy: float


@dataclass(frozen=True, repr=False)
class TuningResult:
    """The result of `tune`: all trials, the best first; `learner` is trained on all rows with the best."""

    trials: tuple[TuningCandidate, ...]
    learner: Any
    held_out: float

    @property
    def best(self) -> dict[str, Any]:
        """The best settings; of equally good ones the first that was tried."""
        return dict(self.trials[0].settings)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "best": {name: _to_plain(value) for name, value in self.best.items()},
            "held_out": self.held_out,
            "trials": [
                {"settings": {k: _to_plain(v) for k, v in trial.settings.items()}, "accuracy": trial.accuracy}
                for trial in self.trials
            ],
        }

    def plot(self) -> Any:
        """Return a picture of the accuracy over the number that was tried most often; others are lines."""
        tried = {name: {trial.settings[name] for trial in self.trials} for name in self.best}
        numbers = {name: [each for each in values if _is_number(each)] for name, values in tried.items()}
        across = max(numbers, key=lambda name: len(numbers[name]))
        if len(numbers[across]) < 2:
            raise errors.Unsupported("A picture needs a parameter of which several numbers were tried.")
        rows = [
            {
                "series": ", ".join(f"{k} {v}" for k, v in trial.settings.items() if k != across)
                or "accuracy",
                "x": trial.settings[across],
                "y": trial.accuracy,
            }
            for trial in self.trials
            if _is_number(trial.settings[across])
        ]
        rows.sort(key=lambda row: (row["series"], row["x"]))
        return line_chart(rows, x=across, y="accuracy on held-out rows")

    def _table_rows(self) -> list[list[str]]:
        heads = [*self.trials[0].settings, "accuracy"]
        rows = [
            [*(truncate(value, 24) for value in trial.settings.values()), f"{trial.accuracy:.4f}"]
            for trial in self.trials[:MAX_SHOWN_ROWS]
        ]
        hidden = len(self.trials) - MAX_SHOWN_ROWS
        more = [[f"… and {hidden:,} more", *[""] * (len(heads) - 1)]] if hidden > 0 else []
        return [heads, *rows, *more]

    def __str__(self) -> str:
        title = f"{len(self.trials):,} settings of {type(self.learner).__name__}, best first"
        return f"{title} ({self.held_out:.0%} of the rows held out)\n\n{text_table(self._table_rows(), indent='  ')}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(str(self).split("\n")[0], self._table_rows())


def tune(
    learner: Any,
    grid: Mapping[str, Iterable[Any]],
    X: Any,
    y: Any = None,
    *,
    validation: float = 0.25,
    random_state: int = 0,
) -> TuningResult:
    """Try all combinations of settings on held-out rows, and train the best on all rows.

    Perceptrons of the same columns are trained side by side, in one reading of the rows; those that
    differ in `max_iter` only are one run that is judged on its way. Other learners go through
    scikit-learn's search.

    Parameters
    ----------
    learner : an estimator; it stays as it is
    grid : mapping from a parameter to the values to try, such as ``{"margin": [0, 0.1, 1]}``
    X, y : rows as `fit` takes them
    validation : the share of the rows that is held out and judged on
    random_state : which rows are held out

    Examples
    --------
    >>> import weigh
    >>> rows = {"x": [k % 90 / 9 for k in range(900)], "big": [str(k % 90 > 60) for k in range(900)]}
    >>> weigh.tune(weigh.Perceptron(), {"max_iter": [1, 10]}, rows, "big").best
    {'max_iter': 10}
    """
    combinations = _grid_combinations(learner, grid)
    share = check_finite("tune", "validation", validation, "a share between 0 and 1")
    if not 0 < share < 1:
        raise errors.parameter_error("tune", "validation", "a share between 0 and 1", validation)
    seed = check_integer("tune", "random_state", random_state, 0)
    judge = _score_perceptrons if isinstance(learner, Perceptron) else _score_by_grid_search
    accuracies = judge(learner, combinations, X, y, share, seed)
    trials = [TuningCandidate(settings, a) for settings, a in zip(combinations, accuracies, strict=True)]
    trials.sort(key=lambda trial: -trial.accuracy)
    best = clone(learner).set_params(**trials[0].settings)
    return TuningResult(tuple(trials), best.fit(X, y), share)


def _grid_combinations(learner: Any, grid: Any) -> list[dict[str, Any]]:
    must = "a mapping from parameters to lists of values"
    if not isinstance(grid, Mapping) or not grid:
        raise errors.parameter_error("tune", "grid", must, grid)
    if isinstance(learner, type) or not hasattr(learner, "get_params"):
        raise errors.parameter_error("tune", "learner", "an estimator, such as weigh.Perceptron()", learner)
    known = learner.get_params()
    tried: dict[str, list[Any]] = {}
    for name, values in grid.items():
        if name not in known:
            raise errors.ParameterError(
                f"tune: {type(learner).__name__} has no parameter {name!r}; it has "
                f"{errors.quote_names(known, 20)}.{errors.did_you_mean(str(name), known)}"
            )
        tried[name] = [] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
        if not tried[name]:
            raise errors.parameter_error("tune", "grid", must, {name: values})
    return [dict(zip(tried, values, strict=True)) for values in itertools.product(*tried.values())]


def _score_perceptrons(
    learner: Perceptron, combinations: Sequence[dict[str, Any]], X: Any, y: Any, share: float, seed: int
) -> list[float]:
    """Judge perceptrons, those of the same columns together."""
    learners = [clone(learner).set_params(**settings) for settings in combinations]
    source = learner._source(X, y, None, to_markers(learner.missing, "Perceptron"))
    groups: dict[Any, list[tuple[int, PerceptronTask]]] = {}
    for at, each in enumerate(learners):
        own = each._source(X, y, None, to_markers(each.missing, "Perceptron")) if each.missing else source
        task = each._online_task(own, None)
        groups.setdefault(json.dumps(task.schema.to_json(), default=repr), []).append((at, task))
    accuracies = [0.0] * len(learners)
    for group in groups.values():
        own = _mark_missing(source, learners[group[0][0]])
        judged = evaluate_on_holdout([task for _, task in group], own, share, seed)
        for (at, _), found in zip(group, judged, strict=True):
            accuracies[at] = found.accuracy
    return accuracies


def _mark_missing(source: Source, learner: Perceptron) -> Source:
    return source.with_missing(to_markers(learner.missing, "Perceptron"))


def _score_by_grid_search(
    learner: Any, combinations: Sequence[dict[str, Any]], X: Any, y: Any, share: float, seed: int
) -> list[float]:
    # Most who tune tune perceptrons, and need not wait for it.
    from sklearn.model_selection import GridSearchCV, ShuffleSplit

    rows, labels = _split_labels(X, y)
    search = GridSearchCV(
        learner,
        [{name: [value] for name, value in settings.items()} for settings in combinations],
        cv=ShuffleSplit(1, test_size=share, random_state=seed),
        refit=False,
        error_score="raise",
    ).fit(rows, labels)
    return [float(score) for score in search.cv_results_["mean_test_score"]]


def _split_labels(X: Any, y: Any) -> tuple[Any, Any]:
    """Return rows and labels of a table that has both, as scikit-learn takes them."""
    if not isinstance(y, str) and not isinstance(X, Source):
        return X, y
    if isinstance(y, str) and hasattr(X, "drop") and hasattr(X, "columns"):
        return X.drop(columns=y) if hasattr(X, "loc") else X.drop(y), X[y]
    raise errors.Unsupported(
        "tune cuts tables for this learner with scikit-learn, which takes frames and arrays. Give a pandas "
        "or polars frame, or X and y."
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _to_plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


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
        raise errors.parameter_error("path", "learner", "a LinearRegression or LogisticRegression", learner)
    numbers = check_path_parameters(n, ratio, folds)
    source = learner._labelled_source(X, y, sample_weight)
    return compute_path(learner._task(source), source, *numbers)
