"""The sections and charts of an evaluation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.judge.metrics.confidence_intervals import Measure
from weigh.judge.metrics.confusion_matrix import UNSEEN_NAME, confusion_section
from weigh.judge.metrics.losses import UNSEEN
from weigh.judge.metrics.training_overlap import TrainingOverlap
from weigh.result import Section, Table
from weigh.text import escape_control_characters, format_count, format_quantity, truncate, use_minus_sign

if TYPE_CHECKING:
    from weigh.judge.metrics.evaluation import ClassMetrics, Evaluation
    from weigh.judge.metrics.ranking import ThresholdCurve

MAX_LISTED_CLASSES = 10
MIN_RELIABLE_ROWS = 30
MIN_COMPARABLE_ROWS = 10  # with fewer rows, a baseline says little
LOSS_NAMES = ("squared", "brier", "log_loss")
TRUNCATED_INTERVAL_NOTE = "A few rows dominate the {}: the interval, cut off at 0, is rough."
NAME_WIDTH = 24
MAX_MATRIX_CLASSES = 15  # classes of a confusion matrix that stays readable
MAX_CURVE_SERIES = 5  # curves that stay distinguishable
MAX_PLOTTED_CLASSES = 15

MEASURE_TITLES = {
    "accuracy": "accuracy",
    "zero_one": "zero-one loss",
    "balanced_accuracy": "balanced accuracy",
    "macro_precision": "mean precision of classes",
    "macro_recall": "mean recall of classes",
    "macro_f1": "mean F1 of classes",
    "squared": "squared loss",
    "brier": "Brier score",
    "log_loss": "log loss",
    "calibration_error": "calibration error",
    "conditional_log_likelihood": "conditional log-likelihood",
    "joint_log_likelihood": "joint log-likelihood",
}

# A measure that equals the other one is not shown in a line of its own; its title may join that line.
EQUIVALENT_MEASURES = {"macro_recall": "balanced_accuracy", "brier": "squared"}
EQUIVALENT_TITLES = {"brier": "(Brier score)"}


def evaluation_sections(evaluation: Evaluation) -> list[Section]:
    """Return measures, areas, notes, confusion matrix and the worst classes."""
    title, class_rows = _class_rows(evaluation)
    ranking = [Section("ranking", [_ranking_table(evaluation)])] if _has_ranking(evaluation) else []
    return [
        Section("measures", [Table(_measure_rows(evaluation))]),
        *ranking,
        Section("notes", _notes(evaluation)),
        confusion_section(evaluation.confusion, [_class_name(value) for value in evaluation.classes]),
        Section("classes", [Table(class_rows, caption="" if title else "Classes")], title),
    ]


def _measure_rows(evaluation: Evaluation) -> list[list[str]]:
    rows = [["measure", "value", "low", "high"]]
    for measure in _distinct_measures(evaluation):
        format_value = _format_sum if measure.name.endswith("likelihood") else _format_share
        numbers = [format_value(number) for number in (measure.value, measure.low, measure.high)]
        rows.append([_measure_title(evaluation, measure), *numbers])
    return rows


def _distinct_measures(evaluation: Evaluation) -> Iterator[Measure]:
    """Yield the measures of the table, without those that equal another one."""
    values = {measure.name: measure.value for measure in evaluation.measures}
    for measure in evaluation.measures:
        twin = EQUIVALENT_MEASURES.get(measure.name)
        if measure.name in MEASURE_TITLES and not (twin and _is_close(measure.value, values[twin])):
            yield measure


def _measure_title(evaluation: Evaluation, measure: Measure) -> str:
    values = {other.name: other.value for other in evaluation.measures}
    for name, twin in EQUIVALENT_MEASURES.items():
        if (
            twin == measure.name
            and name in EQUIVALENT_TITLES
            and _is_close(measure.value, values.get(name, math.nan))
        ):
            return f"{MEASURE_TITLES[measure.name]} {EQUIVALENT_TITLES[name]}"
    return MEASURE_TITLES[measure.name]


def _is_close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def _has_ranking(evaluation: Evaluation) -> bool:
    return any(not math.isnan(row.roc_area.value) for row in evaluation.per_class)


def _ranking_table(evaluation: Evaluation) -> Table:
    """Return the areas of the second of two classes, or the mean area and those of the worst classes."""
    rows = [["ranking", "ROC area", "low", "high", "PR area", "low", "high", "by chance"]]
    shown = [row for row in evaluation.per_class if not math.isnan(row.roc_area.value)]
    if len(evaluation.classes) == 2:
        shown = shown[-1:]
    else:
        overall = (evaluation.measure("roc_area"), evaluation.measure("pr_area"))
        rows.append(
            [f"mean of {format_quantity(len(shown), 'class', 'classes')}", *_format_areas(*overall), ""]
        )
        if len(shown) > MAX_LISTED_CLASSES:
            shown = sorted(shown, key=lambda row: row.roc_area.value)[:MAX_LISTED_CLASSES]
    for row in shown:
        chance = f"{row.support / evaluation.weight:.4f}"
        rows.append([_class_name(row.label), *_format_areas(row.roc_area, row.pr_area), chance])
    return Table(rows, caption="Ranking")


def _format_areas(*measures: Measure) -> list[str]:
    return [f"{number:.4f}" for area in measures for number in (area.value, area.low, area.high)]


def most_frequent_class(evaluation: Evaluation) -> tuple[Any, float] | None:
    """Return the most frequent label, even one unknown to the model, and the accuracy of predicting only it.

    None if there are too few rows or a single label.
    """
    shares = dict(zip(evaluation.classes, evaluation.confusion.support().tolist(), strict=True))
    shares |= dict(evaluation.unseen)
    if evaluation.n < MIN_COMPARABLE_ROWS or sum(share > 0 for share in shares.values()) < 2:
        return None
    label = max(shares, key=lambda each: shares[each])
    return label, shares[label] / evaluation.weight


def _baseline_notes(evaluation: Evaluation) -> list[str]:
    baseline = most_frequent_class(evaluation)
    if baseline is None:
        return []
    label, accuracy = baseline
    name = truncate(_class_name(label), NAME_WIDTH)
    return [f"Always predicting {name}, the most frequent class, has the accuracy {_format_share(accuracy)}."]


def _notes(evaluation: Evaluation) -> list[str]:
    has_losses = any(measure.name == "log_loss" for measure in evaluation.measures)
    methods = ["exact (Clopper-Pearson) for shares"]
    with_student = ["mean losses"] if has_losses else []
    with_student += ["the logits of areas"] if _has_ranking(evaluation) else []
    methods += [f"Student's for {' and '.join(with_student)}"] if with_student else []
    overlap = TrainingOverlap(evaluation.is_training_data, evaluation.training_share)
    notes = [*overlap.notes(), *_baseline_notes(evaluation)]
    notes.append(f"Intervals of {100 * evaluation.level:g}%: {', '.join(methods)}.")
    notes += evaluation.omitted
    notes += evaluation.note_advice()
    effective_rows = evaluation.weight**2 / float(evaluation.confusion.squares.sum())
    notes += _interval_warnings(evaluation, effective_rows) if has_losses else []
    if round(effective_rows, 1) != evaluation.n:
        notes.append(f"Unequal weights: intervals count {effective_rows:,.1f} effective rows.")
    if evaluation.impossible:
        notes.append(
            f"In {format_quantity(evaluation.impossible, 'row')} the true class has probability zero: "
            "the log loss is infinite."
        )
    if evaluation.unseen:
        n_rows = sum(n_rows for _, n_rows in evaluation.unseen)
        labels = [label for label, _ in evaluation.unseen]
        notes.append(
            f"{format_quantity(n_rows, 'row')} with labels that the model has never seen, counted as "
            f"errors with probability zero: {errors.quote_names(labels)}.{_type_mismatch_note(evaluation)}"
        )
    return notes


def _interval_warnings(evaluation: Evaluation, effective_rows: float) -> Iterator[str]:
    """Yield a warning if mean losses are far from normally distributed."""
    truncated = [
        _measure_title(evaluation, measure)
        for measure in _distinct_measures(evaluation)
        if measure.name in LOSS_NAMES and measure.is_truncated_at_zero
    ]
    if effective_rows < MIN_RELIABLE_ROWS:
        yield "Intervals of mean losses are rough for so few rows."
    elif truncated:
        yield TRUNCATED_INTERVAL_NOTE.format(" and ".join(truncated))


def _type_mismatch_note(evaluation: Evaluation) -> str:
    classes = {str(value): value for value in evaluation.classes}
    for label, _ in evaluation.unseen:
        if str(label) in classes:
            return f" {label!r} is not the class {classes[str(label)]!r}: their types differ."
    return ""


def _class_rows(evaluation: Evaluation) -> tuple[str, list[list[str]]]:
    shown: Sequence[ClassMetrics] = evaluation.per_class
    title = ""
    if len(shown) > MAX_LISTED_CLASSES:
        # Absent classes, whose F1 is nan, carry no information and come last.
        shown = sorted(shown, key=lambda row: math.inf if math.isnan(row.f1) else row.f1)[:MAX_LISTED_CLASSES]
        title = f"The {MAX_LISTED_CLASSES} classes with the lowest F1:"
    rows = [["class", "precision", "low", "high", "recall", "low", "high", "F1", "support"]]
    for row in shown:
        p, r = row.precision, row.recall
        numbers = (p.value, p.low, p.high, r.value, r.low, r.high, row.f1)
        cells = ["-" if math.isnan(number) else f"{number:.3f}" for number in numbers]
        rows.append([_class_name(row.label), *cells, format_count(row.support)])
    return title, rows


def _class_name(value: Any) -> str:
    # A no-break space, as in a French number, is no reason for a repr.
    name = str(value)
    return name if name and escape_control_characters(name) == name else repr(value)


def _format_share(number: float) -> str:
    if math.isnan(number):
        return "-"
    return use_minus_sign(f"{number:.2e}" if 0.0 < abs(number) < 0.001 else f"{number:.4f}")


def _format_sum(number: float) -> str:
    return "-" if math.isnan(number) else use_minus_sign(f"{number:,.2f}")


def plot_evaluation(evaluation: Evaluation, what: str) -> Any:
    """Plot one of `EVALUATION_PLOTS`."""
    if what not in EVALUATION_PLOTS:
        raise errors.parameter_error("plot", "what", f"one of {errors.quote_names(EVALUATION_PLOTS)}", what)
    return EVALUATION_PLOTS[what](evaluation)


def _plot_confusion(evaluation: Evaluation) -> Any:
    from weigh.pictures import heatmap

    title = "Confusion matrix"
    shown = list(range(len(evaluation.classes)))
    if len(shown) > MAX_MATRIX_CLASSES:
        worst = [
            code
            for pair in evaluation.confusion.mistakes(4 * MAX_MATRIX_CLASSES)
            for code in pair[:2]
            if code >= 0
        ]
        shown = sorted(list(dict.fromkeys([*worst, *shown]))[:MAX_MATRIX_CLASSES])
        title += f": {MAX_MATRIX_CLASSES} classes with many mistakes"
    cells = list(_confusion_cells(evaluation, shown))
    description = f"{title}. {evaluation.measure('accuracy').value:.1%} of the rows are predicted correctly."
    return heatmap(cells, x="predicted", y="true", title=title, description=description)


def _confusion_cells(evaluation: Evaluation, shown: list[int]) -> Iterator[dict[str, Any]]:
    """Yield the cells of the shown classes, shaded by the share of their row; unseen labels come last."""
    confusion, names = evaluation.confusion, _distinct_names(evaluation)
    codes = zip(confusion.true.tolist(), confusion.predicted.tolist(), strict=True)
    weights = dict(zip(codes, confusion.weight.tolist(), strict=True))
    support = [*confusion.support().tolist(), float(confusion.unseen().sum())]
    for true in [*shown, UNSEEN] if evaluation.unseen else shown:
        for predicted in shown:
            weight = weights.get((true, predicted), 0.0)
            yield {
                "row": UNSEEN_NAME if true == UNSEEN else names[true],
                "column": names[predicted],
                "value": weight,
                "shade": min(weight / support[true], 1.0) if support[true] else 0.0,
            }


def _plot_reliability(evaluation: Evaluation) -> Any:
    from weigh.pictures import reliability_diagram

    if not evaluation.reliability:
        raise errors.Unsupported(
            f"There is no calibration to plot. {' '.join(evaluation.omitted)} Plot 'confusion' instead."
        )
    rows = [row.to_dict() | {"series": truncate(row.series, NAME_WIDTH)} for row in evaluation.reliability]
    error = evaluation.measure("calibration_error").value
    description = f"Observed share against predicted probability; they differ by {error:.3f} on average."
    return reliability_diagram(rows, title="Reliability diagram", description=description)


def _plot_roc(evaluation: Evaluation) -> Any:
    points = _curve_points(evaluation, "roc_area", lambda curves: curves.roc)
    by_chance = [{"series": "by chance", "x": end, "y": end, "fitted": True} for end in (0.0, 1.0)]
    x = "false positive rate"
    return _plot_curves(evaluation, [*points, *by_chance], x, "recall", "ROC curves")


def _plot_precision_recall(evaluation: Evaluation) -> Any:
    points = _curve_points(evaluation, "pr_area", lambda curves: curves.precision_recall)
    return _plot_curves(evaluation, points, "recall", "precision", "Precision-recall curves")


def _plot_curves(evaluation: Evaluation, rows: list[dict[str, Any]], x: str, y: str, title: str) -> Any:
    from weigh.pictures import line_chart

    if not evaluation.curves:
        raise errors.Unsupported(
            f"There are no curves to plot. {' '.join(evaluation.omitted)} Plot 'confusion' instead."
        )
    series = ", ".join(dict.fromkeys(str(row["series"]) for row in rows))
    return line_chart(rows, x=x, y=y, title=title, description=f"{title}: {series}.")


def _curve_points(
    evaluation: Evaluation, area: str, select_curve: Callable[[Any], ThresholdCurve]
) -> list[dict[str, Any]]:
    """Return the points of the second of two classes, or of the classes with most rows."""
    names = _distinct_names(evaluation)
    by_support = sorted(evaluation.curves, key=lambda curves: -evaluation.per_class[curves.code].support)
    selected = by_support[:MAX_CURVE_SERIES]
    if len(names) == 2:
        selected = [curves for curves in evaluation.curves if curves.code == 1]
    rows = []
    for curves in selected:
        curve, value = select_curve(curves), getattr(evaluation.per_class[curves.code], area).value
        series = f"{names[curves.code]}, area {value:.3f}"
        points = zip(curve.x.tolist(), curve.y.tolist(), strict=True)
        rows += [{"series": series, "x": x, "y": y} for x, y in points]
    return rows


def _plot_classes(evaluation: Evaluation) -> Any:
    from weigh.pictures import interval_chart

    named = zip(_distinct_names(evaluation), evaluation.per_class, strict=True)
    shown = [(name, row) for name, row in named if not math.isnan(row.f1)]
    title = "Precision, recall and F1 per class"
    if len(shown) > MAX_PLOTTED_CLASSES:
        shown = sorted(shown, key=lambda pair: pair[1].f1)[:MAX_PLOTTED_CLASSES]
        title = f"The {MAX_PLOTTED_CLASSES} classes with the lowest F1"
    table = [
        measure.chart_row(name=name, series=measure.name)
        for name, row in shown
        for measure in (row.precision, row.recall, Measure("F1", row.f1, row.f1_low, row.f1_high))
        if not math.isnan(measure.value)
    ]
    description = f"{title}, with confidence intervals."
    return interval_chart(table, x="share", title=title, description=description)


def _distinct_names(evaluation: Evaluation) -> list[str]:
    """Return truncated class names, with the class code appended where truncation makes them equal."""
    names = [truncate(label, NAME_WIDTH) for label in evaluation.classes]
    seen: set[str] = set()
    for code, name in enumerate(names):
        if name in seen or not name:
            names[code] = f"{truncate(name, NAME_WIDTH - 8)} #{code}"
        seen.add(names[code])
    return names


EVALUATION_PLOTS: dict[str, Callable[[Any], Any]] = {
    "confusion": _plot_confusion,
    "reliability": _plot_reliability,
    "roc": _plot_roc,
    "precision_recall": _plot_precision_recall,
    "classes": _plot_classes,
}
