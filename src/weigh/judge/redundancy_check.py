"""Whether a naive Bayes model predicts better without the features that repeat others.

The features are found in a sample of the rows that does not depend on their order, and each is left out in
turn. Training rows are predicted by the model without them, other rows by the model itself. The log losses
with and without the feature are compared row by row, so their difference is known better than each of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.features.blocks import Floats
from weigh.features.schema import ColumnGroup
from weigh.features.text_kinds import BagOfWordsKind
from weigh.features.words import as_sparse_block
from weigh.judge.ablation import LeftOut, Outcomes, class_indices, predict_without, split_training_rows
from weigh.learn.labelled_sample import LabelledSample
from weigh.learn.redundancy import MAX_COLUMNS, MIN_EFFECT, find_dependent_columns
from weigh.learn.word_redundancy import find_word_groups
from weigh.model.naive_bayes import BayesModel
from weigh.priors.quantiles import student_critical_value
from weigh.result import Facts
from weigh.source.chunk import Chunk

MIN_WORD_CHANGE = 1e-4  # of a probability
MAX_TESTED = 5  # features that are left out one at a time
NO_DIFFERENCE = "no clear difference"


@dataclass(frozen=True)
class RedundantFeature(Facts):
    """A feature, or words of a column, that repeat another one, and the predictions without them.

    `kind` is that of the column. `share` is the part of its information that the other has too.
    `confidence_change` is how much the probability of the predicted class changes without it on average; for
    words, over the rows that change. `low` and `high` are the confidence interval of the change of the log
    loss, `accuracy_low` and `accuracy_high` that of the accuracy. The `verdict` is "helps" if the log loss
    surely falls, "hurts" if it surely rises, "mixed" if it falls and so does the accuracy, and otherwise
    "no clear difference".
    """

    column: str
    kind: str
    features: tuple[str, ...]
    repeats: str
    share: float
    are_words: bool
    confidence_change: float
    log_loss_without: float
    accuracy_without: float
    low: float
    high: float
    accuracy_low: float
    accuracy_high: float

    @property
    def verdict(self) -> str:
        """Whether leaving the feature out helps."""
        if self.high < 0:
            return "mixed" if self.accuracy_high < 0 else "helps"
        return "hurts" if self.low > 0 else NO_DIFFERENCE

    _json = (
        *("column", "kind", "features", "repeats", "share", "are_words", "confidence_change"),
        *("log_loss_without", "accuracy_without", "low", "high", "accuracy_low", "accuracy_high", "verdict"),
    )


@dataclass(frozen=True)
class RedundancyCheck(Facts):
    """The redundant features of a model, tested on `n` different rows; `is_sample` says if these are not all.

    `log_loss` and `accuracy` are those with all features. `features` were left out one at a time, those with
    the largest shares; `found` is how many there are. `together` leaves out all that were found at once, if
    there are several.
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
    left_out: LeftOut

    @property
    def are_words(self) -> bool:
        return self.left_out.group is not None


def check_redundancy(
    model: BayesModel, sample: LabelledSample, *, has_seen: bool, is_calibrated: bool, level: float
) -> RedundancyCheck | None:
    """Find and test redundant features; None if there are none, or no row can be judged.

    `has_seen` says whether the model was trained on all of the rows. Of a calibrated model, both sides of a
    comparison have the temperature that suits them best, because a calibration would be fitted anew.
    """
    rows = sample.rows()
    candidates = find_candidates(model, rows)
    if not candidates:
        return None
    parts = list(split_training_rows(model, rows, sample.total_weight)) if has_seen else [(model, rows)]
    parts = [(each, _known_classes(each, part)) for each, part in parts]
    parts = [(each, part) for each, part in parts if part.n_rows and len(each.classes) > 1]
    if not parts:
        return None
    test = _AblationTest(parts, is_calibrated, level)
    candidates = [*_relevant_columns(test, candidates), *(each for each in candidates if each.are_words)]
    tested = [(each, test.leave_out([each])) for each in candidates[:MAX_TESTED]]
    # The columns matter together; words of different groups hardly ever occur in the same rows.
    kept = [(c, f) for c, f in tested if not c.are_words or f.confidence_change >= MIN_EFFECT]
    if not kept:
        return None
    others = candidates[MAX_TESTED:]
    all_kept = [*(c for c, _ in kept), *others]
    return RedundancyCheck(
        n=test.n,
        is_sample=not sample.is_complete,
        found=len(all_kept),
        log_loss=test.log_loss,
        accuracy=test.accuracy,
        features=tuple(feature for _, feature in kept),
        together=test.leave_out(all_kept) if len(all_kept) > 1 else None,
    )


def _relevant_columns(test: _AblationTest, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the columns, if one is repeated completely or the probabilities change without all of them."""
    columns = [each for each in candidates if not each.are_words]
    if not columns or columns[0].share > 1 - 1e-9:
        return columns
    return columns if test.leave_out(columns).confidence_change >= MIN_EFFECT else []


def find_candidates(model: BayesModel, rows: Chunk) -> list[_Candidate]:
    """Return the features that repeat others: columns by share, then words by the number of rows."""
    weights = rows.weights if rows.weights is not None else np.ones(rows.n_rows)
    pairs = find_dependent_columns(model.schema, rows, np.rint(weights).astype(np.int64))
    kinds = {name: group.kind.name for group in model.schema.column_groups for name in group.names}
    columns = [_Candidate(p.second, kinds[p.second], p.first, p.share, LeftOut((p.second,))) for p in pairs]
    return [*columns, *_find_word_candidates(model, rows, weights)]


def _find_word_candidates(model: BayesModel, rows: Chunk, weights: Floats) -> Iterator[_Candidate]:
    classes = class_indices(model, rows)
    known = classes >= 0
    blocks = model.encode(rows).blocks
    for place, (group, block) in enumerate(zip(model.schema.column_groups, blocks, strict=True)):
        if not _has_wide_rows(group) or not known.any():
            continue
        is_text = isinstance(group.kind, BagOfWordsKind)
        words = as_sparse_block(block)
        # Copies of a text are one observation; rows of flags and counts may be equal by chance.
        counts = np.ones(len(weights)) if is_text else weights
        known_rows = words.rows.select(known)
        groups = find_word_groups(known_rows, words.names, classes[known], counts[known], by_name=is_text)
        for found in groups:
            column = group.names[0] if is_text else found.repeats[0]
            yield _Candidate(column, group.kind.name, found.first, found.share, LeftOut(found.repeats, place))


def _has_wide_rows(group: ColumnGroup) -> bool:
    """Whether a group is compared as sparse rows; fewer flags are compared with the other columns."""
    kind = group.kind
    if isinstance(kind, BagOfWordsKind):
        return not kind.buckets  # several words share a bucket
    return kind.family == "multinomial" or (kind.family == "bernoulli" and len(group.names) > MAX_COLUMNS)


def _known_classes(model: BayesModel, rows: Chunk) -> Chunk:
    return rows.select(class_indices(model, rows) >= 0)


class _AblationTest:
    """Compares the outcomes of the same rows with and without features."""

    def __init__(
        self, parts: Sequence[tuple[BayesModel, Chunk]], fits_temperature: bool, level: float
    ) -> None:
        self._parts, self._fits_temperature, self._level = parts, fits_temperature, level
        self._full = [predict_without(model, rows, [], fits_temperature) for model, rows in parts]
        self._weights = np.concatenate(
            [np.ones(rows.n_rows) if rows.weights is None else rows.weights for _, rows in parts]
        )
        self.n = len(self._weights)
        self.log_loss = self._mean([full.losses for full in self._full])
        self.accuracy = self._mean([full.is_right for full in self._full])

    def _mean(self, parts: Sequence[Any]) -> float:
        return float(np.average(np.concatenate(parts), weights=self._weights))

    def leave_out(self, candidates: Sequence[_Candidate]) -> RedundantFeature:
        """Return the outcome without some features, described by the first of them."""
        left_out = [candidate.left_out for candidate in candidates]
        without = [
            predict_without(model, rows, left_out, self._fits_temperature) for model, rows in self._parts
        ]
        pairs = list(zip(self._full, without, strict=True))
        change = np.concatenate([after.losses - before.losses for before, after in pairs])
        gain = np.concatenate([after.is_right.astype(float) - before.is_right for before, after in pairs])
        first = candidates[0]
        return RedundantFeature(
            first.column,
            first.kind,
            tuple(name for candidate in candidates for name in candidate.left_out.features),
            first.repeats,
            min(candidate.share for candidate in candidates),
            first.are_words,
            self._confidence_change(pairs, first.are_words),
            self._mean([after.losses for after in without]),
            self._mean([after.is_right for after in without]),
            *self._interval(change),
            *self._interval(gain),
        )

    def _interval(self, change: Floats) -> tuple[float, float]:
        """Return Student's interval of a mean change."""
        mean = float(np.average(change, weights=self._weights))
        variance = float(np.average((change - mean) ** 2, weights=self._weights))
        freedom = max(float(self._weights.sum()) - 1.0, 1.0)
        half_width = student_critical_value(freedom, self._level) * math.sqrt(variance / freedom)
        return mean - half_width, mean + half_width

    def _confidence_change(self, pairs: Sequence[tuple[Outcomes, Outcomes]], are_words: bool) -> float:
        changes = []
        for before, after in pairs:
            at = np.arange(len(before.predicted)), before.predicted
            changes.append(np.abs(before.posterior - after.posterior)[at])
        change = np.concatenate(changes)
        # Words are left out of only some rows; the others hardly change.
        weights = self._weights * (change > MIN_WORD_CHANGE if are_words else 1.0)
        return float(np.average(change, weights=weights)) if weights.any() else 0.0
