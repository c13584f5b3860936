"""Counterfactual explanations: the smallest set of features whose removal changes a verdict."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain.additive_row import AdditiveRow
from weigh.explain.minimal_removal import RemovalSet, smallest_removal, smallest_removal_to_class
from weigh.explain.pair_removal import smallest_removal_with_pairs
from weigh.explain.value_changes import ValueChange, find_value_changes
from weigh.features.blocks import Floats
from weigh.model.evidence.evidence import EvidenceRow
from weigh.result import LINE_WIDTH, Lines, Section, Table, TabularResult
from weigh.source.chunk import Chunk
from weigh.text import escape_control_characters, format_probability, format_quantity, format_signed, truncate


@dataclass(frozen=True, eq=False, repr=False)
class Flip(TabularResult):
    """The result of `flip`; prints as text of at most 80 columns.

    Without the features in `removed` the verdict is `becomes`. If `is_smallest`, no smaller set changes the
    verdict; only the search for one class among many may stop before that is proved. If no removal was
    found, `becomes` is None and `removed` is empty. `left` holds the class prior or bias, then the other
    features. The weight of a feature is its evidence for the verdict against `against` (`becomes`, else the
    class asked for, else the runner-up), in nats or points (`unit`); they sum to `lead`. `probability` is
    that of the verdict and `afterwards` that of `becomes` after the removal; a perceptron has neither.
    `changes`, if requested, are all changes of a single value that flip the verdict. In a model with
    surfaces, `removed_pairs` are the effects of pairs of columns that go with the removed features, and
    `left_pairs` the others.
    """

    verdict: Any
    wanted: Any
    becomes: Any
    against: Any
    removed: tuple[EvidenceRow, ...]
    left: tuple[EvidenceRow, ...]
    unit: str
    probability: float | None = None
    afterwards: float | None = None
    is_smallest: bool = True
    changes: tuple[ValueChange, ...] | None = None
    removed_pairs: tuple[EvidenceRow, ...] = ()
    left_pairs: tuple[EvidenceRow, ...] = ()
    _json = (
        *("verdict", "wanted", "becomes", "against", "unit", "probability", "afterwards", "is_smallest"),
        *("removed", "left", "changes", "removed_pairs", "left_pairs"),
    )
    _frames = ("removed", "left")

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain values; the pairs are among them only if there are any."""
        facts = super().to_dict()
        return (
            facts
            if self.removed_pairs or self.left_pairs
            else {k: facts[k] for k in facts if "pairs" not in k}
        )

    @property
    def flips(self) -> bool:
        """Whether a removal changes the verdict."""
        return self.becomes is not None

    @property
    def lead(self) -> float:
        """The score difference between the verdict and `against` with all features."""
        rows = (*self.left, *self.removed, *self.left_pairs, *self.removed_pairs)
        return float(sum(row.nats for row in rows))

    @property
    def headline(self) -> str:
        """The verdict before and after the removal."""
        return next(_flip_sentences(self))

    def sections(self) -> list[Section]:
        """Return the removed features, their weight, and the changes of single values."""
        _, *others = _flip_sentences(self)
        sections = [Section("weight", [sentence]) for sentence in others]
        if self.removed:
            sections.insert(0, Section("removed", [_removed_lines(self)]))
        if self.changes is not None:
            sections.append(_changes_section(self.changes))
        return sections

    def __repr__(self) -> str:
        return escape_control_characters(self.headline)

    def plot(self, most: int = 20) -> Any:
        """Plot the evidence for the verdict, with removed and remaining features in separate panels."""
        return plot_flip(self, most)


def flip(model: Any, row: Any, to: Any = None, *, changes: bool = True) -> Flip:
    """Find the smallest set of features of a row whose removal changes the verdict.

    A removed category, flag or number is treated as missing and contributes nothing; a removed word does not
    occur, and its absence may be evidence too. A missing number of a curve has a height of its own, and the
    surfaces of a missing column contribute nothing. The result is exact for every classifier whose score is a
    sum over features: naive Bayes, perceptrons, logistic regression and other linear models.

    Parameters
    ----------
    model : a model of this library, or a fitted estimator
    row : one row, in any form that `predict` accepts
    to : the desired class; None accepts any other class
    changes : whether to list also the changes of a single value that flip the verdict: other levels of a
        category or flag, and the nearest thresholds above and below a number (of a curve, its nearest cells)
    """
    fitted = getattr(model, "model_", model)
    if not hasattr(fitted, "chunks"):
        raise errors.Unsupported(
            f"flip needs a trained model of this library, got {type(model).__name__}. Fit one first."
        )
    additive = AdditiveRow.from_chunk(fitted, _require_single_row(fitted, row))
    verdict = additive.predict_without()
    if verdict is None:
        raise errors.ImpossibleEvidence(
            "This row has probability 0 in every class, so there is no verdict to flip. Train with a prior "
            "above 0."
        )
    goal = _target_class(additive, verdict, to)
    result = _build_flip(additive, verdict, goal, _find_removal(additive, verdict, goal))
    return replace(result, changes=tuple(find_value_changes(additive, verdict, goal))) if changes else result


def _find_removal(row: AdditiveRow, verdict: int, goal: int | None) -> RemovalSet:
    if row.pair_contributions:
        return smallest_removal_with_pairs(row, verdict, goal)
    return smallest_removal(row, verdict) if goal is None else smallest_removal_to_class(row, verdict, goal)


def _require_single_row(model: Any, row: Any) -> Chunk:
    chunks: list[Chunk] = list(model.chunks(row))
    n = sum(chunk.n_rows for chunk in chunks)
    if n != 1:
        raise errors.DataError(f"flip takes one row, got {n:,}. Give one, such as a dict of its values.")
    return next(chunk for chunk in chunks if chunk.n_rows)


def _target_class(row: AdditiveRow, verdict: int, to: Any) -> int | None:
    classes = list(row.model.classes)
    if to is None:
        return None
    if np.ndim(to) or to not in classes:
        raise errors.LabelError(
            f"The model has no class {errors.one_line_repr(to)}; it has {errors.quote_names(classes)}."
        )
    goal = classes.index(to)
    if goal == verdict:
        raise errors.parameter_error("flip", "to", "another class than the verdict", to)
    return goal


def _build_flip(row: AdditiveRow, verdict: int, goal: int | None, removal: RemovalSet) -> Flip:
    classes = row.model.classes
    removed = () if removal.removed is None else removal.removed
    becomes = None if removal.removed is None else row.predict_without(removed)
    scores = row.scores()
    before, after = row.probabilities(scores), row.probabilities(row.scores(removed))
    rival = becomes if becomes is not None else goal if goal is not None else _runner_up(scores[0], verdict)
    rows = [_feature_row(row, at, verdict, rival) for at in range(len(row.removable_features))]
    base = EvidenceRow(
        row.base_name, "", row.report_scale * _score_difference(row.absent_base_scores, verdict, rival)
    )
    gone, kept = _pair_rows(row, removed, verdict, rival)
    return Flip(
        classes[verdict],
        None if goal is None else classes[goal],
        None if becomes is None else classes[becomes],
        None if rival is None else classes[rival],
        tuple(rows[at] for at in sorted(removed, key=lambda at: -rows[at].nats)),
        (base, *(feature for at, feature in enumerate(rows) if at not in set(removed))),
        "points" if before is None else "nats",
        None if before is None else float(before[0, verdict]),
        None if after is None or becomes is None else float(after[0, becomes]),
        removal.is_smallest,
        removed_pairs=gone,
        left_pairs=kept,
    )


def _pair_rows(
    row: AdditiveRow, removed: Sequence[int], verdict: int, rival: int | None
) -> tuple[tuple[EvidenceRow, ...], tuple[EvidenceRow, ...]]:
    """Return the evidence of the pairs of columns that go with the removed features, and of the others."""
    sides: tuple[list[EvidenceRow], list[EvidenceRow]] = [], []
    for effect in row.pair_contributions:
        evidence = row.report_scale * _score_difference(effect.scores, verdict, rival)
        is_kept = set(removed).isdisjoint(effect.features)
        sides[is_kept].append(EvidenceRow(effect.name, effect.value, evidence))
    return tuple(sides[0]), tuple(sides[1])


def _runner_up(scores: Floats, verdict: int) -> int | None:
    rivals = [c for c in range(len(scores)) if c != verdict]
    return max(rivals, key=lambda c: (scores[c], -c)) if rivals else None


def _feature_row(row: AdditiveRow, at: int, verdict: int, rival: int | None) -> EvidenceRow:
    """Return the evidence of a feature for the verdict: its contribution minus that of its absence."""
    feature = row.removable_features[at][1]
    present, absent = (
        _score_difference(scores, verdict, rival)
        for scores in (feature.present_scores, feature.removed_scores)
    )
    return EvidenceRow(feature.feature, feature.value, row.report_scale * (present - absent))


def _score_difference(scores: Floats, first: int, second: int | None) -> float:
    other = 0.0 if second is None else float(scores[second])
    return 0.0 if float(scores[first]) == other else float(scores[first]) - other


NAME_WIDTH = 48
# Not the hyphens of dates, words and codes such as 2024-05-01, log-normal and A-7.
_NUMBER_SIGN = re.compile(r"(?<![^\s(])-(?=\.?\d)|(?<=\de)-(?=\d)")
MAX_LISTED_CHANGES = 12


def _flip_sentences(flip: Flip) -> Iterator[str]:
    is_rounded = flip.against is not None and math.isfinite(flip.lead)
    now = f"{flip.verdict}{_format_probability(flip.probability, is_rounded)}"
    features = len(flip.removed) + len(flip.left) - 1
    if not flip.flips:
        wanted = "anything else" if flip.wanted is None else str(flip.wanted)
        if not flip.is_smallest:
            yield f"{now}. No removal of features was found that makes it {wanted}; there may be one."
            return
        what = "No removal of features" if features else "The row has no features, and nothing"
        yield f"{now}. {what} makes it {wanted}."
        return
    what = "this one" if len(flip.removed) == 1 else f"these {len(flip.removed):,}"
    of = f"{what} of its {format_quantity(features, 'feature')}"
    yield f"{now}. Without {of} it would be {flip.becomes}{_format_probability(flip.afterwards, is_rounded)}."
    total = sum(row.nats for row in (*flip.removed, *flip.removed_pairs))
    is_single = len(flip.removed) + len(flip.removed_pairs) == 1
    speaks = "It speaks" if is_single else "Together they speak"
    yield (
        f"{speaks} for {flip.verdict} against {flip.becomes} by {format_signed(total, 4)} {flip.unit}, "
        f"of a lead of {format_signed(flip.lead, 4)}."
        + (" No smaller set does it." if flip.is_smallest else " A smaller set may do it too.")
    )


def _removed_lines(flip: Flip) -> Lines:
    removed = (*flip.removed, *flip.removed_pairs)
    rows = [[_format_title(row), format_signed(row.nats, 4)] for row in removed]
    text = Table(rows, indent="  ", widths=(NAME_WIDTH,), has_header=False).to_text()
    cells = [[row.feature, _set_minus_signs(row.value), format_signed(row.nats, 4)] for row in removed]
    bars = [row.nats for row in removed]
    widths = (NAME_WIDTH, NAME_WIDTH)
    return Lines(text, Table([["feature", "value", flip.unit], *cells], left=2, widths=widths, bars=bars))


def _changes_section(changes: Sequence[ValueChange]) -> Section:
    if not changes:
        return Section("changes", ["No single other value flips it."])
    shown = f"; the first {MAX_LISTED_CHANGES}" if len(changes) > MAX_LISTED_CHANGES else ""
    number = format_quantity(len(changes), "single other value flips", "single other values flip")
    rows = [
        [
            f"{change.feature} = {_set_minus_signs(change.now)}",
            f"→ {_set_minus_signs(change.to)}",
            str(change.becomes),
        ]
        for change in changes[:MAX_LISTED_CHANGES]
    ]
    text_table = Table(rows, left=3, indent="  ", widths=(34, 26, 12), has_header=False)
    html_table = replace(text_table, rows=[["value", "were it", "verdict"], *rows], has_header=True)
    return Section("changes", [Lines(text_table.to_text(), html_table)], f"{number} it{shown}:")


def _format_title(row: EvidenceRow) -> str:
    return replace(row, value=_set_minus_signs(row.value)).title


def _set_minus_signs(text: str) -> str:
    """Return a displayed value with minus signs in its negative numbers and exponents, as in the weights."""
    return _NUMBER_SIGN.sub("−", text)


def _format_probability(share: float | None, is_rounded: bool) -> str:
    return "" if share is None else f" (probability {format_probability(share, is_rounded)})"


def plot_flip(flip: Flip, most: int) -> Any:
    """Plot the removed features and, in a second panel, the `most` strongest others."""
    from weigh.pictures import bar_chart
    from weigh.pictures.chart_data import clip_infinite

    left = sorted((*flip.left, *flip.left_pairs), key=lambda row: -abs(row.nats))[:most]
    pairs = [(row, "removed") for row in (*flip.removed, *flip.removed_pairs)]
    pairs += [(row, "left") for row in left]
    sizes = clip_infinite([row.nats for row, _ in pairs])
    table = [
        {"name": truncate(_format_title(row), NAME_WIDTH), "value": size, "group": group}
        for (row, group), size in zip(pairs, sizes, strict=True)
    ]
    against = "" if flip.against is None else f" against {flip.against}"
    title = f"{flip.verdict}: no removal {'changes it' if flip.is_smallest else 'was found that changes it'}"
    if flip.flips:
        title = f"{flip.verdict} becomes {flip.becomes} without what is removed"
    return bar_chart(table, x=f"{flip.unit} for {flip.verdict}{against}", title=truncate(title, LINE_WIDTH))
