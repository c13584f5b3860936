"""The result of `choose_learner`: the chosen learner, the reason, and the comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.pictures import interval_chart
from weigh.result import Facts, Section, Table, TabularResult
from weigh.text import format_quantity
from weigh.trials.choice_candidates import LearnerVariant

MEASURES = {"log_loss": "log loss", "squared_error": "R²"}


@dataclass(frozen=True)
class CandidateScore(Facts):
    """A candidate's mean loss on held-out rows and its excess over the smallest, with standard errors.

    The loss of a regression is its squared error divided by the variance of the targets, which is 1 − R².
    """

    name: str
    learner: str
    loss: float
    standard_error: float
    excess: float
    excess_error: float


@dataclass(frozen=True)
class UntriedLearner(Facts):
    """A candidate that was not compared, and why."""

    name: str
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class LearnerChoice(TabularResult):
    """The result of `choose_learner`; prints in at most 80 columns.

    `learner` is "naive-bayes", "logistic" or "linear", and `parameters` is what the choice adds to the
    defaults and to the parameters given. `candidates` are in order from the simplest to the richest; there
    are none if a rule decided without a comparison. `sampled` of the `rows` rows were compared in `folds`
    folds; both are 0 without a comparison. `untried` are learners that could not be candidates, or that the
    comparison left out.
    """

    name: str
    learner: str
    parameters: Mapping[str, Any]
    reason: str
    loss: str
    candidates: tuple[CandidateScore, ...]
    untried: tuple[UntriedLearner, ...]
    rows: int
    sampled: int
    folds: int
    _variant: LearnerVariant
    _columns: Any
    _missing: Any
    _frames = ("candidates", "untried")

    @classmethod
    def of(
        cls,
        variant: LearnerVariant,
        reason: str,
        *,
        columns: Any,
        missing: Any,
        is_regression: bool,
        untried: Sequence[UntriedLearner],
        rows: int,
        candidates: Sequence[CandidateScore] = (),
        sampled: int = 0,
        folds: int = 0,
    ) -> LearnerChoice:
        """Return the choice of a variant."""
        return cls(
            name=variant.name,
            learner=variant.learner,
            parameters=variant.select_added(),
            reason=reason,
            loss="squared_error" if is_regression else "log_loss",
            candidates=tuple(candidates),
            untried=tuple(untried),
            rows=rows,
            sampled=sampled,
            folds=folds,
            _variant=variant,
            _columns=columns,
            _missing=missing,
        )

    @property
    def estimator(self) -> Any:
        """The chosen estimator with its parameters, not trained."""
        return self._variant.estimator(self._columns, self._missing)

    @property
    def headline(self) -> str:
        """The chosen learner and the reason."""
        return f"Chosen: {self.name}, because {self.reason}."

    def sections(self) -> list[Section]:
        """Return the comparison, how it was made, and what was not tried."""
        if not self.candidates:
            return []
        untried = [f"Not tried: {each.name}, because {each.reason}." for each in self.untried]
        notes = [_describe_sample(self), *untried]
        return [Section("candidates", [_score_table(self)]), Section("notes", notes)]

    def plot(self) -> Any:
        """Plot the held-out losses of the candidates with intervals of one standard error."""
        if not self.candidates:
            raise errors.Unsupported("There is nothing to plot: a rule decided without a comparison.")
        rows = [
            {
                "name": each.name,
                "value": each.loss,
                "low": each.loss - each.standard_error,
                "high": each.loss + each.standard_error,
            }
            for each in self.candidates
        ]
        loss = "log loss" if self.loss == "log_loss" else "1 − R²"
        return interval_chart(rows, x=f"{loss} on held-out rows, ± one standard error", what="learners")


def _score_table(choice: LearnerChoice) -> Table:
    rows = [["learner", f"held-out {MEASURES[choice.loss]}", "worse by"]]
    for each in choice.candidates:
        score = 1 - each.loss if choice.loss == "squared_error" else each.loss
        excess = _format_estimate(each.excess, each.excess_error) if each.excess else ""
        rows.append([each.name, _format_estimate(score, each.standard_error), excess])
    return Table(rows, indent="  ")


def _format_estimate(value: float, error: float) -> str:
    return f"{value:.4f}" if math.isnan(error) else f"{value:.4f} ± {error:.4f}"


def _describe_sample(choice: LearnerChoice) -> str:
    rows = format_quantity(choice.rows, "row")
    sample = rows if choice.sampled == choice.rows else f"a sample of {choice.sampled:,} of {rows}"
    return (
        f"{choice.folds} folds of {sample}; ± is one standard error. The first learner whose loss exceeds "
        "the smallest by at most one standard error, and also by at most 5 %, is chosen."
    )


def give_reason(scores: Sequence[CandidateScore], chosen: int, best: int, loss: str) -> str:
    """Return a clause that says why a candidate was chosen."""
    if chosen == best:
        value = 1 - scores[best].loss if loss == "squared_error" else scores[best].loss
        extreme = "highest" if loss == "squared_error" else "lowest"
        return f"it has the {extreme} held-out {MEASURES[loss]}, {value:.4f}"
    lag = _format_estimate(scores[chosen].excess, scores[chosen].excess_error)
    return f"it is simpler than {scores[best].name}, whose held-out {MEASURES[loss]} is better by only {lag}"
