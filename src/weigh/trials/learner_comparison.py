"""The comparison of `choose_learner`: candidates cross-validated on one sample, and the choice among them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.judge.metrics.losses import Floats
from weigh.source.base import Source
from weigh.trials.candidates import Candidate, FittedLearner
from weigh.trials.choice_candidates import (
    CLASS_LEARNERS,
    NUMBER_LEARNERS,
    OWNER,
    LearnerVariant,
    has_pairs,
    list_variants,
    one_sentence,
)
from weigh.trials.choice_result import CandidateScore, LearnerChoice, UntriedLearner, give_reason
from weigh.trials.choice_rules import explain_rule
from weigh.trials.choice_sample import Sample, canonical_order
from weigh.trials.splits import Split, find_strata, repeated_folds

FOLDS = ((100, 10), (5_000, 5), (math.inf, 3))  # for fewer rows than this, so many folds
MAX_NUMBERS = 1_000_000  # rows × columns × classes that are compared, in two folds if more than half of it
MIN_LIMIT = 1_000  # rows that are compared in any case
MAX_LAG = 0.05  # of the smallest loss; overconfident learners have large standard errors

Progress = Callable[[int, int], None] | None


@dataclass(frozen=True, eq=False)
class CandidateComparison:
    """The candidates for one sample, from the simplest to the richest, and those that are not tried."""

    variants: tuple[LearnerVariant, ...]
    candidates: tuple[Candidate, ...]
    untried: tuple[UntriedLearner, ...]
    sample: Sample
    is_regression: bool
    columns: Any
    missing: Any

    @classmethod
    def of(
        cls,
        source: Source,
        n_rows: int,
        seed: int,
        *,
        is_regression: bool,
        columns: Any,
        missing: Any,
        parameters: Mapping[str, Mapping[str, Any]],
        excluded: Mapping[str, str],
    ) -> CandidateComparison:
        """Prepare the candidates for a sample of n rows; raises the first error if none is without one."""
        sample = Sample.of(source, n_rows, seed, is_regression)
        prepared: dict[LearnerVariant, Candidate] = {}
        untried: list[UntriedLearner] = []
        problems: list[errors.WeighError] = []
        for learner in NUMBER_LEARNERS if is_regression else CLASS_LEARNERS:
            variants = list(list_variants(learner, parameters.get(learner, {})))
            if learner in excluded:
                untried.append(UntriedLearner(variants[0].name, excluded[learner]))
                continue
            for variant in variants:
                try:
                    candidate = Candidate.of(variant.name, variant.estimator(columns, missing), sample.rows)
                except errors.WeighError as error:
                    problems.append(error)
                    untried.append(UntriedLearner(variant.name, one_sentence(error)))
                    continue
                if not variant.has_effect(candidate.prepared.columns):
                    kinds = "number, date or category" if variant.adds("pairs") else "number or date"
                    untried.append(UntriedLearner(variant.name, f"no column is a {kinds}"))
                    continue
                prepared[variant] = candidate
        if not prepared:
            problems.append(
                errors.Unsupported(f"{OWNER}: all learners of the target are excluded. Exclude fewer.")
            )
            raise problems[0]
        candidates = tuple(prepared.values())
        return cls(tuple(prepared), candidates, tuple(untried), sample, is_regression, columns, missing)

    def run(self, seed: int, progress: Progress) -> LearnerChoice:
        """Choose a candidate, by a comparison if there is something to compare."""
        counts = self.sample.count_labels()
        reason = explain_rule(len(self.variants), len(self.sample), counts, self.is_regression)
        return self.compare(seed, progress) if reason is None else self.choose(0, reason)

    def choose(
        self,
        at: int,
        reason: str,
        scores: Sequence[CandidateScore] = (),
        folds: int = 0,
        n_compared: int = 0,
    ) -> LearnerChoice:
        """Return the choice of a candidate."""
        variant = self.variants[at]
        return LearnerChoice.of(
            variant,
            reason,
            columns=self.columns,
            missing=self.missing,
            is_regression=self.is_regression,
            untried=self.untried,
            candidates=scores,
            rows=self.sample.n_rows,
            sampled=n_compared,
            folds=folds,
        )

    @property
    def _loss(self) -> str:
        return "squared_error" if self.is_regression else "log_loss"

    def _row_limit(self) -> int:
        """Return how many rows are compared: fewer if there are many columns and classes."""
        n_classes = 2 if self.is_regression else len(self.sample.count_labels())
        n_outputs = 1 if n_classes == 2 else n_classes
        return max(MAX_NUMBERS // (self.sample.n_columns * n_outputs), MIN_LIMIT)

    def compare(self, seed: int, progress: Progress) -> LearnerChoice:
        """Cross-validate the candidates and choose one."""
        limit = self._row_limit()
        order = canonical_order(self.candidates[0], self.is_regression)[:limit]
        ordered = [replace(each, rows=each.rows.take(order)) for each in self.candidates]
        folds = 2 if len(order) > limit / 2 else _fold_count(len(order))
        strata = find_strata(ordered[0].rows.labels, self.is_regression)
        splits = repeated_folds(strata, folds, 1, seed, OWNER)
        losses = np.zeros((len(ordered), len(order)))
        stopped: dict[int, str] = {}
        for n_done, (split, at) in enumerate((split, at) for split in splits for at in range(len(ordered))):
            if at not in stopped:
                result = self._evaluate(ordered[at], split, losses[at], self.variants[at])
                if isinstance(result, str):
                    stopped[at] = result
                elif isinstance(result, errors.WeighError):
                    if len(stopped) == len(ordered) - 1:
                        raise result
                    stopped[at] = one_sentence(result)
            if progress is not None:
                progress(n_done + 1, len(splits) * len(ordered))
        return self._decide(losses, stopped, ordered[0], folds)

    def _evaluate(
        self, candidate: Candidate, split: Split, losses: Floats, variant: LearnerVariant
    ) -> str | errors.WeighError | None:
        """Set the losses of the held-out rows; return why the candidate is not tried on other splits, if so.

        Fits with pairs take long, and seldom find any. If the first fit adds none, the others are not made.
        """
        try:
            with candidate.error_context(str(split)):
                model = candidate.fit(split.train)
                losses[split.test] = model.losses(candidate.rows.take(split.test), self._loss)
        except errors.WeighError as error:
            return error
        if split.fold == 0 and variant.adds("pairs") and not has_pairs(_schema(model)):
            return "no pair of columns lowered the loss"
        return None

    def _decide(
        self, all_losses: Floats, stopped: Mapping[int, str], candidate: Candidate, folds: int
    ) -> LearnerChoice:
        """Choose the simplest candidate within one standard error of the best."""
        kept = [at for at in range(len(self.variants)) if at not in stopped]
        untried = [UntriedLearner(self.variants[at].name, reason) for at, reason in stopped.items()]
        losses, weights = _scale_losses(all_losses[kept], candidate, self.is_regression)
        means = [_mean_with_error(row, weights) for row in losses]
        best = int(np.argmin([mean for mean, _ in means]))
        scores = [
            CandidateScore(
                self.variants[at].name,
                self.variants[at].learner,
                *mean,
                *_mean_with_error(_subtract(row, losses[best]), weights),
            )
            for at, row, mean in zip(kept, losses, means, strict=True)
        ]
        chosen = next(i for i, each in enumerate(scores) if i == best or _is_tie(each, scores[best]))
        comparison = replace(self, untried=(*self.untried, *untried))
        reason = give_reason(scores, chosen, best, self._loss)
        return comparison.choose(kept[chosen], reason, scores, folds, len(candidate.rows))


def _fold_count(n_rows: int) -> int:
    return next(number for limit, number in FOLDS if n_rows < limit)


def _is_tie(score: CandidateScore, best: CandidateScore) -> bool:
    return score.excess <= min(score.excess_error, MAX_LAG * best.loss)


def _schema(model: FittedLearner) -> Any:
    return model.learner.model_.schema


def _scale_losses(losses: Floats, candidate: Candidate, is_regression: bool) -> tuple[Floats, Floats]:
    """Return the losses [learners, rows] of rows that count, and their weights.

    Squared errors are divided by the variance of the targets. A row of a class that its training rows lack
    has an infinite loss whatever the learner, so it does not count.
    """
    labels, weights = candidate.rows.labels, candidate.rows.weights
    weights = np.ones(len(labels)) if weights is None else weights
    if is_regression:
        centred = labels - np.average(labels, weights=weights)
        losses = losses / np.average(np.square(centred), weights=weights)
    counts = (weights > 0) & ~np.isinf(losses).all(axis=0)
    return losses[:, counts], weights[counts]


def _subtract(first: Floats, second: Floats) -> Floats:
    """Return first − second; equal infinities have no difference."""
    is_equal = first == second
    return np.where(is_equal, 0.0, first - np.where(is_equal, 0.0, second))


def _mean_with_error(values: Floats, weights: Floats) -> tuple[float, float]:
    """Return the weighted mean of values [n] and its standard error; nan if the mean is not finite."""
    mean = float(np.average(values, weights=weights))
    if not math.isfinite(mean):
        return mean, math.nan
    return mean, float(np.sqrt(np.square(weights * (values - mean)).sum()) / weights.sum())
