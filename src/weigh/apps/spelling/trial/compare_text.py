"""A comparison of learners as text of at most 80 columns, as HTML and as rows to draw."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weigh.apps.spelling.trial.scoring import MAJORITY
from weigh.text import aligned, amount, columns, counted, cut, html_note, html_table, minus

if TYPE_CHECKING:
    from weigh.apps.spelling.trial.compare import LearnerComparison

WIDTH = 80
NAME, WIDER = 19, 60
DRAWN = 60  # sets
# Six learners side by side may leave no room for whole names.
SHORT = {
    MAJORITY: "major",
    "naive-bayes": "bayes",
    "bernoulli": "bern.",
    "perceptron": "perc.",
}


# Widths of names, and whether learners have short ones: the first that fit.
_SHAPES = ((WIDER, False), (NAME, False), (NAME, True))


def text(found: LearnerComparison) -> str:
    """The whole comparison as text."""
    tables = fitted(*("\n\n".join(_tables(found, *shape)) for shape in _SHAPES))
    parts = [
        textwrap.fill(headline(found), WIDTH),
        tables,
        "\n".join(textwrap.fill(note, WIDTH) for note in _notes(found, explained(found.learners, tables))),
    ]
    return "\n\n".join(parts)


def _tables(found: LearnerComparison, width: int, is_short: bool) -> list[str]:
    return [aligned(_shares(found, width, is_short)), aligned(_sizes(found, width, is_short))]


def markup(found: LearnerComparison) -> str:
    """The comparison as HTML tables with its sentences."""
    tables = [
        html_table(headline(found), _shares(found, WIDER)),
        html_table("Features", _sizes(found, WIDER)),
    ]
    return f"<div>{''.join([*tables, *map(html_note, _notes(found))])}</div>"


def headline(found: LearnerComparison) -> str:
    """What was learned and judged, in one sentence."""
    learned = f"{counted(found.learned_words, 'word')} of {counted(found.learned_documents, 'document')}"
    judged = f"{counted(found.judged_words, 'word')} of {counted(found.judged_documents, 'other')}"
    return f"{counted(len(found.sets), 'set')} learned from {learned}, judged on {judged}"


def fitted(*tables: str) -> str:
    """The first of some tables that is no wider than a page, else the last."""
    narrow = (table for table in tables if max(map(columns, table.splitlines())) <= WIDTH)
    return next(narrow, tables[-1])


def heads(learners: Sequence[str], is_short: bool) -> list[str]:
    """Names of learners as heads of columns."""
    return [SHORT.get(name, name) if is_short else name for name in learners]


def explained(learners: Sequence[str], table: str) -> list[str]:
    """The sentence that says which names a table has short, if it has any."""
    head = table.partition("\n")[0].split()
    names = [f"{SHORT[name]}: {name}" for name in learners if name in SHORT and name not in head]
    return [f"Names in short: {', '.join(names)}."] if names else []


def share(value: float) -> str:
    """A share in percent without its sign."""
    return "-" if math.isnan(value) else f"{100 * value:.1f}"


def fraction(value: float) -> str:
    """A share with three digits."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def _shares(found: LearnerComparison, width: int, is_short: bool = False) -> list[list[str]]:
    def row(title: str, judged: str, values: list[float]) -> list[str]:
        return [cut(title, width), judged, *map(share, values)]

    names = found.learners
    return [
        ["% right", "judged", *heads(names, is_short)],
        *(row(s.name, amount(s.judged), [s.accuracy(name) for name in names]) for s in found.sets),
        row("mean of the sets", "", [found.mean(name) for name in names]),
        row("by occurrence", "", [found.by_occurrence(name) for name in names]),
    ]


def _sizes(found: LearnerComparison, width: int, is_short: bool = False) -> list[list[str]]:
    """Return the features by set; learners that keep the same ones share a column."""
    same: dict[tuple[int, ...], list[str]] = {}
    for name in found.learners[1:]:
        same.setdefault(tuple(each.hits[name].features for each in found.sets), []).append(name)
    rows = [
        [cut(each.name, width), amount(each.learned), *(amount(sizes[at]) for sizes in same)]
        for at, each in enumerate(found.sets)
    ]
    learned = sum(each.learned for each in found.sets)
    head = ["features", "learned", *(", ".join(heads(names, is_short)) for names in same.values())]
    return [head, *rows, ["all sets", amount(learned), *(amount(sum(sizes)) for sizes in same)]]


def _notes(found: LearnerComparison, first: Sequence[str] = ()) -> list[str]:
    gains = []
    for name in found.learners[1:]:
        more, error = found.gain(name)
        known = "" if math.isnan(error) else f" ± {100 * error:.1f}"
        gains.append(f"{name} {minus(f'{100 * more:+.1f}')}{known}")
    notes = [
        *first,
        "majority: the commonest word of a set, always. Points above it, mean of the sets"
        f"{' ± standard error' if len(found.judged) > 1 else ''}: {', '.join(gains)}.",
        "features: how many a learner keeps; learned, judged: occurrences.",
    ]
    if left := [each.name for each in found.sets if not each.judged]:
        notes.append(f"Not in the text held out, and in no mean: {', '.join(left)}.")
    return notes


def drawn(found: LearnerComparison) -> list[dict[str, Any]]:
    """A dot for the best learner and one for the majority of every set judged."""
    return [
        {"name": each.name, "series": name, "value": value.value, "low": value.low, "high": value.high}
        for each in found.judged
        for name in (found.best, MAJORITY)
        for value in (each.measure(name),)
    ]
