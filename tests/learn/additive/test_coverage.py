"""Coverage of posterior bands and prediction intervals, in simulations with known curves.

A posterior band covers its truth at the nominal rate on average over a curve and over repetitions (Nychka
1988), not in every cell, so these tests bound means over rows and repetitions. The true curves here are
smoother than a random walk, so that bands of 95 % cover more: 93 to 99.8 % by column, 95 to 99 % on average.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh

CURVES = {
    "line": lambda x: 1.2 * x,
    "wave": lambda x: 1.2 * np.sin(3 * x),
    "bump": lambda x: 2.0 * np.exp(-8 * x**2),
}
Z = 1.959964


def simulate(rng: np.random.Generator, n: int, is_regression: bool) -> dict[str, Any]:
    """Return rows with three independent numbers, whose effects are the curves, and the target."""
    table = {name: rng.uniform(-1, 1, n) for name in CURVES}
    score = sum(CURVES[name](table[name]) for name in CURVES)
    if is_regression:
        return {**table, "y": score + 0.8 * rng.normal(size=n)}
    return {**table, "y": rng.random(n) < 1 / (1 + np.exp(0.6 - score))}


def band_coverage(model: Any, table: dict[str, Any]) -> dict[str, float]:
    """Return, by column, the share of rows in whose cell the band contains the mean of the true curve."""
    shares = {}
    for term in model.terms:
        x = table[term.name]
        cells = np.searchsorted(term.cuts, x)
        truth = CURVES[term.name](x)
        sums = np.bincount(cells, truth, minlength=term.n_cells)
        means = sums / np.maximum(term.counts[:-1], 1) - truth.mean()
        is_inside = np.abs(term.table[:-1, -1] - means) <= Z * term.errors[:-1, -1]
        shares[term.name] = float(np.average(is_inside, weights=term.counts[:-1]))
    return shares


def mean_coverage(n: int, is_regression: bool, repetitions: int) -> dict[str, float]:
    """Return the coverage of 95 % bands by column, averaged over repetitions."""
    rng = np.random.default_rng(n + is_regression)
    learner = weigh.LinearRegression if is_regression else weigh.LogisticRegression
    found: dict[str, list[float]] = {name: [] for name in CURVES}
    for _ in range(repetitions):
        table = simulate(rng, n, is_regression)
        for name, share in band_coverage(learner(curves="auto").fit(table, "y").model_, table).items():
            found[name].append(share)
    return {name: float(np.mean(shares)) for name, shares in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("is_regression", "n"), [(True, 300), (True, 1000), (False, 500)])
def test_bands_of_curves_cover_the_truth_at_about_the_nominal_rate(is_regression: bool, n: int) -> None:
    coverage = mean_coverage(n, is_regression, 15)
    assert 0.92 <= np.mean(list(coverage.values())) <= 0.997, coverage
    assert min(coverage.values()) >= 0.88, coverage


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 400])
def test_prediction_intervals_cover_new_targets_at_the_nominal_rate(n: int) -> None:
    rng, distances = np.random.default_rng(n), []
    for _ in range(15):
        model = weigh.LinearRegression(curves="auto").fit(simulate(rng, n, True), "y").model_
        new = simulate(rng, 500, True)
        y = new.pop("y")
        mean, std = model.predict(new, return_std=True)
        distances.append(np.abs(y - mean) / std)
    assert np.mean(np.array(distances) <= 0.674490) == pytest.approx(0.5, abs=0.04)
    assert np.mean(np.array(distances) <= Z) == pytest.approx(0.95, abs=0.02)
