"""What `weigh fit` tells of a regression: the strongest weights, noise, fit and proof."""

from __future__ import annotations

import math
import textwrap
from typing import Any

from weigh.model import LogisticModel, Optimality, RegressionModel
from weigh.text import aligned, cut

SHOWN = 15
WIDTH = 80
ROUNDING = 1e-14  # shares of the empty model's objective below which a gap says nothing
LEAST = 12  # signs of a feature's name, however long the numbers beside it are


def weight_facts(model: RegressionModel | LogisticModel) -> dict[str, Any]:
    """Return weights, noise, fit and proof as plain data."""
    summary = model.summary().to_dict()
    proof = model.certificate
    return {
        "rows": model.fit.rows,
        "weights": summary["weights"],
        "fit": model.fit.to_dict(),
        "facts": summary["facts"],
        "equivalents": summary["equivalents"],
        "certificate": None if proof is None else proof.to_dict(),
    }


def told_weights(facts: dict[str, Any]) -> list[str]:
    """Return the paragraphs that tell of weights, fit and proof."""
    hidden = ("rows", "certificate", "found by")  # told in sentences of their own
    rest = [[name, told] for name, told in facts["facts"].items() if name not in hidden]
    parts = [_table(facts["weights"]), _filled_facts(rest)]
    if facts["certificate"] is not None:
        parts.append(_proof(Optimality.from_dict(facts["certificate"])))
    return parts


def _table(weights: list[dict[str, Any]]) -> str:
    """The strongest weights, in the order of the features."""
    is_sure = any(each["error"] is not None for each in weights)
    heads = ["weight", "std. error", "p", "95% from", "to"] if is_sure else ["weight"]
    keys = ["weight", "error", "tails", "low", "high"] if is_sure else ["weight"]
    strong = sorted(range(len(weights)), key=lambda at: -_strength(weights[at]))
    kept = sorted(strong[:SHOWN])
    rows = [[_number(weights[at][key]) for key in keys] for at in kept]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    room = max(LEAST, WIDTH - sum(width + 2 for width in widths))
    names = [cut(weights[at]["feature"], room) for at in kept]
    table = aligned([["feature", *heads], *([name, *row] for name, row in zip(names, rows, strict=True))])
    others = len(weights) - len(rows)
    return table + (f"\n… and {others:,} weaker ones" if others else "")


def _strength(line: dict[str, Any]) -> float:
    """How many standard errors a weight is from zero, or its size where there are none."""
    return float(abs(line["weight"] if line["ratio"] is None else line["ratio"]))


def _number(number: float | None) -> str:
    return "" if number is None else f"{number:.5g}".replace("-", "−")


def _filled_facts(rows: list[list[str]]) -> str:
    """Names and values in two columns, long values in several lines."""
    width = max(len(name) for name, _ in rows) + 2
    found = [
        textwrap.fill(
            f"{name:<{width}}{told}",
            WIDTH,
            subsequent_indent=" " * width,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for name, told in rows
    ]
    return "\n".join(found)


def _proof(proof: Optimality) -> str:
    steps = f"{proof.method}, {proof.iterations:,} iteration{'s' * (proof.iterations != 1)}"
    objective = f"the objective, {proof.objective:.8g},"
    if proof.relative_gap <= ROUNDING:
        text = f"Optimal: {objective} is the minimum, to rounding ({steps})."
    else:
        said = "Optimal" if proof.converged else "NOT optimal within the tolerance"
        text = f"{said}: {objective} is above its minimum by at most {_ceiling(proof.gap)} ({steps})."
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _ceiling(number: float) -> str:
    """A bound in one digit, never below it."""
    if not math.isfinite(number):
        return "any amount"
    power = math.floor(math.log10(number))
    digit = math.ceil(number / 10.0**power)
    return f"1e{power + 1:+03d}" if digit > 9 else f"{digit}e{power:+03d}"
