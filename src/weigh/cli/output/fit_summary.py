"""The summary that `weigh fit` prints: facts first, then their text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from weigh.cli.output.text import format_location
from weigh.features.curves import Pair
from weigh.model.distributions.curve_weights import CurveWeights, PairWeights
from weigh.model.distributions.weights import CONSTANT, LevelWeights
from weigh.model.effects.term_effects import has_curves, term_effects
from weigh.model.fit import Certificate, Fit, Optimality
from weigh.text import (
    escape_control_characters,
    format_coefficient,
    format_count,
    format_float,
    format_p_value,
    format_percent,
    format_quantity,
    text_table,
    truncate,
)

if TYPE_CHECKING:
    from weigh.estimators.leave_one_out_calibration import LeaveOneOutCalibration
    from weigh.model.logistic import LogisticModel
    from weigh.model.regression import RegressionModel

PERCEPTRONS = ("perceptron", "voted")
MAX_TABLE_ROWS = 25
MAX_LISTED_COLUMNS = 10_000  # a sparse file may have millions
LINE_WIDTH = 80


def summarise_fit(
    model: Any, learner: str, data: Sequence[str], calibration: LeaveOneOutCalibration | None = None
) -> dict[str, Any]:
    """Return a summary of a trained model as plain data."""
    model = model.uncalibrated
    contents = dict(_column_summaries(model))
    schema = model.schema
    pairs = [*islice(schema.described_columns(), MAX_LISTED_COLUMNS), *schema.made.items()]
    pairs += [(group.title, group.kind) for group in schema.column_groups if isinstance(group.kind, Pair)]
    return {
        "learner": learner,
        "data": list(data),
        "label": model.label,
        **_class_summary(model),
        "n_columns": len(schema.names) + len(schema.made),
        "columns": [{"column": n, "kind": kind.name, "found": contents.get(n, "")} for n, kind in pairs],
        "n_parameters": getattr(model, "n_parameters", None),
        **_training_summary(model),
        **(
            {}
            if calibration is None
            else {"calibration": {**calibration.to_dict(), "text": str(calibration)}}
        ),
    }


def _class_summary(model: Any) -> dict[str, Any]:
    """Return the classes, with rows or shares if they were counted; a regression has none."""
    if model.type_name == "regression":
        return {}
    if model.type_name in PERCEPTRONS:
        return {"classes": [{"class": label} for label in model.classes]}
    if model.type_name == "logistic":
        name, numbers = "share", model.shares.tolist()
    else:
        name, counts = "rows", model.counts
        numbers = (counts.sum(axis=0) if model.type_name == "threshold" else counts.rows).tolist()
    return {"classes": [{"class": c, name: n} for c, n in zip(model.classes, numbers, strict=True)]}


def _training_summary(model: Any) -> dict[str, Any]:
    """Return the certificate of a perceptron, or weights and certificate of a regression."""
    if model.type_name in ("regression", "logistic"):
        return summarise_weights(model)
    if model.type_name not in PERCEPTRONS:
        return {}
    return {"kept": model.kept, "certificate": model.certificate.to_dict()}


def _column_summaries(model: Any) -> Iterator[tuple[str, str]]:
    """Yield a short description of each column."""
    for name, date in model.schema.dates.items():
        yield name, format_quantity(len(date.parts), "part")
    if model.type_name == "naive-bayes":
        for distribution in model.distributions:
            yield distribution.part.names[0], distribution.describe()
            yield from ((name, CONSTANT) for name in distribution.constant_names())
    elif model.type_name == "joint-bayes":
        for name, levels in zip(model.table.columns, model.table.levels, strict=True):
            yield name, format_quantity(len(levels), "level")
    elif model.type_name in (*PERCEPTRONS, "logistic", "regression"):
        for group, term in zip(model.schema.column_groups, model.terms, strict=True):
            if isinstance(term, CurveWeights | PairWeights):
                yield group.title, format_quantity(term.n_cells, "cell")
            elif not group.kind.shares_block:
                n_features = len(term.features().names)
                # Online learners use the weight of a constant as a second intercept.
                is_constant = (
                    isinstance(term, LevelWeights) and len(term.levels) == 1 and not term.table.any()
                )
                yield group.names[0], CONSTANT if is_constant else format_quantity(n_features, "feature")
    elif model.type_name == "threshold":
        left, right = (model.classes[int(side.argmax())] for side in model.counts[:2])
        yield model.column, f"≤ {format_float(model.cut)}: {left}, else {right}"


def format_fit_summary(facts: dict[str, Any], replaced: bool, evaluation: str = "") -> str:
    """Return the summary as text of at most 80 columns, with the evaluation on held-out rows if any."""
    total = _row_count(facts)
    files = facts["data"][0] if len(facts["data"]) == 1 else format_quantity(len(facts["data"]), "file")
    files = "standard input" if files == "-" else escape_control_characters(files)
    label = escape_control_characters(str(facts["label"]))
    listed = facts["columns"][: MAX_TABLE_ROWS + 1]
    columns = [[truncate(c["column"], 30), c["kind"], truncate(c["found"], 36)] for c in listed]
    parts = [f"Trained on {format_quantity(total, 'row')} of {files} to predict {label}."]
    parts += [_format_classes(facts["classes"], total)] if "classes" in facts else []
    n_lines = max(facts["n_columns"], len(facts["columns"]))
    parts.append(text_table(_limit_rows([["column", "kind", "found"], *columns], n_lines), left=3))
    if "weights" in facts:
        parts += format_weights(facts)
    elif "certificate" in facts:
        parts.append(f"Kept: {facts['kept']}. {Certificate(**facts['certificate'])}")
    if facts["n_parameters"] is not None:
        parts.append(f"{format_quantity(facts['n_parameters'], 'free parameter')}.")
    if "calibration" in facts:
        parts.append(wrap_text(f"Calibration: {facts['calibration']['text']}."))
    parts += [wrap_text(f"Note: {note}") for note in facts["notes"]]
    location = format_location("The model", facts["model"], " (replaced)" * replaced)
    if evaluation:
        parts += [evaluation, f"{location} It was trained without the held-out rows."]
        return "\n\n".join(parts)
    parts.append(location)
    return "\n\n".join(parts)


def _row_count(facts: dict[str, Any]) -> Any:
    """Return the number of training rows."""
    if "rows" in facts:
        return facts["rows"]
    run = facts.get("certificate")
    return run["examples"] // run["passes"] if run else sum(each["rows"] for each in facts["classes"])


def _format_classes(classes: list[dict[str, Any]], total: float) -> str:
    """Return the classes as text, with rows and shares if they were counted."""
    if "share" in classes[0]:
        shares = [[truncate(c["class"], 40), format_percent(c["share"])] for c in classes]
        return text_table(_limit_rows([["class", "share"], *shares]))
    if "rows" not in classes[0]:
        return wrap_text(
            f"{format_quantity(len(classes), 'class', 'classes')}: "
            f"{list_labels([c['class'] for c in classes])}."
        )
    shares = [
        [truncate(c["class"], 40), format_count(c["rows"]), format_percent(c["rows"] / total)]
        for c in classes
    ]
    return text_table(_limit_rows([["class", "rows", "share"], *shares]))


def list_labels(labels: Sequence[Any]) -> str:
    """List the first labels in a sentence."""
    more = f" and {len(labels) - MAX_TABLE_ROWS:,} more" if len(labels) > MAX_TABLE_ROWS else ""
    return ", ".join(truncate(label, 40) for label in labels[:MAX_TABLE_ROWS]) + more


def wrap_text(text: str) -> str:
    """Wrap text at 80 columns without breaking file names and options."""
    return textwrap.fill(
        escape_control_characters(text), LINE_WIDTH, break_long_words=False, break_on_hyphens=False
    )


def _limit_rows(rows: list[list[str]], total: int | None = None) -> list[list[str]]:
    """Return the header and the first rows; `total` is the number of rows if not all were given."""
    if len(rows) <= MAX_TABLE_ROWS + 1:
        return rows
    n_hidden = (len(rows) - 1 if total is None else total) - (MAX_TABLE_ROWS - 1)
    return [*rows[:MAX_TABLE_ROWS], [f"… and {n_hidden:,} more", *[""] * (len(rows[0]) - 1)]]


MAX_WEIGHTS = 15
ROUNDING_GAP = 1e-14  # relative to the null model's objective; smaller gaps are rounding errors
MIN_NAME_WIDTH = 12


def summarise_weights(model: RegressionModel | LogisticModel) -> dict[str, Any]:
    """Return weights, noise, fit and certificate as plain data."""
    summary = model.summary().to_dict()
    certificate = model.certificate
    effects = {"effects": _summarise_effects(model)} if has_curves(model.terms) else {}
    return {
        "rows": model.fit.rows,
        **effects,
        "weights": summary["weights"],
        "n_unlisted": summary.get("n_unlisted", 0),
        "fit": model.fit.to_dict(),
        "facts": summary["facts"],
        "equivalents": summary["equivalents"],
        "equivalent": _format_equivalent(model.fit),
        "certificate": None if certificate is None else certificate.to_dict(),
    }


def _summarise_effects(model: RegressionModel | LogisticModel) -> list[dict[str, Any]]:
    """Return the shape, the range and the importance of the effects of all columns, strongest first."""
    return [
        {
            "effect": effect.name,
            "shape": effect.describe(effect.main_output),
            "low": effect.extent[0],
            "high": effect.extent[1],
            "importance": effect.importance,
        }
        for effect in term_effects(model, with_errors=False)[0]
    ]


def _format_equivalent(fit: Fit) -> str | None:
    """Return scikit-learn's estimator with the same penalty, after a scaler if numbers were standardised."""
    equivalents = fit.equivalents()
    if equivalents is None:
        return None
    scaler = "StandardScaler of the numbers, then " if equivalents.is_standardised else ""
    return f"{scaler}scikit-learn's {equivalents.others[0]}"


def format_weights(facts: dict[str, Any]) -> list[str]:
    """Return the paragraphs about weights, fit and certificate."""
    separate = ("rows", "certificate", "found by")  # printed as sentences
    table = [[name, value] for name, value in facts["facts"].items() if name not in separate]
    if facts["equivalent"] is not None:
        table.append(["equivalent", facts["equivalent"]])
    if "effects" in facts:
        terms = _effect_table(facts["effects"])
    else:
        terms = _weight_table(facts["weights"], facts["n_unlisted"])
    parts = [terms, _format_facts(table)]
    if facts["certificate"] is not None:
        parts.append(_format_certificate(Optimality.from_dict(facts["certificate"])))
    return parts


def _effect_table(effects: list[dict[str, Any]]) -> str:
    """Return the strongest effects of columns as a table."""
    rows = [["effect", "shape", "from", "to", "importance"]]
    for effect in effects[:MAX_WEIGHTS]:
        numbers = [format_coefficient(effect[key]) for key in ("low", "high", "importance")]
        rows.append([truncate(effect["effect"], 24), truncate(effect["shape"], 24), *numbers])
    others = len(effects) - len(rows) + 1
    return text_table(rows, left=2) + (f"\n… and {others:,} weaker ones" if others > 0 else "")


def _weight_table(weights: list[dict[str, Any]], n_unlisted: int) -> str:
    """Return the largest weights as a table, in the order of the features; some may not be listed at all."""
    has_errors = any(each["error"] is not None for each in weights)
    heads = ["weight", "std. error", "p", "95% from", "to"] if has_errors else ["weight"]
    keys = ["weight", "error", "tails", "low", "high"] if has_errors else ["weight"]
    by_strength = sorted(range(len(weights)), key=lambda at: -_strength(weights[at]))
    shown = sorted(by_strength[:MAX_WEIGHTS])
    rows = [[_format_cell(key, weights[at][key]) for key in keys] for at in shown]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    room = max(MIN_NAME_WIDTH, LINE_WIDTH - sum(width + 2 for width in widths))
    names = [truncate(weights[at]["feature"], room) for at in shown]
    table = text_table([["feature", *heads], *([name, *row] for name, row in zip(names, rows, strict=True))])
    others = len(weights) - len(rows) + n_unlisted
    return table + (f"\n… and {others:,} smaller ones" if others else "")


def _format_cell(key: str, number: float | None) -> str:
    if number is None or key != "tails":
        return format_coefficient(number)
    return format_p_value(number)


def _strength(line: dict[str, Any]) -> float:
    """Return |weight| in standard errors, or |weight| if there are none."""
    return float(abs(line["weight"] if line["ratio"] is None else line["ratio"]))


def _format_facts(rows: list[list[str]]) -> str:
    """Format names and values in two columns, wrapping long values."""
    width = max(len(name) for name, _ in rows) + 2
    lines = [
        textwrap.fill(
            escape_control_characters(f"{name:<{width}}{value}"),
            LINE_WIDTH,
            subsequent_indent=" " * width,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for name, value in rows
    ]
    return "\n".join(lines)


def _format_certificate(proof: Optimality) -> str:
    steps = f"{proof.method}, {proof.iterations:,} iteration{'s' * (proof.iterations != 1)}"
    objective = f"the objective, {proof.objective:.8g},"
    if proof.relative_gap <= ROUNDING_GAP:
        text = f"Optimal: {objective} is the minimum, to rounding ({steps})."
    else:
        said = "Optimal" if proof.converged else "NOT optimal within the tolerance"
        text = (
            f"{said}: {objective} is above its minimum by at most {_format_upper_bound(proof.gap)} ({steps})."
        )
    return textwrap.fill(text, LINE_WIDTH, break_long_words=False, break_on_hyphens=False)


def _format_upper_bound(number: float) -> str:
    """A bound in one digit, never below it."""
    if not math.isfinite(number):
        return "any amount"
    power = math.floor(math.log10(number))
    digit = math.ceil(number / 10.0**power)
    return f"1e{power + 1:+03d}" if digit > 9 else f"{digit}e{power:+03d}"
