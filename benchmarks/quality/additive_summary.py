"""Tables of the rows `additive`: every table by contender, and means over tables as in `defaults`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.quality.additive_worker import RELATIVE_ERRORS
from benchmarks.quality.default_summary import (
    ERRORS,
    LOG_LOSS,
    MAX_TABLES_LISTED,
    Record,
    format_report,
)
from benchmarks.results import format_markdown_table, format_megabytes


def gather_records(paths: Sequence[Path]) -> list[Record]:
    """Return one record per table, in the form of the rows `defaults`, from the results of contenders."""
    records: dict[str, Record] = {}
    for path in paths:
        if not path.exists():
            continue
        result = json.loads(path.read_text())
        facts = {
            name: result[name] for name in ("case", "table", "task", "half", "rows", "columns", "classes")
        }
        record = records.setdefault(result["case"], {**facts, "contenders": {}, "chosen": {}, "failures": {}})
        if "failure" in result:
            record["failures"][result["name"]] = result["failure"]
        else:
            record["contenders"][result["name"]] = result
    return list(records.values())


def format_additive_report(records: Sequence[Record]) -> str:
    """Return the comparison over tables, then every table by contender."""
    if not records:
        return "No results."
    loss = RELATIVE_ERRORS if records[0]["task"] == "regression" else LOG_LOSS
    names = list_names(records)
    complete = [record for record in records if all(name in record["contenders"] for name in names)]
    count = f"{len(complete)} of {len(records)} tables"
    shared = f"Mean and median losses and ranks are those of the {count} that all contenders finished."
    parts = [
        format_report(records),
        shared,
        f"By table: {describe_loss(loss)}.",
        format_losses(records, names, loss),
        "By table: processor time of a fit, and the largest growth of the memory in it.",
        format_costs(records, names),
    ]
    return "\n\n".join(parts)


def list_names(records: Sequence[Record]) -> list[str]:
    """Return the contenders with a result on some table."""
    return list(dict.fromkeys(name for record in records for name in record["contenders"]))


def describe_loss(loss: str) -> str:
    return (
        "R², which is 1 − squared error ÷ that of the mean of the training rows"
        if loss == RELATIVE_ERRORS
        else loss
    )


def format_losses(records: Sequence[Record], names: Sequence[str], loss: str) -> str:
    """Return the mean loss over the splits of each table, as R² for a regression."""

    def cell(record: Record, name: str) -> str:
        if name not in record["contenders"]:
            return ""
        mean = float(np.mean(record["contenders"][name]["losses"][loss]))
        return f"{1 - mean:.4f}" if loss == RELATIVE_ERRORS else f"{mean:.4f}"

    rows = [[describe_table(record), *(cell(record, name) for name in names)] for record in records]
    return format_markdown_table(["", *names], rows)


def describe_table(record: Record) -> str:
    classes = f", {record['classes']} classes" if record["classes"] > 2 else ""
    return f"{record['table']} ({record['rows']:,} × {record['columns']}{classes})"


def format_costs(records: Sequence[Record], names: Sequence[str]) -> str:
    """Return seconds and megabytes of a fit on each table."""

    def cell(record: Record, name: str) -> str:
        if name not in record["contenders"]:
            return ""
        result = record["contenders"][name]
        return f"{result['seconds']:.2f} s, {format_megabytes(result['memory'])}"

    rows = [[record["table"], *(cell(record, name) for name in names)] for record in records]
    return format_markdown_table(["", *names], rows)


def format_stated_split(records: Sequence[Record], reference: str) -> str:
    """Return the contenders on stated test rows, with the interval of each difference from the reference.

    The interval is that of the mean paired difference over the test rows; the training rows are fixed.
    """
    parts = []
    for record in records:
        results = record["contenders"]
        base = results.get(reference)
        rows = []
        for name, result in results.items():
            losses = [f"{result['losses'][loss][0]:.4f}" for loss in (LOG_LOSS, ERRORS)]
            costs = [f"{result['seconds']:.2f} s", f"{result['predict seconds']:.2f} s"]
            difference = format_paired(result["row losses"], base["row losses"]) if base else ""
            calibration = f"{result['calibration error']:.4f}"
            rows.append(
                [
                    name,
                    losses[0],
                    difference,
                    losses[1],
                    calibration,
                    *costs,
                    format_megabytes(result["memory"]),
                ]
            )
        versus = f"minus {reference} (95 %)"
        head = ["", LOG_LOSS, versus, ERRORS, "calibration error", "fit", "predict", "memory added"]
        parts.append(format_markdown_table(head, rows))
        failures = [f"{name}: {text}" for name, text in record["failures"].items()]
        parts += ["Failed: " + "; ".join(failures[:MAX_TABLES_LISTED]) + "."] if failures else []
    return "\n\n".join(parts) or "No results."


def format_paired(losses: Sequence[float], reference: Sequence[float]) -> str:
    """Return the mean paired difference over rows with its 95 % interval."""
    difference = np.subtract(losses, reference)
    mean, margin = difference.mean(), 1.96 * difference.std(ddof=1) / np.sqrt(len(difference))
    return f"{mean:+.4f} ({mean - margin:+.4f} to {mean + margin:+.4f})"
