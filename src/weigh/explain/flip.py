"""The smallest flip: without which of its features a row would get another verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain import flip_text
from weigh.explain.changes import Change, changes_of
from weigh.explain.removals import Removals
from weigh.explain.smallest import Found, smallest_leaving, smallest_reaching
from weigh.features.blocks import Floats
from weigh.model.evidence import Row
from weigh.source import Chunk
from weigh.text import plain


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
    removed: tuple[Row, ...]
    left: tuple[Row, ...]
    unit: str
    probability: float | None = None
    afterwards: float | None = None
    is_smallest: bool = True
    changes: tuple[Change, ...] | None = None

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
        return {name: plain(getattr(self, name)) for name in names} | {
            "removed": [_told(row) for row in self.removed],
            "left": [_told(row) for row in self.left],
            "changes": None if self.changes is None else [each.to_dict() for each in self.changes],
        }

    def __str__(self) -> str:
        return flip_text.text(self)

    def __repr__(self) -> str:
        return flip_text.headline(self)

    def _repr_html_(self) -> str:
        return flip_text.markup(self)

    def plot(self, most: int = 20) -> Any:
        """Return a picture of what speaks for the verdict, what is removed apart from the rest."""
        return flip_text.drawn(self, most)


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
    removals = Removals.of(ours, _one(ours, row))
    verdict = removals.verdict()
    if verdict is None:
        raise errors.ImpossibleEvidence(
            "This row has probability 0 in every class, so there is no verdict to flip. Train with a prior "
            "above 0."
        )
    goal = _goal(removals, verdict, to)
    found = (
        smallest_leaving(removals, verdict) if goal is None else smallest_reaching(removals, verdict, goal)
    )
    result = _flip(removals, verdict, goal, found)
    return replace(result, changes=tuple(changes_of(removals, verdict, goal))) if changes else result


def _one(model: Any, row: Any) -> Chunk:
    chunks: list[Chunk] = list(model.chunks(row))
    n = sum(chunk.n_rows for chunk in chunks)
    if n != 1:
        raise errors.DataError(f"flip takes one row, got {n:,}. Give one, such as a dict of its values.")
    return next(chunk for chunk in chunks if chunk.n_rows)


def _goal(row: Removals, verdict: int, to: Any) -> int | None:
    classes = list(row.model.classes)
    if to is None:
        return None
    if np.ndim(to) or to not in classes:
        raise errors.LabelError(
            f"The model has no class {errors.told(to)}; it has {errors.listing(classes)}."
        )
    goal = classes.index(to)
    if goal == verdict:
        raise errors.parameter("flip", "to", "another class than the verdict", to)
    return goal


def _flip(row: Removals, verdict: int, goal: int | None, found: Found) -> Flip:
    classes = row.model.classes
    removed = () if found.removed is None else found.removed
    becomes = None if found.removed is None else row.verdict(removed)
    before = row.scores()
    shares, shares_after = row.probabilities(before), row.probabilities(row.scores(removed))
    rival = becomes if becomes is not None else goal if goal is not None else _runner_up(before[0], verdict)
    rows = [_row(row, at, verdict, rival) for at in range(len(row.units))]
    first = Row(row.start, "", row.slope * _difference(row.rest, verdict, rival))
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


def _row(row: Removals, at: int, verdict: int, rival: int | None) -> Row:
    """Return what a feature speaks for the verdict: what it adds beyond what its absence would."""
    unit = row.units[at][1]
    kept, gone = (_difference(logs, verdict, rival) for logs in (unit.kept, unit.gone))
    return Row(unit.feature, unit.value, row.slope * (kept - gone))


def _difference(logs: Floats, first: int, second: int | None) -> float:
    other = 0.0 if second is None else float(logs[second])
    return 0.0 if float(logs[first]) == other else float(logs[first]) - other


def _told(row: Row) -> dict[str, Any]:
    return {"feature": row.feature, "value": row.value, "weight": plain(row.nats)}
