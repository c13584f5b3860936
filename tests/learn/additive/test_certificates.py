"""The stated objectives and gaps of additive models, against the objective in 50 digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import weigh
from weigh.model.distributions.curve_weights import CurveWeights, find_cells
from weigh.model.regression import RegressionModel


def exact_penalty(term: CurveWeights) -> Decimal:
    """Return the penalty of the heights of a curve, from its definition."""
    heights, positions, counts = (
        [Decimal(x) for x in each.tolist()]
        for each in (
            term.table[:, -1] - term.table[:, 0] * (term.table.shape[1] > 1),
            term.positions,
            term.counts,
        )
    )
    counts, total = counts[:-1], sum(counts[:-1], Decimal(0))
    mean = sum((n * z for n, z in zip(counts, positions, strict=True)), Decimal(0)) / total
    variance = sum((n * (z - mean) ** 2 for n, z in zip(counts, positions, strict=True)), Decimal(0)) / total
    steps = [b - a for a, b in pairwise(positions)]
    changes = [b - a for a, b in pairwise(heights[:-1])]
    norm = sum((z * z for z in steps), Decimal(0))
    along = sum((f * z for f, z in zip(changes, steps, strict=True)), Decimal(0)) ** 2 / norm
    walk = sum((f * f for f in changes), Decimal(0)) - along
    strengths = [Decimal(x) for x in term.strengths.tolist()]
    parts = walk, along * variance / norm, heights[-1] ** 2
    return sum((strength * part for strength, part in zip(strengths, parts, strict=True)), Decimal(0)) / 2


def exact_objective(model: Any, table: dict[str, Any], y: Any) -> Decimal:
    """Return loss and penalty of a model of curves alone; y are numbers, or codes of two classes."""
    is_linear = isinstance(model, RegressionModel)
    total = Decimal(float(model.base[-1]) - (0.0 if is_linear else float(model.base[0])))
    scores = [total] * len(y)
    for term in model.terms:
        heights = [Decimal(x) for x in (term.table[:, -1] - (0 if is_linear else term.table[:, 0])).tolist()]
        cells = find_cells(np.asarray(table[term.name]), term.cuts).tolist()
        scores = [score + heights[cell] for score, cell in zip(scores, cells, strict=True)]
    labels = [Decimal(x) for x in np.asarray(y).tolist()]
    if is_linear:
        loss = sum(((s - t) ** 2 / 2 for s, t in zip(scores, labels, strict=True)), Decimal(0))
    else:
        loss = sum(((1 + s.exp()).ln() - t * s for s, t in zip(scores, labels, strict=True)), Decimal(0))
    return loss + sum(map(exact_penalty, model.terms), Decimal(0))


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e11])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("is_linear", [True, False])
def test_the_stated_objective_is_that_of_exact_arithmetic_within_the_gap(
    is_linear: bool, seed: int, offset: float
) -> None:
    rng = np.random.default_rng(seed)
    n = (50, 200, 400)[seed % 3]
    table = {"a": rng.normal(size=n), "b": rng.normal(size=n)}
    numbers = np.sin(2 * table["a"]) + table["b"] ** 2 + rng.normal(size=n) * 10 ** rng.uniform(-3, 0)
    table["a"] = table["a"] + offset
    y = numbers + offset if is_linear else (numbers > 1).astype(float)
    learner: Any = weigh.LinearRegression if is_linear else weigh.LogisticRegression
    fitted = learner(curves="auto").fit({**table, "y": y if is_linear else y.astype(int)}, "y")
    certificate = fitted.certificate_
    assert certificate.converged
    with localcontext() as context:
        context.prec = 50
        difference = exact_objective(fitted.model_, table, y) - Decimal(certificate.objective)
    assert abs(difference) <= Decimal(certificate.gap)
