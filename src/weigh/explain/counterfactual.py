"""The smallest flip: without which of its features a row would get another verdict."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain.minimal_removal import AdditiveRow, RemovalSet, smallest_removal, smallest_removal_to_class
from weigh.explain.value_changes import ValueChange, find_value_changes
from weigh.features.blocks import Floats
from weigh.model.evidence.evidence import EvidenceRow
from weigh.source import Chunk
from weigh.text import (
    format_probability,
    format_quantity,
    format_signed,
    html_paragraph,
    html_table,
    text_table,
    to_json_value,
    truncate,
)


@dataclass(frozen=True, eq=False, repr=False)
class Flip:
    """The result of `flip`; prints as text of at most 80 columns.

    Without the features in `removed` the verdict is `becomes`, and no smaller set of features changes it
    (`is_smallest`; only a search for one class among many may end before that is proved). Where no removal
    does it, or was found to, `becomes` is None and `removed` empty. `left` are the other features, and the
    prior or bias first. Amounts are what each speaks for the verdict against `becomes`, or against the class
    asked for or the runner-up, in nats or in points as `unit` says; together they are `lead`. `probability`
    is that of the verdict, `afterwards` that of `becomes` without what was removed; a perceptron has neither.
    `changes`, where they were asked for, are all single values that would flip the verdict were they others.
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

    @property
    def flips(self) -> bool:
        """Whether some removal does it."""
        return self.becomes is not None

    @property
    def lead(self) -> float:
        """By how much the verdict leads with all features."""
        return float(sum(row.nats for row in (*self.left, *self.removed)))

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        names = (
            "verdict",
            "wanted",
            "becomes",
            "against",
            "unit",
            "probability",
            "afterwards",
            "is_smallest",
        )
        return {name: to_json_value(getattr(self, name)) for name in names} | {
            "removed": [_row_to_dict(row) for row in self.removed],
            "left": [_row_to_dict(row) for row in self.left],
            "changes": None if self.changes is None else [each.to_dict() for each in self.changes],
        }

    def __str__(self) -> str:
        return format_flip(self)

    def __repr__(self) -> str:
        return flip_headline(self)

    def _repr_html_(self) -> str:
        return flip_html(self)

    def plot(self, most: int = 20) -> Any:
        """Return a picture of what speaks for the verdict, what is removed apart from the rest."""
        return plot_flip(self, most)


def flip(model: Any, row: Any, to: Any = None, *, changes: bool = True) -> Flip:
    """Return the smallest set of a row's features without which the verdict is another.

    A category, a flag or a number that is removed is missing and adds nothing; a word that is removed does
    not occur, whose absence may be evidence too. The set is exact for every classifier whose score is a sum:
    naive Bayes, perceptrons, logistic regression and linear models.

    Parameters
    ----------
    model : a model of this library, or an estimator
    row : one row, as `predict` takes it
    to : the class that the verdict shall become; None takes any other
    changes : whether to list also what single values would flip it: every other level of a category or flag,
        and for a number the nearest thresholds above and below
    """
    ours = getattr(model, "model_", model)
    if not hasattr(ours, "chunks"):
        raise errors.Unsupported(
            f"flip needs a trained model of this library, got {type(model).__name__}. Fit one first."
        )
    removals = AdditiveRow.from_chunk(ours, _require_single_row(ours, row))
    verdict = removals.predict_without()
    if verdict is None:
        raise errors.ImpossibleEvidence(
            "This row has probability 0 in every class, so there is no verdict to flip. Train with a prior "
            "above 0."
        )
    goal = _target_class(removals, verdict, to)
    found = (
        smallest_removal(removals, verdict)
        if goal is None
        else smallest_removal_to_class(removals, verdict, goal)
    )
    result = _build_flip(removals, verdict, goal, found)
    return replace(result, changes=tuple(find_value_changes(removals, verdict, goal))) if changes else result


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


def _build_flip(row: AdditiveRow, verdict: int, goal: int | None, found: RemovalSet) -> Flip:
    classes = row.model.classes
    removed = () if found.removed is None else found.removed
    becomes = None if found.removed is None else row.predict_without(removed)
    before = row.scores()
    shares, shares_after = row.probabilities(before), row.probabilities(row.scores(removed))
    rival = becomes if becomes is not None else goal if goal is not None else _runner_up(before[0], verdict)
    rows = [_feature_row(row, at, verdict, rival) for at in range(len(row.removable_features))]
    first = EvidenceRow(
        row.base_name, "", row.report_scale * _score_difference(row.base_scores, verdict, rival)
    )
    return Flip(
        classes[verdict],
        None if goal is None else classes[goal],
        None if becomes is None else classes[becomes],
        None if rival is None else classes[rival],
        tuple(rows[at] for at in sorted(removed, key=lambda at: -rows[at].nats)),
        (first, *(each for at, each in enumerate(rows) if at not in set(removed))),
        "points" if shares is None else "nats",
        None if shares is None else float(shares[0, verdict]),
        None if shares_after is None or becomes is None else float(shares_after[0, becomes]),
        found.is_smallest,
    )


def _runner_up(scores: Floats, verdict: int) -> int | None:
    rest = [c for c in range(len(scores)) if c != verdict]
    return max(rest, key=lambda c: (scores[c], -c)) if rest else None


def _feature_row(row: AdditiveRow, at: int, verdict: int, rival: int | None) -> EvidenceRow:
    """Return what a feature speaks for the verdict: what it adds beyond what its absence would."""
    unit = row.removable_features[at][1]
    kept, gone = (
        _score_difference(logs, verdict, rival) for logs in (unit.present_scores, unit.removed_scores)
    )
    return EvidenceRow(unit.feature, unit.value, row.report_scale * (kept - gone))


def _score_difference(logs: Floats, first: int, second: int | None) -> float:
    other = 0.0 if second is None else float(logs[second])
    return 0.0 if float(logs[first]) == other else float(logs[first]) - other


def _row_to_dict(row: EvidenceRow) -> dict[str, Any]:
    return {"feature": row.feature, "value": row.value, "weight": to_json_value(row.nats)}


LINE_WIDTH = 80
NAME_WIDTH = 48
MAX_LISTED_CHANGES = 12


def format_flip(flip: Flip) -> str:
    """The whole flip as text."""
    parts = [textwrap.fill(sentence, LINE_WIDTH) for sentence in _flip_sentences(flip)]
    if flip.removed:
        rows = [[truncate(row.title, NAME_WIDTH), format_signed(row.nats, 4)] for row in flip.removed]
        parts.insert(1, text_table(rows, indent="  "))
    if flip.changes is not None:
        parts += [_changes_title(flip), *([text_table(_change_rows(flip), 3, "  ")] if flip.changes else [])]
    return "\n\n".join(parts)


def flip_headline(flip: Flip) -> str:
    """What the flip says, in one sentence."""
    return next(_flip_sentences(flip))


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
    total = sum(row.nats for row in flip.removed)
    speaks = "It speaks" if len(flip.removed) == 1 else "Together they speak"
    yield (
        f"{speaks} for {flip.verdict} against {flip.becomes} by {format_signed(total, 4)} {flip.unit}, "
        f"of a lead of {format_signed(flip.lead, 4)}."
        + (" No smaller set does it." if flip.is_smallest else " A smaller set may do it too.")
    )


def _changes_title(flip: Flip) -> str:
    number = len(flip.changes or ())
    if not number:
        return "No single other value flips it."
    shown = f"; the first {MAX_LISTED_CHANGES}" if number > MAX_LISTED_CHANGES else ""
    return f"{format_quantity(number, 'single other value flips', 'single other values flip')} it{shown}:"


def _change_rows(flip: Flip) -> list[list[str]]:
    return [
        [
            truncate(f"{each.feature} = {each.now}", 34),
            truncate(f"→ {each.to}", 26),
            truncate(each.becomes, 12),
        ]
        for each in (flip.changes or ())[:MAX_LISTED_CHANGES]
    ]


def _format_probability(share: float | None, is_rounded: bool) -> str:
    return "" if share is None else f" (probability {format_probability(share, is_rounded)})"


def flip_html(flip: Flip) -> str:
    """The flip as an HTML table with its sentences."""
    head, *others = _flip_sentences(flip)
    changes = ""
    if flip.changes is not None:
        rows = [["value", "were it", "verdict"], *_change_rows(flip)]
        changes = (
            html_table(_changes_title(flip), rows, 3)
            if flip.changes
            else html_paragraph(_changes_title(flip))
        )
    if not flip.removed:
        return f"<div>{html_paragraph(head)}{changes}</div>"
    rows = [["feature", "value", flip.unit]]
    rows += [[row.feature, row.value, format_signed(row.nats, 4)] for row in flip.removed]
    table = html_table(head, rows, 2, [row.nats for row in flip.removed])
    return f"<div>{table}{''.join(map(html_paragraph, others))}{changes}</div>"


def plot_flip(flip: Flip, most: int) -> Any:
    """Draw what speaks for the verdict, what is removed apart from the strongest of the rest."""
    from weigh.pictures import bar_chart
    from weigh.pictures.chart_data import clip_infinite

    left = sorted(flip.left, key=lambda row: -abs(row.nats))[:most]
    pairs = [(row, "removed") for row in flip.removed] + [(row, "left") for row in left]
    sizes = clip_infinite([row.nats for row, _ in pairs])
    table = [
        {"name": truncate(row.title, NAME_WIDTH), "value": size, "group": group}
        for (row, group), size in zip(pairs, sizes, strict=True)
    ]
    against = "" if flip.against is None else f" against {flip.against}"
    title = f"{flip.verdict}: no removal {'changes it' if flip.is_smallest else 'was found that changes it'}"
    if flip.flips:
        title = f"{flip.verdict} becomes {flip.becomes} without what is removed"
    return bar_chart(table, x=f"{flip.unit} for {flip.verdict}{against}", title=truncate(title, LINE_WIDTH))
