"""`compare`: any learners on the same rows, and how sure one can be that one is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.settings import finite, truth, whole
from weigh.trials.baseline import baseline as guessed_by
from weigh.trials.comparing import comparison_pictures, comparison_text
from weigh.trials.comparing.cross_validation import Trials, cross_validated
from weigh.trials.comparing.pairs import Pair, pairs_of
from weigh.trials.comparing.score import Score, mean_loss, share_of_errors
from weigh.trials.comparing.traits import TraitTable, traits_of
from weigh.trials.contest import Contest
from weigh.trials.corrected import checked_level
from weigh.trials.curves.learning_curve import FOLDS, REPEATS, LearningCurve, curve_on
from weigh.trials.entrant import Entrant
from weigh.trials.learners import settings_of
from weigh.trials.splits import Split, repeated_folds
from weigh.trials.trial import LOSSES

OWNER = "compare"
ROPE = 0.01

Progress = Callable[[int, int], None] | None


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
        if self[first] is self[second]:
            raise errors.ParameterError(f"{OWNER}: {first!r} does not differ from itself. Name two learners.")
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
    progress: Progress = None,
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
    baseline : whether to show a guess that does not look at the rows: the most frequent class, of losses of
        probabilities the frequencies of the classes, of numbers their mean or median
    curve : whether to measure learning curves too, as `learning_curve` does with 2 × 5 folds, and where
        learners overtake each other
    progress : called with the trials done and all trials

    Examples
    --------
    >>> import weigh
    >>> rows = {"x": [k % 20 / 2 for k in range(200)], "big": [str(k % 20 > 12) for k in range(200)]}
    >>> weigh.compare(["naive-bayes", "tree"], rows, "big", folds=5, repeats=1).best
    'tree'
    """
    share = checked_level(level, OWNER)
    contest = Contest.of(learners, X, y, loss, OWNER)
    near, is_grown = _rope(rope, contest), truth(OWNER, "curve", curve)
    everyone, guessed = _everyone(contest, truth(OWNER, "baseline", baseline))
    chosen = _chosen(list(contest.entrants), reference, guessed)
    folds, repeats = whole(OWNER, "folds", folds, 2), whole(OWNER, "repeats", repeats, 1)
    seed = whole(OWNER, "seed", seed, 0)
    splits = contest.splits(folds, repeats, seed, OWNER)
    first = len(everyone) * len(splits)
    total = first + (len(contest.entrants) * FOLDS * REPEATS if is_grown else 0)
    trials = cross_validated(everyone, splits, contest.loss, n_jobs, _part(progress, 0, total))
    grown = _curve(contest, seed, n_jobs, share, _part(progress, first, total)) if is_grown else None
    ratio, n = _ratio(splits), len(contest.rows)
    scores = tuple(_score(each, trials, contest, ratio, share) for each in everyone.values())
    pairs = pairs_of(trials.losses, chosen, ratio, share, near)
    cuts = tuple((split.train, split.test) for split in splits)
    traits = TraitTable({name: traits_of(each.learner) for name, each in everyone.items()})
    return Comparison(scores, pairs, contest.loss, n, folds, repeats, share, near, cuts, traits, grown)


def _everyone(contest: Contest, is_guessed: bool) -> tuple[dict[str, Entrant], str | None]:
    """Return all who are tried, and the name of the baseline among them."""
    if not is_guessed:
        return contest.entrants, None
    guess = guessed_by(contest.loss, contest.rows)
    if guess.name in contest.entrants:
        raise errors.ParameterError(
            f"{OWNER}: {guess.name!r} is what the guess that does not look at the rows is called. Give the "
            f"learner another name, or baseline=False."
        )
    return contest.entrants | {guess.name: guess}, guess.name


def _part(progress: Progress, before: int, total: int) -> Progress:
    """Return what hears of a part of the trials, and tells it as progress of all."""
    return None if progress is None else lambda done, _: progress(before + done, total)


def _score(tried: Entrant, trials: Trials, contest: Contest, ratio: float, level: float) -> Score:
    losses, loss, is_guess = trials.losses[tried.name], contest.loss, tried.name not in contest.entrants
    if loss == "zero_one":
        measure = share_of_errors(losses, ratio, len(contest.rows), level)
    else:
        measure = mean_loss(loss, losses, ratio, level, is_guess)
    settings = "" if is_guess else settings_of(tried.learner)
    return Score(tried.name, measure, losses, trials.costs[tried.name], is_guess, settings)


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


def _rope(rope: float | None, contest: Contest) -> float:
    if rope is not None:
        near = finite(OWNER, "rope", rope, "a number of at least 0")
        if near < 0:
            raise errors.parameter(OWNER, "rope", "a number of at least 0", rope)
        return near
    if not LOSSES[contest.loss].of_numbers:
        return ROPE
    numbers = contest.rows.labels
    if contest.loss == "squared_error":
        return ROPE * float(numbers.var())
    return ROPE * float(np.abs(numbers - np.median(numbers)).mean())


def _ratio(splits: list[Split]) -> float:
    """Return n_test / n_train; folds differ by a row at most."""
    tests, trains = (sum(len(getattr(split, name)) for split in splits) for name in ("test", "train"))
    return tests / trains


def _curve(
    contest: Contest, seed: int, n_jobs: int | None, level: float, progress: Progress
) -> LearningCurve:
    splits = repeated_folds(contest.groups, FOLDS, REPEATS, seed, OWNER)
    return curve_on(contest, splits, None, seed, n_jobs, level, progress)
