"""A curve of accuracies as text of at most 80 columns, as HTML and as rows to draw."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.apps.spelling.trial.compare_text import WIDTH, heads, share
from weigh.apps.spelling.trial.scoring import MAJORITY
from weigh.text import aligned, counted, html_note, html_table

if TYPE_CHECKING:
    from weigh.apps.spelling.trial.curve import Curve, LearnerCurve

LINES = 6  # that colours tell apart
BANDS = 2  # more of them cover each other
LAW_STEPS = 20


def text(found: Curve) -> str:
    """The whole curve as text."""
    parts = [textwrap.fill(headline(found), WIDTH), aligned(_points(found), left=0, indent="  ")]
    if any(each.law for each in found.learners):
        parts.append(aligned(_laws(found), left=2))
    return "\n\n".join([*parts, "\n".join(textwrap.fill(note, WIDTH) for note in _notes(found))])


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


def _points(found: Curve) -> list[list[str]]:
    names = [each.name for each in found.learners]
    means = np.array([each.means for each in found.learners])
    rows = [[f"{words:,}", *map(share, means[:, at].tolist())] for at, words in enumerate(found.words)]
    table = [["words", *heads(names)], *rows]
    if len(found.sets) > 1:
        table.append(["± at last", *(share(float(each.errors[-1])) for each in found.learners)])
    return table


def _laws(found: Curve) -> list[list[str]]:
    rows = [
        [each.name, str(each.law), "-" if each.late is None else each.late.gain]
        for each in found.learners
        if each.law is not None
    ]
    return [["", "log-linear law of the accuracy, all sizes", "at last"], *rows]


def _notes(found: Curve) -> list[str]:
    notes = ["% right, mean of the sets; major: the commonest word of a set, always."]
    if len(found.sets) > 1:
        notes[0] += " ± are standard errors over the sets."
    if any(each.law for each in found.learners):
        notes.append(
            "The number before log10 is what ten times the text brings. at last: the points that it brings "
            "by the law of the sizes from a tenth of all words on."
        )
    if found.left_out:
        names = ", ".join("/".join(words) for words in found.left_out)
        notes.append(f"Not in the text held out, and left out: {names}.")
    return notes


def drawn(found: Curve) -> list[dict[str, Any]]:
    """Rows of a picture: means, of two lines at most with a standard error to each side, and the laws.

    More lines than can be told apart do without the voted perceptron, whose averaged twin is as good.
    """
    shown = [each for each in found.learners if len(found.learners) <= LINES or each.name != "voted"]
    rows = [row for each in shown for row in _measured(found, each, has_band=len(shown) <= BANDS)]
    return rows + [row for each in shown if each.name != MAJORITY for row in _fitted(found, each)]


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
