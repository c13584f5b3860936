"""Whether a naive Bayes model predicts better without the features that repeat others.

The features are found in a sample of the rows that does not depend on their order, and each is left out in
turn. A training row is predicted by the model without that row (leave-one-out), other rows by the model
itself. The log losses with and without the feature are compared row by row, so their difference is known
better than each of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.features.blocks import Floats
from weigh.features.schema import ColumnGroup
from weigh.features.text_kinds import BagOfWordsKind, Text
from weigh.features.words import as_sparse_block
from weigh.judge.ablation import LeftOut, Outcomes, class_indices, predict_without
from weigh.judge.feature_effects import FeatureEffects, mean_change
from weigh.learn.labelled_sample import LabelledSample, SampledRows
from weigh.learn.redundancy import COMPLETE_SHARE, MAX_COLUMNS, MIN_EFFECT, Dependence, find_dependent_columns
from weigh.learn.word_redundancy import WordGroup, find_word_groups
from weigh.model.naive_bayes import BayesModel
from weigh.priors.quantiles import student_critical_value
from weigh.result import Facts

MAX_TESTED = 5  # features that are left out one at a time
NO_DIFFERENCE = "no clear difference"


@dataclass(frozen=True)
class RedundantFeature(Facts):
    """A feature, or words of a column, that repeat another one, and the predictions without them.

    `kind` is that of the column. `share` is the part of its information that the other has too. Words and
    counts `occur_together`; other features have values that the other one tells. `remedy` is the kind that
    leaves them out: "skip" for columns, "stop_words" for words of a text with standard settings, else None.
    `confidence_change` is how much the probability of the predicted class changes without it on average; for
    words and counts, over the rows in which they occur. `low` and `high` are the confidence interval of the
    change of the log loss, `accuracy_low` and `accuracy_high` that of the accuracy. The `verdict` is "helps"
    if the log loss surely falls, "hurts" if it surely rises, "mixed" if it falls and so does the accuracy,
    and otherwise "no clear difference".
    """

    column: str
    kind: str
    features: tuple[str, ...]
    repeats: str
    share: float
    occur_together: bool
    remedy: str | None
    confidence_change: float
    log_loss_without: float
    accuracy_without: float
    low: float
    high: float
    accuracy_low: float
    accuracy_high: float

    @property
    def titles(self) -> tuple[str, ...]:
        """The names of the features; a date stands for all its parts."""
        return (self.column,) if self.kind == "date" else self.features

    @property
    def verdict(self) -> str:
        """Whether leaving the feature out helps."""
        if self.high < 0:
            return "mixed" if self.accuracy_high < 0 else "helps"
        return "hurts" if self.low > 0 else NO_DIFFERENCE

    _json = (
        *("column", "kind", "features", "repeats", "share", "occur_together", "remedy", "confidence_change"),
        *("log_loss_without", "accuracy_without", "low", "high", "accuracy_low", "accuracy_high", "verdict"),
    )


@dataclass(frozen=True)
class RedundancyCheck(Facts):
    """The redundant features of a model, tested on `n` rows; `is_sample` says if these are not all.

    `log_loss` and `accuracy` are those with all features. `features` were left out one at a time, those that
    change the probabilities most; `found` is how many there are. `together` leaves out all that were found at
    once, if there are several.
    """

    n: int
    is_sample: bool
    found: int
    log_loss: float
    accuracy: float
    features: tuple[RedundantFeature, ...]
    together: RedundantFeature | None = None


@dataclass(frozen=True)
class _Candidate:
    """A redundant feature that has not been tested yet."""

    column: str
    kind: str
    repeats: str
    share: float
    occur_together: bool
    remedy: str | None
    left_out: LeftOut


def check_redundancy(
    model: BayesModel, sample: LabelledSample, *, has_seen: bool, is_calibrated: bool, level: float
) -> RedundancyCheck | None:
    """Find and test redundant features; None if there are none, or no row can be judged.

    `has_seen` says whether the model was trained on all of the rows. Of a calibrated model, both sides of a
    comparison have the temperature that suits them best, because a calibration would be fitted anew.
    """
    rows = sample.rows()
    rows = rows.select(class_indices(model, rows.chunk) >= 0)
    if not rows.chunk.n_rows or len(model.classes) < 2:
        return None
    candidates = find_candidates(model, rows)
    effects = FeatureEffects(model, rows) if candidates else None
    if effects is None or not (candidates := _rank_relevant(effects, candidates)):
        return None
    test = _AblationTest(model, rows, effects, has_seen=has_seen, fits_temperature=is_calibrated, level=level)
    return RedundancyCheck(
        n=int(rows.counts.sum()),
        is_sample=not sample.is_complete,
        found=len(candidates),
        log_loss=test.log_loss,
        accuracy=test.accuracy,
        features=tuple(test.leave_out([each]) for each in candidates[:MAX_TESTED]),
        together=test.leave_out(candidates) if len(candidates) > 1 else None,
    )


def _rank_relevant(effects: FeatureEffects, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the candidates that change probabilities, those that change them most first.

    Columns matter together, or if one is repeated completely; words and counts where they occur.
    """
    columns = [each for each in candidates if not each.occur_together]
    relevant = [
        each
        for each in candidates
        if each.occur_together and effects.measure([each.left_out], where_present=True) >= MIN_EFFECT
    ]
    if columns and (
        max(each.share for each in columns) > COMPLETE_SHARE
        or effects.measure([each.left_out for each in columns]) >= MIN_EFFECT
    ):
        relevant = columns + relevant
    return sorted(relevant, key=lambda each: -effects.measure([each.left_out]))


def find_candidates(model: BayesModel, rows: SampledRows) -> list[_Candidate]:
    """Return the features that repeat others: columns by share, then words by the number of rows."""
    # Equal rows are counted, not weighted: statistics of significance need numbers of observations.
    pairs = find_dependent_columns(model.schema, rows.chunk, rows.counts, max_flags=MAX_COLUMNS)
    kinds = {name: group.kind.name for group in model.schema.column_groups for name in group.names}
    columns = [_column_candidate(pair, kinds) for pair in pairs]
    return [*columns, *_find_word_candidates(model, rows)]


def _column_candidate(pair: Dependence, kinds: dict[str, str]) -> _Candidate:
    column = pair.column or pair.second
    remedy = None if pair.column is None else "skip"
    kind = kinds.get(column, "date")
    return _Candidate(column, kind, pair.first, pair.share, False, remedy, LeftOut(pair.features))


def _find_word_candidates(model: BayesModel, rows: SampledRows) -> Iterator[_Candidate]:
    classes = class_indices(model, rows.chunk)
    is_sparse = rows.chunk.sparse is not None
    blocks = model.encode(rows.chunk).blocks
    for place, (group, block) in enumerate(zip(model.schema.column_groups, blocks, strict=True)):
        if not _is_compared_by_word(group, is_sparse):
            continue
        is_text = isinstance(group.kind, BagOfWordsKind)
        is_flag = not is_text and group.kind.family == "bernoulli"
        words = as_sparse_block(block)
        # Copies of a text are one observation; rows of flags and counts may be equal by chance.
        counts = np.ones(len(classes)) if is_text else rows.counts.astype(np.float64)
        groups = find_word_groups(
            words.rows, words.names, classes, counts, by_name=is_text, finds_opposites=is_flag
        )
        for found in groups:
            column = group.names[0] if is_text else found.repeats[0]
            remedy = _remedy(group, found, is_sparse)
            left_out = LeftOut(found.repeats, place)
            yield _Candidate(column, group.kind.name, found.first, found.share, not is_flag, remedy, left_out)


def _is_compared_by_word(group: ColumnGroup, is_sparse: bool) -> bool:
    """Whether features of a group are compared by occurrence; few flags are compared with other columns."""
    kind = group.kind
    if isinstance(kind, BagOfWordsKind):
        return not kind.buckets  # several words share a bucket
    is_flag = kind.family == "bernoulli" and kind.shares_block
    return kind.family == "multinomial" or (is_flag and (is_sparse or len(group.names) > MAX_COLUMNS))


def _remedy(group: ColumnGroup, found: WordGroup, is_sparse: bool) -> str | None:
    """Return the kind that leaves out words; other settings of a text would have to be repeated."""
    if not isinstance(group.kind, BagOfWordsKind):
        return None if is_sparse else "skip"
    is_standard = group.kind == Text() and not any(" " in word for word in found.repeats)
    return "stop_words" if is_standard else None


class _AblationTest:
    """Compares the outcomes of the same rows with and without features."""

    def __init__(
        self,
        model: BayesModel,
        rows: SampledRows,
        effects: FeatureEffects,
        *,
        has_seen: bool,
        fits_temperature: bool,
        level: float,
    ) -> None:
        self._model, self._rows, self._effects, self._level = model, rows, effects, level
        self._options = {"has_seen": has_seen, "fits_temperature": fits_temperature}
        self._weights = rows.counts * rows.weights
        self._full = self._predict([])
        self.log_loss = self._mean(self._full.losses)
        self.accuracy = self._mean(self._full.is_right)

    def _predict(self, left_out: Sequence[LeftOut]) -> Outcomes:
        return predict_without(self._model, self._rows, left_out, **self._options)

    def _mean(self, values: Any) -> float:
        return float(np.average(values, weights=self._weights))

    def leave_out(self, candidates: Sequence[_Candidate]) -> RedundantFeature:
        """Return the outcome without some features, described by the first of them."""
        first, left_out = candidates[0], [candidate.left_out for candidate in candidates]
        without = self._predict(left_out)
        is_affected = self._effects.find_occurrences(left_out) if first.occur_together else 1.0
        at = np.arange(len(self._weights)), self._full.predicted
        change = np.abs(self._full.posterior - without.posterior)[at]
        return RedundantFeature(
            first.column,
            first.kind,
            tuple(name for candidate in candidates for name in candidate.left_out.features),
            first.repeats,
            min(candidate.share for candidate in candidates),
            first.occur_together,
            first.remedy,
            mean_change(change, self._weights * is_affected),
            self._mean(without.losses),
            self._mean(without.is_right),
            *self._interval(without.losses - self._full.losses),
            *self._interval(without.is_right.astype(float) - self._full.is_right),
        )

    def _interval(self, change: Floats) -> tuple[float, float]:
        """Return Student's interval of a weighted mean change; the scale of the weights does not matter."""
        n, mean = float(self._rows.counts.sum()), self._mean(change)
        shares = self._rows.weights / self._weights.sum()  # of one copy of each row
        variance = float(self._rows.counts @ (shares * (change - mean)) ** 2) * n / max(n - 1.0, 1.0)
        half_width = student_critical_value(max(n - 1.0, 1.0), self._level) * math.sqrt(variance)
        return mean - half_width, mean + half_width
