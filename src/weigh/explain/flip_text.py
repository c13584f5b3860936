"""A flip as text of at most 80 columns, as HTML, and as a picture."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from weigh.text import aligned, counted, cut, html_note, html_table, probable, signed

if TYPE_CHECKING:
    from weigh.explain.flip import Flip

WIDTH = 80
NAME = 48
MOST_CHANGES = 12


def text(flip: Flip) -> str:
    """The whole flip as text."""
    parts = [textwrap.fill(sentence, WIDTH) for sentence in _sentences(flip)]
    if flip.removed:
        rows = [[cut(row.title, NAME), signed(row.nats, 4)] for row in flip.removed]
        parts.insert(1, aligned(rows, indent="  "))
    if flip.changes is not None:
        parts += [_changes_head(flip), *([aligned(_change_rows(flip), 3, "  ")] if flip.changes else [])]
    return "\n\n".join(parts)


def headline(flip: Flip) -> str:
    """What the flip says, in one sentence."""
    return next(_sentences(flip))


def _sentences(flip: Flip) -> Iterator[str]:
    is_rounded = flip.against is not None and math.isfinite(flip.lead)
    now = f"{flip.verdict}{_probable(flip.probability, is_rounded)}"
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
    of = f"{what} of its {counted(features, 'feature')}"
    yield f"{now}. Without {of} it would be {flip.becomes}{_probable(flip.afterwards, is_rounded)}."
    total = sum(row.nats for row in flip.removed)
    speaks = "It speaks" if len(flip.removed) == 1 else "Together they speak"
    yield (
        f"{speaks} for {flip.verdict} against {flip.becomes} by {signed(total, 4)} {flip.unit}, "
        f"of a lead of {signed(flip.lead, 4)}."
        + (" No smaller set does it." if flip.is_smallest else " A smaller set may do it too.")
    )


def _changes_head(flip: Flip) -> str:
    number = len(flip.changes or ())
    if not number:
        return "No single other value flips it."
    shown = f"; the first {MOST_CHANGES}" if number > MOST_CHANGES else ""
    return f"{counted(number, 'single other value flips', 'single other values flip')} it{shown}:"


def _change_rows(flip: Flip) -> list[list[str]]:
    return [
        [cut(f"{each.feature} = {each.now}", 34), cut(f"→ {each.to}", 26), cut(each.becomes, 12)]
        for each in (flip.changes or ())[:MOST_CHANGES]
    ]


def _probable(share: float | None, is_rounded: bool) -> str:
    return "" if share is None else f" (probability {probable(share, is_rounded)})"


def markup(flip: Flip) -> str:
    """The flip as an HTML table with its sentences."""
    head, *others = _sentences(flip)
    changes = ""
    if flip.changes is not None:
        rows = [["value", "were it", "verdict"], *_change_rows(flip)]
        changes = html_table(_changes_head(flip), rows, 3) if flip.changes else html_note(_changes_head(flip))
    if not flip.removed:
        return f"<div>{html_note(head)}{changes}</div>"
    rows = [["feature", "value", flip.unit]]
    rows += [[row.feature, row.value, signed(row.nats, 4)] for row in flip.removed]
    table = html_table(head, rows, 2, [row.nats for row in flip.removed])
    return f"<div>{table}{''.join(map(html_note, others))}{changes}</div>"


def drawn(flip: Flip, most: int) -> Any:
    """Draw what speaks for the verdict, what is removed apart from the strongest of the rest."""
    from weigh.pictures import bars
    from weigh.pictures.ends import bounded

    left = sorted(flip.left, key=lambda row: -abs(row.nats))[:most]
    pairs = [(row, "removed") for row in flip.removed] + [(row, "left") for row in left]
    sizes = bounded([row.nats for row, _ in pairs])
    table = [
        {"name": cut(row.title, NAME), "value": size, "group": group}
        for (row, group), size in zip(pairs, sizes, strict=True)
    ]
    against = "" if flip.against is None else f" against {flip.against}"
    title = f"{flip.verdict}: no removal {'changes it' if flip.is_smallest else 'was found that changes it'}"
    if flip.flips:
        title = f"{flip.verdict} becomes {flip.becomes} without what is removed"
    return bars(table, x=f"{flip.unit} for {flip.verdict}{against}", title=cut(title, WIDTH))
