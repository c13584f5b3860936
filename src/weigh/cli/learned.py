"""What `weigh fit` tells of a new model: facts first, then their text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from weigh.cli.learned_weights import told_weights, weight_facts
from weigh.model import (
    BayesModel,
    Certificate,
    JointModel,
    LogisticModel,
    PerceptronModel,
    RegressionModel,
    ThresholdModel,
)
from weigh.text import aligned, amount, counted, cut, percent, short

SHOWN = 25
WIDTH = 80


def learned(model: Any, learner: str, data: Sequence[str]) -> dict[str, Any]:
    """What was learned, as plain data."""
    calibration = getattr(model, "calibration", None)
    model = model.uncalibrated
    found = dict(_found(model))
    pairs = [*zip(model.schema.names, model.schema.kinds, strict=True), *model.schema.made.items()]
    return {
        "learner": learner,
        "data": list(data),
        "label": model.label,
        **_classes(model),
        "columns": [{"column": n, "kind": kind.name, "found": found.get(n, "")} for n, kind in pairs],
        "n_parameters": getattr(model, "n_parameters", None),
        **_run(model),
        **({} if calibration is None else {"calibration": calibration.to_dict()}),
    }


def _classes(model: Any) -> dict[str, Any]:
    """The classes, with their rows or shares where these were counted; a regression has none."""
    if isinstance(model, RegressionModel):
        return {}
    if isinstance(model, PerceptronModel):
        return {"classes": [{"class": label} for label in model.classes]}
    if isinstance(model, LogisticModel):
        name, numbers = "share", model.shares.tolist()
    else:
        name, counts = "rows", model.counts
        numbers = (counts.sum(axis=0) if isinstance(model, ThresholdModel) else counts.rows).tolist()
    return {"classes": [{"class": c, name: n} for c, n in zip(model.classes, numbers, strict=True)]}


def _run(model: Any) -> dict[str, Any]:
    """What a run proves: of a perceptron, or of a solver with the weights it found."""
    if isinstance(model, RegressionModel | LogisticModel):
        return weight_facts(model)
    if not isinstance(model, PerceptronModel):
        return {}
    return {"kept": model.kept, "certificate": model.certificate.to_dict()}


def _found(model: Any) -> Iterator[tuple[str, str]]:
    """What each column holds, in a few words."""
    if isinstance(model, BayesModel):
        for part in model.distributions:
            yield part.part.names[0], part.found()
    elif isinstance(model, JointModel):
        for name, levels in zip(model.table.columns, model.table.levels, strict=True):
            yield name, counted(len(levels), "level")
    elif isinstance(model, PerceptronModel | LogisticModel | RegressionModel):
        for block, term in zip(model.schema.parts, model.terms, strict=True):
            if not block.kind.gathers:
                yield block.names[0], counted(len(term.features().names), "feature")
    elif isinstance(model, ThresholdModel):
        left, right = (model.classes[int(side.argmax())] for side in model.counts[:2])
        yield model.column, f"≤ {short(model.cut)}: {left}, else {right}"


def told(facts: dict[str, Any], replaced: bool) -> str:
    """The facts as text of at most 80 columns."""
    total = _total(facts)
    files = facts["data"][0] if len(facts["data"]) == 1 else counted(len(facts["data"]), "file")
    files = "standard input" if files == "-" else files
    columns = [[cut(c["column"], 30), c["kind"], cut(c["found"], 36)] for c in facts["columns"]]
    parts = [f"Learned {facts['label']} from {counted(total, 'row')} of {files}."]
    parts += [_told_classes(facts["classes"], total)] if "classes" in facts else []
    parts.append(aligned(_some([["column", "kind", "found"], *columns]), left=3))
    if "weights" in facts:
        parts += told_weights(facts)
    elif "certificate" in facts:
        parts.append(f"Kept: {facts['kept']}. {Certificate(**facts['certificate'])}")
    if facts["n_parameters"] is not None:
        parts.append(f"{counted(facts['n_parameters'], 'free parameter')}.")
    if "calibration" in facts:
        found = facts["calibration"]
        number = f" {short(found['T'])}" if "T" in found else ""
        parts.append(f"Calibrated by {found['method']}{number}, each row scored as if it were forgotten.")
    parts += [filled(f"Note: {note}") for note in facts["notes"]]
    parts.append(f"The model is in {facts['model']}{' (replaced)' if replaced else ''}.")
    return "\n\n".join(parts)


def _total(facts: dict[str, Any]) -> Any:
    """How many rows there were."""
    if "rows" in facts:
        return facts["rows"]
    run = facts.get("certificate")
    return run["examples"] // run["passes"] if run else sum(each["rows"] for each in facts["classes"])


def _told_classes(classes: list[dict[str, Any]], total: float) -> str:
    """The classes with their rows and shares, where they were counted."""
    if "share" in classes[0]:
        shares = [[cut(c["class"], 40), percent(c["share"])] for c in classes]
        return aligned(_some([["class", "share"], *shares]))
    if "rows" not in classes[0]:
        return filled(
            f"{counted(len(classes), 'class', 'classes')}: {listed([c['class'] for c in classes])}."
        )
    shares = [[cut(c["class"], 40), amount(c["rows"]), percent(c["rows"] / total)] for c in classes]
    return aligned(_some([["class", "rows", "share"], *shares]))


def listed(labels: Sequence[Any]) -> str:
    """Labels in a sentence, the first of very many."""
    more = f" and {len(labels) - SHOWN:,} more" if len(labels) > SHOWN else ""
    return ", ".join(cut(label, 40) for label in labels[:SHOWN]) + more


def filled(text: str) -> str:
    """A sentence in lines of at most 80 columns; file names and options stay whole."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _some(rows: list[list[str]]) -> list[list[str]]:
    if len(rows) <= SHOWN + 1:
        return rows
    return [*rows[:SHOWN], [f"… and {len(rows) - SHOWN:,} more", *[""] * (len(rows[0]) - 1)]]
