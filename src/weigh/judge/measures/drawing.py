"""Pictures of an evaluation: facts for `weigh.pictures`, which draws them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.judge.measures.losses import UNSEEN
from weigh.text import cut

if TYPE_CHECKING:
    from weigh.judge.measures.curves import Curve
    from weigh.judge.measures.evaluation import Evaluation

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

    title = "Who is taken for whom"
    shown = list(range(len(evaluation.classes)))
    if len(shown) > CELLS:
        worst = [code for pair in evaluation.confusion.mistakes(4 * CELLS) for code in pair[:2] if code >= 0]
        shown = sorted(list(dict.fromkeys([*worst, *shown]))[:CELLS])
        title += f": {CELLS} classes with many mistakes"
    table = list(_cells(evaluation, shown))
    told = f"{title}. {evaluation.measure('accuracy').value:.1%} of the rows are predicted rightly."
    return cells(table, x="predicted", y="true", title=title, told=told)


def _cells(evaluation: Evaluation, shown: list[int]) -> Iterator[dict[str, Any]]:
    """Yield the cells of some classes, shaded by the share of their row; labels never seen come last."""
    found, names = evaluation.confusion, _names(evaluation)
    codes = zip(found.true.tolist(), found.predicted.tolist(), strict=True)
    weights = dict(zip(codes, found.weight.tolist(), strict=True))
    support = [*found.support().tolist(), float(found.unseen().sum())]
    for true in [*shown, UNSEEN] if evaluation.unseen else shown:
        for said in shown:
            weight = weights.get((true, said), 0.0)
            yield {
                "row": "(never seen)" if true == UNSEEN else names[true],
                "column": names[said],
                "value": weight,
                "shade": min(weight / support[true], 1.0) if support[true] else 0.0,
            }


def _reliability(evaluation: Evaluation) -> Any:
    from weigh.pictures import reliability

    if not evaluation.reliability:
        raise errors.Unsupported(
            f"There is no calibration to draw. {' '.join(evaluation.omitted)} Draw 'confusion' instead."
        )
    rows = [each.to_dict() | {"series": cut(each.series, NAME)} for each in evaluation.reliability]
    found = evaluation.measure("calibration_error").value
    told = f"Share observed over probability predicted; they differ by {found:.3f} on average."
    return reliability(rows, title="Do probabilities keep their word?", told=told)


def _roc(evaluation: Evaluation) -> Any:
    points = _points(evaluation, "roc_area", lambda each: each.roc)
    by_chance = [{"series": "by chance", "x": end, "y": end, "fitted": True} for end in (0.0, 1.0)]
    x = "share of other rows given the class"
    return _curves(evaluation, [*points, *by_chance], x, "recall", "ROC curves")


def _precision_recall(evaluation: Evaluation) -> Any:
    points = _points(evaluation, "pr_area", lambda each: each.precision_recall)
    return _curves(evaluation, points, "recall", "precision", "Precision-recall curves")


def _curves(evaluation: Evaluation, rows: list[dict[str, Any]], x: str, y: str, title: str) -> Any:
    from weigh.pictures import curves

    if not evaluation.curves:
        raise errors.Unsupported(
            f"There are no curves to draw. {' '.join(evaluation.omitted)} Draw 'confusion' instead."
        )
    told = ", ".join(dict.fromkeys(str(row["series"]) for row in rows))
    return curves(rows, x=x, y=y, title=title, told=f"{title}: {told}.")


def _points(evaluation: Evaluation, area: str, part: Callable[[Any], Curve]) -> list[dict[str, Any]]:
    """Return the points of the second of two classes, or of the classes with most rows."""
    names = _names(evaluation)
    chosen = sorted(evaluation.curves, key=lambda each: -evaluation.per_class[each.code].support)[:SERIES]
    if len(names) == 2:
        chosen = [each for each in evaluation.curves if each.code == 1]
    rows = []
    for each in chosen:
        curve, found = part(each), getattr(evaluation.per_class[each.code], area).value
        series = f"{names[each.code]}, area {found:.3f}"
        points = zip(curve.x.tolist(), curve.y.tolist(), strict=True)
        rows += [{"series": series, "x": x, "y": y} for x, y in points]
    return rows


def _classes(evaluation: Evaluation) -> Any:
    from weigh.pictures import intervals

    named = zip(_names(evaluation), evaluation.per_class, strict=True)
    shown = [(name, row) for name, row in named if not math.isnan(row.f1)]
    title = "How surely classes are found"
    if len(shown) > ROWS:
        shown = sorted(shown, key=lambda pair: pair[1].f1)[:ROWS]
        title = f"The {ROWS} classes of lowest F1"
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
    told = f"{title}: precision, recall and F1 with their intervals."
    return intervals(table, x="share", title=title, told=told)


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
