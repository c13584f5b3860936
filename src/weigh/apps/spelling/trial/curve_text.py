"""A curve of accuracies as text of at most 80 columns, as HTML and as rows to draw."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.apps.spelling.trial.compare_text import WIDTH, explained, fitted, heads, share
from weigh.apps.spelling.trial.scoring import MAJORITY
from weigh.text import aligned, counted, html_note, html_table, percent

if TYPE_CHECKING:
    from weigh.apps.spelling.trial.curve import Curve, LearnerCurve

LAST = "± of last"
BANDS = 2  # more of them cover each other
LAW_STEPS = 20


def text(found: Curve) -> str:
    """The whole curve as text."""
    points = fitted(*(aligned(_points(found, is_short), left=0) for is_short in (False, True)))
    parts = [textwrap.fill(headline(found), WIDTH), points]
    if any(each.law for each in found.learners):
        parts.append(aligned(_laws(found), left=2))
    notes = [*explained([each.name for each in found.learners], points), *_notes(found)]
    return "\n\n".join([*parts, "\n".join(textwrap.fill(note, WIDTH) for note in notes)])


def markup(found: Curve) -> str:
    """The curve as HTML tables with its sentences."""
    tables = [html_table(headline(found), _points(found), left=0)]
    if any(each.law for each in found.learners):
        tables.append(html_table("", _laws(found), left=2))
    return f"<div>{''.join([*tables, *map(html_note, _notes(found))])}</div>"


def headline(found: Curve) -> str:
    """What was learned and judged, in one sentence."""
    return (
        f"{counted(len(found.sets), 'set')} learned from up to {counted(found.words[-1], 'word')} of "
        f"{counted(found.documents, 'document')}, judged on {counted(found.judged_words, 'word')} of "
        f"{counted(found.judged_documents, 'other')}"
    )


def _points(found: Curve, is_short: bool = False) -> list[list[str]]:
    names = [each.name for each in found.learners]
    means = np.array([each.means for each in found.learners])
    rows = [[f"{words:,}", *map(share, means[:, at].tolist())] for at, words in enumerate(found.words)]
    table = [["words", *heads(names, is_short)], *rows]
    if len(found.sets) > 1:
        table.append([LAST, *(share(float(each.errors[-1])) for each in found.learners)])
    return table


def _laws(found: Curve) -> list[list[str]]:
    rows = [
        [each.name, str(each.law), "-" if each.late is None else each.late.gain]
        for each in found.learners
        if each.law is not None
    ]
    return [["", "log-linear law of the accuracy, all sizes", "last tenfold"], *rows]


def _notes(found: Curve) -> list[str]:
    notes = ["% right, mean of the sets; majority: always the commonest word of what was learned from."]
    if len(found.sets) > 1:
        notes[0] += f" {LAST}: the standard errors over the sets at the last size."
    if any(each.law for each in found.learners):
        notes.append(
            "The number before log10 is what ten times the text brings. last tenfold: the points that it "
            "brings by the law of the sizes from a tenth of all words on."
        )
    if thinned := [each for each in zip(found.sets, found.taken, strict=True) if each[1] < 1]:
        names = ", ".join(f"{'/'.join(words)} ({percent(taken)} kept)" for words, taken in thinned)
        notes.append(
            "So frequent that not all of their occurrences are kept, and that small sizes teach less of them "
            f"than so many words would: {names}."
        )
    if found.left_out:
        names = ", ".join("/".join(words) for words in found.left_out)
        notes.append(f"Not in the text held out, and left out: {names}.")
    return notes


def drawn(found: Curve) -> list[dict[str, Any]]:
    """Rows of a picture: means, of two lines at most with a standard error to each side, and the laws."""
    has_band = len(found.learners) <= BANDS
    rows = [row for each in found.learners for row in _measured(found, each, has_band=has_band)]
    return rows + [row for each in found.learners if each.name != MAJORITY for row in _fitted(found, each)]


def _measured(found: Curve, learner: LearnerCurve, *, has_band: bool) -> list[dict[str, Any]]:
    points = zip(found.words, learner.means.tolist(), learner.errors.tolist(), strict=True)
    return [
        {"series": learner.name, "x": words, "y": mean}
        | ({"low": mean - error, "high": min(mean + error, 1.0)} if has_band and error >= 0 else {})
        for words, mean, error in points
    ]


def _fitted(found: Curve, learner: LearnerCurve) -> list[dict[str, Any]]:
    if learner.law is None:
        return []
    steps = np.geomspace(found.words[0], found.words[-1], LAW_STEPS).tolist()
    return [{"series": learner.name, "x": x, "y": learner.law.at(x), "fitted": True} for x in steps]
