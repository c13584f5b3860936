"""Pictures of an evaluation: facts for `weigh.pictures`, which draws them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.text import cut

if TYPE_CHECKING:
    from weigh.judge.curves import Curve
    from weigh.judge.evaluation import Evaluation

NAME = 24
CELLS = 15  # classes of a confusion table that can be read
SERIES = 5  # curves that can be told apart
ROWS = 15


def drawn(evaluation: Evaluation, what: str) -> Any:
    """Draw one of `PICTURES`."""
    if what not in PICTURES:
        raise errors.parameter("plot", "what", f"one of {errors.listing(PICTURES)}", what)
    return PICTURES[what](evaluation)


def _confusion(evaluation: Evaluation) -> Any:
    from weigh.pictures import cells

    found, names = evaluation.confusion, _names(evaluation)
    support = found.support()
    shown = list(range(len(names)))
    title = "Who is taken for whom"
    if len(shown) > CELLS:
        worst = [code for true, said, _ in found.mistakes(4 * CELLS) for code in (true, said) if code >= 0]
        shown = sorted(list(dict.fromkeys([*worst, *shown]))[:CELLS])
        title += f": {CELLS} classes with many mistakes"
    weights = dict(
        zip(zip(found.true.tolist(), found.predicted.tolist(), strict=True), found.weight, strict=True)
    )
    table = [
        {
            "row": names[true],
            "column": names[said],
            "value": float(weights.get((true, said), 0.0)),
            "shade": float(weights.get((true, said), 0.0) / support[true]) if support[true] else 0.0,
        }
        for true in shown
        for said in shown
    ]
    return cells(table, x="predicted", y="true", title=title)


def _reliability(evaluation: Evaluation) -> Any:
    from weigh.pictures import reliability

    if not evaluation.reliability:
        raise errors.Unsupported(
            f"There is no calibration to draw. {' '.join(evaluation.omitted)} Draw 'confusion' instead."
        )
    rows = [each.to_dict() | {"series": cut(each.series, NAME)} for each in evaluation.reliability]
    return reliability(rows, title="Do probabilities keep their word?")


def _roc(evaluation: Evaluation) -> Any:
    rows = _points(evaluation, "roc_area", lambda each: each.roc)
    return _curves(evaluation, rows, "share of other rows", "recall", "ROC")


def _precision_recall(evaluation: Evaluation) -> Any:
    rows = _points(evaluation, "pr_area", lambda each: each.precision_recall)
    return _curves(evaluation, rows, "recall", "precision", "Precision and recall")


def _curves(evaluation: Evaluation, rows: Iterator[dict[str, Any]], x: str, y: str, title: str) -> Any:
    from weigh.pictures import curves

    if not evaluation.curves:
        raise errors.Unsupported(
            f"There are no curves to draw. {' '.join(evaluation.omitted)} Draw 'confusion' instead."
        )
    return curves(rows, x=x, y=y, title=title)


def _points(evaluation: Evaluation, area: str, part: Callable[[Any], Curve]) -> Iterator[dict[str, Any]]:
    """Yield the points of the second of two classes, or of the classes with most rows."""
    names = _names(evaluation)
    chosen = sorted(evaluation.curves, key=lambda each: -evaluation.per_class[each.code].support)[:SERIES]
    if len(names) == 2:
        chosen = [each for each in evaluation.curves if each.code == 1]
    for each in chosen:
        curve, found = part(each), getattr(evaluation.per_class[each.code], area).value
        series = f"{names[each.code]}, area {found:.3f}"
        for x, y in zip(curve.x.tolist(), curve.y.tolist(), strict=True):
            yield {"series": series, "x": x, "y": y}


def _classes(evaluation: Evaluation) -> Any:
    from weigh.pictures import intervals

    named = zip(_names(evaluation), evaluation.per_class, strict=True)
    shown = sorted(
        ((name, row) for name, row in named if not math.isnan(row.f1)), key=lambda pair: pair[1].f1
    )[:ROWS]
    title = "Classes" if len(shown) == len(evaluation.classes) else f"The {len(shown)} classes of lowest F1"
    table = [
        {"name": name, "series": series, "value": value, "low": low, "high": high}
        for name, row in shown
        for series, value, low, high in (
            ("precision", row.precision.value, row.precision.low, row.precision.high),
            ("recall", row.recall.value, row.recall.low, row.recall.high),
            ("F1", row.f1, row.f1_low, row.f1_high),
        )
        if not math.isnan(value)
    ]
    return intervals(table, x="share", title=title)


def _names(evaluation: Evaluation) -> list[str]:
    """Return short names of the classes, told apart by their numbers where cutting makes them alike."""
    names = [cut(label, NAME) for label in evaluation.classes]
    seen: set[str] = set()
    for code, name in enumerate(names):
        if name in seen or not name:
            names[code] = f"{cut(name, NAME - 8)} #{code}"
        seen.add(names[code])
    return names


PICTURES: dict[str, Callable[[Any], Any]] = {
    "confusion": _confusion,
    "reliability": _reliability,
    "roc": _roc,
    "precision_recall": _precision_recall,
    "classes": _classes,
}
