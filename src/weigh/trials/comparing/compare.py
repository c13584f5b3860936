"""`compare`: any learners on the same rows, and how sure one can be that one is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.settings import finite, truth, whole
from weigh.judge.measures.losses import Floats
from weigh.judge.measures.measure import Measure
from weigh.text import plain
from weigh.trials.baseline import baseline as guess
from weigh.trials.baseline import blank
from weigh.trials.comparing import comparison_pictures, comparison_text
from weigh.trials.comparing.cross_validation import Cost, cross_validated
from weigh.trials.comparing.pairs import Pair, pairs_of
from weigh.trials.comparing.traits import TraitTable, traits_of
from weigh.trials.curves.learning_curve import LearningCurve, learning_curve
from weigh.trials.learners import named
from weigh.trials.resampled_test import CorrectedMean
from weigh.trials.rows import LabelledRows
from weigh.trials.splits import Split, groups_of, repeated_folds
from weigh.trials.trial import LOSSES, checked_loss

OWNER = "compare"
ROPE = 0.01


@dataclass(frozen=True, eq=False)
class Score:
    """A learner's mean loss with its interval, the loss of every split, and what it costs."""

    learner: str
    loss: Measure
    losses: Floats
    cost: Cost
    is_baseline: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The score for JSON."""
        return {
            "learner": self.learner,
            "is_baseline": self.is_baseline,
            "loss": self.loss.to_dict(),
            "losses": [plain(value) for value in self.losses.tolist()],
            "cost": self.cost.to_dict(),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The result of `compare`; prints within 80 columns.

    `scores` are in the order of the learners, the baseline last; `pairs` tell how sure each difference is.
    `splits` are the (train, test) places that all learners were tried on, as scikit-learn's `cv=` takes them.
    `curve` is the learning curve of the learners where it was asked for, and `crossings` tell where one
    overtakes another.
    """

    scores: tuple[Score, ...]
    pairs: tuple[Pair, ...]
    loss: str
    n: int
    folds: int
    repeats: int
    level: float
    rope: float
    splits: tuple[tuple[Any, Any], ...]
    described: TraitTable
    curve: LearningCurve | None = None

    def __getitem__(self, name: str) -> Score:
        for each in self.scores:
            if each.learner == name:
                return each
        known = [each.learner for each in self.scores]
        raise errors.ParameterError(
            f"{OWNER}: there is no learner {name!r}; there are {errors.listing(known)}."
            f"{errors.hint(str(name), known)}"
        )

    def pair(self, first: str, second: str) -> Pair:
        """Return the pair of two learners, as it was compared."""
        for each in self.pairs:
            if {each.first, each.second} == {self[first].learner, self[second].learner}:
                return each
        raise errors.ParameterError(
            f"{OWNER}: {first!r} and {second!r} were not compared. Give reference={first!r}."
        )

    @property
    def best(self) -> str:
        """The learner of the smallest mean loss, of equal ones the first."""
        return min(self.scores, key=lambda each: each.loss.value).learner

    @property
    def crossings(self) -> tuple[Any, ...]:
        """Where learners overtake each other as rows grow; empty without a curve."""
        return () if self.curve is None else tuple(self.curve.crossings)

    def traits(self) -> TraitTable:
        """Return what kind of learners they are, in words."""
        return self.described

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON; the places of the splits stay in `splits`."""
        names = ("loss", "n", "folds", "repeats", "level", "rope", "best")
        return {
            **{name: getattr(self, name) for name in names},
            "scores": [each.to_dict() for each in self.scores],
            "pairs": [each.to_dict() for each in self.pairs],
            "traits": self.described.to_dict(),
            "curve": None if self.curve is None else self.curve.to_dict(),
        }

    def plot(self, what: str = "scores") -> Any:
        """Return a picture of the "scores", the "differences" of pairs, the "times", or the "curve"."""
        return comparison_pictures.picture(self, what)

    def __str__(self) -> str:
        return comparison_text.text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return comparison_text.markup(self)


def compare(
    learners: Any,
    X: Any,
    y: Any = None,
    *,
    folds: int = 10,
    repeats: int = 3,
    loss: str | None = None,
    seed: int = 0,
    n_jobs: int | None = -1,
    level: float = 0.95,
    rope: float | None = None,
    reference: str | None = None,
    baseline: bool = True,
    curve: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Try learners on the same splits of the rows, and tell how sure their differences are.

    Every learner is trained and judged on all folds of a repeated, stratified cross-validation. Folds share
    training rows, so differences are tested by the corrected resampled t-test of Nadeau & Bengio, adjusted
    by Holm for the number of pairs; the probability that one learner beats another is that of the Bayesian
    correlated t-test. Times are the medians of the first three splits, which run one trial at a time.

    Parameters
    ----------
    learners : learners of this library or of scikit-learn, or names such as "naive-bayes", as a list or by
        name; None means naive Bayes, logistic regression, perceptron, decision tree and nearest neighbours
    X, y : rows as `fit` takes them
    folds, repeats : of the cross-validation
    loss : "zero_one" (default), "log_loss", "squared", "brier"; of regressions "squared_error" (default),
        "absolute_error"
    seed : which rows are in which fold
    n_jobs : trials at a time; -1 means all cores. The losses do not depend on it
    level : of the intervals, and 1 − level of the tests
    rope : losses closer than this are equal for all purposes; None means 0.01, of regressions 1 % of the
        loss of a constant guess
    reference : compare all others with this learner, instead of all pairs
    baseline : whether to show the best guess that does not look at the rows
    curve : whether to measure learning curves too, and where learners overtake each other
    progress : called with the trials done and all trials

    Examples
    --------
    >>> import weigh
    >>> rows = {"x": [k % 20 / 2 for k in range(200)], "big": [str(k % 20 > 12) for k in range(200)]}
    >>> weigh.compare(["naive-bayes", "tree"], rows, "big", folds=5, repeats=1).best
    'tree'
    """
    tried, rows = named(learners, OWNER), LabelledRows.of(X, y)
    loss = checked_loss(loss, tried, OWNER)
    share = finite(OWNER, "level", level, "a share between 0 and 1")
    if not 0 < share < 1:
        raise errors.parameter(OWNER, "level", "a share between 0 and 1", level)
    everyone, guessed = _everyone(tried, rows, loss, truth(OWNER, "baseline", baseline))
    chosen = _chosen(list(tried), reference, guessed)
    folds, repeats = whole(OWNER, "folds", folds, 2), whole(OWNER, "repeats", repeats, 1)
    groups = groups_of(rows.labels, LOSSES[loss].of_numbers)
    splits = repeated_folds(groups, folds, repeats, whole(OWNER, "seed", seed, 0), OWNER)
    trials = cross_validated(everyone, splits, loss, n_jobs, progress)
    ratio, near = _ratio(splits), _rope(rope, rows, loss)
    scores = tuple(
        Score(name, _measure(losses, ratio, share, loss), losses, trials.costs[name], name == guessed)
        for name, losses in trials.losses.items()
    )
    return Comparison(
        scores,
        pairs_of(trials.losses, chosen, ratio, share, near),
        loss,
        len(rows),
        folds,
        repeats,
        share,
        near,
        tuple((split.train, split.test) for split in splits),
        TraitTable({name: traits_of(learner) for name, (learner, _) in everyone.items()}),
        _curve(tried, rows, loss, seed, n_jobs, share) if truth(OWNER, "curve", curve) else None,
    )


def _everyone(
    learners: Mapping[str, Any], rows: LabelledRows, loss: str, is_guessed: bool
) -> tuple[dict[str, tuple[Any, LabelledRows]], str | None]:
    """Return learners with their rows, and the name of the baseline among them."""
    found = {name: (learner, rows) for name, learner in learners.items()}
    if not is_guessed:
        return found, None
    name, learner = guess(loss)
    return found | {name: (learner, blank(rows))}, name


def _chosen(names: list[str], reference: str | None, guessed: str | None) -> list[tuple[str, str]]:
    """Return the pairs to compare: all learners with each other, or with the reference."""
    known = [*names, guessed] if guessed else names
    if reference is None:
        return list(combinations(names, 2)) if len(names) > 1 else [(names[0], guessed)] if guessed else []
    if reference not in known:
        raise errors.ParameterError(
            f"{OWNER}: reference={reference!r} is none of the learners {errors.listing(known)}."
            f"{errors.hint(str(reference), known)}"
        )
    return [(name, reference) for name in known if name != reference]


def _rope(rope: float | None, rows: LabelledRows, loss: str) -> float:
    if rope is not None:
        near = finite(OWNER, "rope", rope, "a number of at least 0")
        if near < 0:
            raise errors.parameter(OWNER, "rope", "a number of at least 0", rope)
        return near
    if not LOSSES[loss].of_numbers:
        return ROPE
    numbers = np.asarray(rows.labels, np.float64)
    if loss == "squared_error":
        return ROPE * float(numbers.var())
    return ROPE * float(np.abs(numbers - np.median(numbers)).mean())


def _ratio(splits: list[Split]) -> float:
    """Return n_test / n_train; folds differ by a row at most."""
    tests, trains = (sum(len(getattr(split, name)) for split in splits) for name in ("test", "train"))
    return tests / trains


def _measure(losses: Floats, ratio: float, level: float, loss: str) -> Measure:
    mean = CorrectedMean.of(losses, ratio)
    low, high = mean.interval(level)
    most = 1.0 if loss in ("zero_one", "squared") else np.inf
    return Measure(loss, mean.mean, max(low, 0.0), min(high, most))


def _curve(
    learners: Mapping[str, Any], rows: LabelledRows, loss: str, seed: int, n_jobs: int | None, level: float
) -> LearningCurve:
    return learning_curve(
        dict(learners), rows.data, rows.labels, loss=loss, seed=seed, n_jobs=n_jobs, level=level
    )
