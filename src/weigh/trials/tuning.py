"""Search of parameters on held-out rows: `tune`."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from weigh import errors
from weigh.estimators.base import fix_schema
from weigh.estimators.bayes import JointBayes, NaiveBayes
from weigh.estimators.linear_model import LinearRegression, LogisticRegression
from weigh.estimators.perceptron import Perceptron
from weigh.features.blocks import Mask
from weigh.learn.holdout import evaluate_on_holdout, is_held_out
from weigh.learn.perceptron import PerceptronTask
from weigh.parameters import check_finite, check_integer
from weigh.pictures import line_chart
from weigh.priors import Laplace, Normal
from weigh.result import Section, Table, TabularResult
from weigh.source.base import Source
from weigh.source.memory.table import rows as rows_of
from weigh.source.missing import to_markers
from weigh.source.selected_rows import SelectedRows
from weigh.text import truncate
from weigh.trials.candidates import LOSSES, Candidate, FittedLearner, fit_learner, resolve_loss
from weigh.trials.learners import is_regression
from weigh.trials.rows import LabelledRows
from weigh.trials.splits import encode_groups

OWNER = "tune"
MAX_SHOWN_ROWS = 30
DEFAULT_GRIDS: dict[type, dict[str, list[Any]]] = {
    NaiveBayes: {"prior": [0.01, 0.1, 0.3, 1.0, 3.0, 10.0]},
    JointBayes: {"prior": [0.01, 0.1, 0.3, 1.0, 3.0, 10.0]},
    Perceptron: {"keep": ["averaged", "last"], "max_iter": [1, 3, 10, 30]},
    LogisticRegression: {"prior": [0.03, 0.1, 0.3, 1.0, 3.0, 10.0]},
    LinearRegression: {"prior": [None, Normal("evidence"), Laplace("cv")]},
}
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TuningCandidate:
    """One combination of parameters and its mean loss on the held-out rows, with a classifier's accuracy."""

    settings: Mapping[str, Any]
    loss: float
    accuracy: float | None = None


@dataclass(frozen=True, repr=False)
class TuningResult(TabularResult):
    """The result of `tune`: all trials, best first, and the best `learner` trained on all rows."""

    trials: tuple[TuningCandidate, ...]
    learner: Any
    held_out: float
    scoring: str
    _frames = ("trials",)

    @property
    def best(self) -> dict[str, Any]:
        """The best parameters; ties go to the first that was tried."""
        return dict(self.trials[0].settings)

    def to_dict(self) -> dict[str, Any]:
        """Return all values as JSON types."""
        trials = [
            {"settings": {k: _to_plain(v) for k, v in trial.settings.items()}, "loss": trial.loss}
            | ({} if trial.accuracy is None else {"accuracy": trial.accuracy})
            for trial in self.trials
        ]
        best = {name: _to_plain(value) for name, value in self.best.items()}
        return {"best": best, "held_out": self.held_out, "scoring": self.scoring, "trials": trials}

    def plot(self) -> Any:
        """Plot the loss against the parameter with the most numbers, one line per other setting."""
        tried = {name: {trial.settings[name] for trial in self.trials} for name in self.best}
        numbers = {name: list(filter(_is_number, values)) for name, values in tried.items()}
        title = LOSSES[self.scoring].title
        x_name = max(numbers, key=lambda name: len(numbers[name]))
        if len(numbers[x_name]) < 2:
            raise errors.Unsupported("A plot needs a parameter for which several numbers were tried.")
        rows = [
            {
                "series": ", ".join(f"{k} {v}" for k, v in trial.settings.items() if k != x_name) or title,
                "x": trial.settings[x_name],
                "y": trial.loss,
            }
            for trial in self.trials
            if _is_number(trial.settings[x_name])
        ]
        rows.sort(key=lambda row: (row["series"], row["x"]))
        return line_chart(rows, x=x_name, y=f"{title} on held-out rows")

    @property
    def headline(self) -> str:
        """The number of settings and the share of the rows held out."""
        title = f"{len(self.trials):,} settings of {type(self.learner).__name__}, best first"
        return f"{title} ({self.held_out:.0%} of the rows held out)"

    def sections(self) -> list[Section]:
        """Return the best trials."""
        header = [*self.trials[0].settings, LOSSES[self.scoring].title]
        # The size of the loss of a regression depends on the unit of its target.
        form = ".4g" if LOSSES[self.scoring].is_for_regression else ".4f"
        rows = [
            [*map(_format_value, trial.settings.values()), format(trial.loss, form)] for trial in self.trials
        ]
        if self.scoring != "zero_one" and self.trials[0].accuracy is not None:
            header.append("accuracy")
            rows = [[*row, f"{t.accuracy:.4f}"] for row, t in zip(rows, self.trials, strict=True)]
        return [Section("trials", [Table([header, *rows], indent="  ", most=MAX_SHOWN_ROWS)])]


def _accept_grid_first(function: Callable[..., TuningResult]) -> Callable[..., TuningResult]:
    """Accept also (learner, grid, X, y): a second argument whose keys are parameters is the grid.

    This was the order of the arguments before X came second, as in the other trials.
    """

    @functools.wraps(function)
    def call(learner: Any, *args: Any, **kwargs: Any) -> TuningResult:
        has_rows = len(args) == 2 or (len(args) == 1 and "X" in kwargs)
        if "grid" not in kwargs and (len(args) == 3 or (has_rows and _is_grid(learner, args[0]))):
            kwargs["grid"], *rest = args
            return function(learner, *rest, **kwargs)
        return function(learner, *args, **kwargs)

    return call


def _is_grid(learner: Any, given: Any) -> bool:
    params = learner.get_params() if hasattr(learner, "get_params") and not isinstance(learner, type) else {}
    return isinstance(given, Mapping) and bool(given) and all(name in params for name in given)


@_accept_grid_first
def tune(
    learner: Any,
    X: Any,
    y: Any = None,
    *,
    grid: Mapping[str, Iterable[Any]] | None = None,
    scoring: str = "auto",
    validation: float = 0.25,
    sample_weight: Any = None,
    groups: Any = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> TuningResult:
    """Score all combinations of parameters on held-out rows and train the best on all rows.

    Perceptrons with the same columns are trained side by side while the rows are read once; those that differ
    only in `max_iter` share one training, scored after several passes. Other learners are trained one by one.
    The kinds of the columns are inferred from all rows.

    Parameters
    ----------
    learner : an estimator; it is not modified
    X, y : rows as for `fit`
    grid : mapping from a parameter to the values to try, such as ``{"margin": [0, 0.1, 1]}``; None means some
        usual values for learners of this library
    scoring : the loss to minimise: "log_loss", "zero_one", "brier", "squared", for regressions
        "squared_error", "absolute_error"; "auto" means the log loss of learners with probabilities, the error
        rate of others, and the squared error of regressions
    validation : the fraction of the rows to hold out
    sample_weight : array of weights, one per row, for training and scoring, or None
    groups : array of one group per row, such as a patient; the rows of a group are held out together
    random_state : seed that selects the held-out rows
    progress : called with the number of scored combinations and the total

    Examples
    --------
    >>> import weigh
    >>> rows = {"x": [k % 90 / 9 for k in range(900)], "big": [str(k % 90 > 60) for k in range(900)]}
    >>> weigh.tune(weigh.Perceptron(), rows, "big", grid={"max_iter": [1, 10]}).best
    {'max_iter': 10}
    """
    combinations = _grid_combinations(learner, grid)
    scoring = _resolve_scoring(learner, scoring)
    fraction = check_finite(OWNER, "validation", validation, "a share between 0 and 1")
    if not 0 < fraction < 1:
        raise errors.parameter_error(OWNER, "validation", "a share between 0 and 1", validation)
    seed = check_integer(OWNER, "random_state", random_state, 0)
    report = progress or _ignore_progress
    report(0, len(combinations))
    candidates = [clone(learner).set_params(**settings) for settings in combinations]
    if isinstance(learner, Perceptron) and scoring == "zero_one" and groups is None:
        scores = _score_perceptrons(candidates, X, y, sample_weight, fraction, seed, report)
    else:
        held_out = _HeldOutRows.of(X, y, sample_weight, groups, fraction, seed)
        scores = held_out.score(candidates, scoring, report)
    trials = [TuningCandidate(settings, *each) for settings, each in zip(combinations, scores, strict=True)]
    trials.sort(key=lambda trial: trial.loss)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    best = clone(learner).set_params(**trials[0].settings).fit(X, y, **weights)
    return TuningResult(tuple(trials), best, fraction, scoring)


def _ignore_progress(done: int, total: int) -> None:
    """Show nothing."""


def _resolve_scoring(learner: Any, scoring: str) -> str:
    name = type(learner).__name__
    if scoring == "auto":
        has_probabilities = not is_regression(learner) and hasattr(learner, "predict_proba")
        return "log_loss" if has_probabilities else resolve_loss(None, {name: learner}, OWNER)
    return resolve_loss(scoring, {name: learner}, OWNER, "scoring")


def _grid_combinations(learner: Any, grid: Any) -> list[dict[str, Any]]:
    constraint = "a mapping from parameters to lists of values"
    if isinstance(learner, type) or not hasattr(learner, "get_params"):
        raise errors.parameter_error(OWNER, "learner", "an estimator, such as weigh.Perceptron()", learner)
    if grid is None:
        grid = next((each for kind, each in DEFAULT_GRIDS.items() if isinstance(learner, kind)), None)
    if not isinstance(grid, Mapping) or not grid:
        raise errors.parameter_error(OWNER, "grid", constraint, grid)
    params = learner.get_params()
    values_by_name: dict[str, list[Any]] = {}
    for name, values in grid.items():
        if name not in params:
            raise errors.ParameterError(
                f"{OWNER}: {type(learner).__name__} has no parameter {name!r}; it has "
                f"{errors.quote_names(params, 20)}.{errors.did_you_mean(str(name), params)}"
            )
        is_list = isinstance(values, Iterable) and not isinstance(values, str)
        values_by_name[name] = list(values) if is_list else []
        if not values_by_name[name]:
            raise errors.parameter_error(OWNER, "grid", constraint, {name: values})
    product = itertools.product(*values_by_name.values())
    return [dict(zip(values_by_name, values, strict=True)) for values in product]


def _score_perceptrons(
    candidates: Sequence[Any],
    X: Any,
    y: Any,
    sample_weight: Any,
    fraction: float,
    seed: int,
    report: Progress,
) -> list[tuple[float, float | None]]:
    """Return error rates and accuracies; perceptrons with the same schema are trained together."""
    markers = [to_markers(candidate.missing, "Perceptron") for candidate in candidates]
    source = candidates[0]._source(X, y, sample_weight, ())
    groups: dict[Any, list[tuple[int, PerceptronTask]]] = {}
    for i, candidate in enumerate(candidates):
        task = candidate._online_task(source.with_missing(markers[i]), None)
        key = json.dumps(task.schema.without_dialect().to_json(), default=repr)
        groups.setdefault(key, []).append((i, task))
    accuracies, n_done = [0.0] * len(candidates), 0
    for group in groups.values():
        marked = source.with_missing(markers[group[0][0]])
        scores = evaluate_on_holdout([task for _, task in group], marked, fraction, seed)
        for (i, _), score in zip(group, scores, strict=True):
            accuracies[i] = score.accuracy
        n_done += len(group)
        report(n_done, len(candidates))
    return [(1.0 - accuracy, accuracy) for accuracy in accuracies]


@dataclass(frozen=True, eq=False)
class _HeldOutRows:
    """Labelled rows, of which those in the mask are held out.

    The training rows of a source stay where they are; other rows are in memory anyway.
    """

    rows: Source | LabelledRows
    mask: Mask

    @classmethod
    def of(cls, X: Any, y: Any, weights: Any, groups: Any, fraction: float, seed: int) -> _HeldOutRows:
        """Hold out a fraction of the rows, or of the groups."""
        if isinstance(X, Source):
            rows = X if y is None and weights is None else rows_of(X, y, weights)
            n_rows = sum(reader.n_rows for reader in rows.chunk_readers())
            return cls(rows, _draw_rows(n_rows, groups, fraction, seed))
        table = LabelledRows.of(X, y, weights)
        return cls(table, _draw_rows(len(table), groups, fraction, seed))

    def score(
        self, candidates: Sequence[Any], scoring: str, report: Progress
    ) -> list[tuple[float, float | None]]:
        """Train every candidate and return its mean loss on the held-out rows, and its accuracy."""
        scores = []
        for candidate in candidates:
            model, validation = self._fit(candidate, LOSSES[scoring].is_for_regression)
            accuracy = None
            if not LOSSES[scoring].is_for_regression:
                accuracy = 1.0 - model.mean_loss(validation, "zero_one")
            scores.append((model.mean_loss(validation, scoring), accuracy))
            report(len(scores), len(candidates))
        return scores

    def _fit(self, learner: Any, is_numeric: bool) -> tuple[FittedLearner, LabelledRows]:
        """Return the trained learner, and the held-out rows in the form that it takes."""
        name = type(learner).__name__
        if isinstance(self.rows, Source):
            validation = LabelledRows.of(SelectedRows(self.rows, self.mask))
            prepared = fix_schema(learner, self.rows, None)
            model = FittedLearner(prepared.fit(SelectedRows(self.rows, ~self.mask)), 0.0, name)
            return model, validation.with_numeric_labels() if is_numeric else validation
        candidate = Candidate.of(name, learner, self.rows.with_numeric_labels() if is_numeric else self.rows)
        training, validation = (candidate.rows.take(np.flatnonzero(m)) for m in (~self.mask, self.mask))
        return fit_learner(candidate.prepared, training, name), validation


def _draw_rows(n_rows: int, groups: Any, fraction: float, seed: int) -> Mask:
    """Return which rows are held out, whole groups together."""
    if groups is None:
        mask = is_held_out(0, n_rows, seed, fraction)
    else:
        codes = encode_groups(groups, n_rows, OWNER)
        mask = is_held_out(0, int(codes.max(initial=-1)) + 1, seed, fraction)[codes]
    if mask.all() or not mask.any():
        what = f"{n_rows:,} rows" if groups is None else f"The groups of {n_rows:,} rows"
        raise errors.DataError(
            f"{what} are too few to hold some out. Give more, or another validation share."
        )
    return mask


def _format_value(value: Any) -> str:
    # Priors describe themselves at length in their text.
    return truncate(value if isinstance(value, str) else repr(value), 24)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _to_plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else repr(value)
