"""Strengths chosen on held-out rows: of many words, and of nearly separable classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weigh
from weigh.learn.additive import held_out_strengths
from weigh.learn.additive.effects import curve_effect
from weigh.learn.additive.held_out_strengths import FACTORS, SCALES, is_clear_gain, scale_strengths
from weigh.learn.additive.models import LossMaker
from weigh.learn.additive.problem import AdditiveProblem
from weigh.learn.additive.smoothing import MIN_STRENGTH
from weigh.learn.linear.matrix import SparseMatrix
from weigh.source.sparse_rows import SparseRows

N, N_WORDS = 400, 600
LEARNERS: dict[str, Any] = {"logistic": weigh.LogisticRegression, "linear": weigh.LinearRegression}


def make_table(effect: float, which: str, seed: int = 0) -> dict[str, Any]:
    """Return texts of ten words, the first hundred of which have effects of this size, and a number."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{j}" for j in range(N_WORDS)])
    drawn = rng.integers(0, N_WORDS, size=(N, 10))
    effects = np.where(np.arange(N_WORDS) < 100, effect, 0.0) * rng.choice([-1.0, 1.0], N_WORDS)
    x = rng.normal(size=N)
    scores = effects[drawn].sum(axis=1) + np.sin(2 * x)
    noisy = scores + rng.logistic(size=N)
    y = np.where(noisy > 0, "yes", "no") if which == "logistic" else noisy
    return {"text": [" ".join(row) for row in words[drawn]], "x": x, "y": y}


def fit(table: dict[str, Any], which: str, **settings: Any) -> Any:
    columns = {"text": weigh.Text()}
    return LEARNERS[which](curves="auto", columns=columns, **settings).fit(table, "y").model_


def word_strength(model: Any, which: str) -> float:
    unit = model.fit.sigma**2 / model.fit.spread**2 if which == "linear" else 1.0
    return float(model.fit.strengths["text"]) / unit


@pytest.mark.parametrize("which", LEARNERS)
def test_words_with_large_effects_have_a_weaker_prior_than_words_without_effect(which: str) -> None:
    strong, none = (word_strength(fit(make_table(size, which), which), which) for size in (3.0, 0.0))
    assert strong < none / 5


@pytest.mark.parametrize("which", LEARNERS)
def test_the_strength_is_one_of_those_tried_and_the_fit_is_certified(which: str) -> None:
    model = fit(make_table(1.0, which), which)
    found = model.fit.strengths["text"]
    noise = 1.0  # standardised targets have a variance of about 1, which is the noise before the fit
    assert min(abs(found * scale**2 / noise - 1) for scale in SCALES) < 0.05
    assert model.certificate.converged


def test_a_stated_prior_is_kept() -> None:
    model = fit(make_table(1.0, "logistic"), "logistic", prior=weigh.Normal(2.0))
    assert model.fit.strengths["text"] == pytest.approx(1 / 4)


def test_few_words_have_a_strength_by_marginal_likelihood(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(1.0, "logistic")
    table["text"] = [" ".join(text.split()[:1]) for text in table["text"]]
    monkeypatch.setattr(held_out_strengths, "SCALES", ())  # nothing to try
    assert 0 < fit(table, "logistic").fit.strengths["text"] < np.inf


def make_numbers(noise: float, which: str = "logistic", n: int = 150) -> dict[str, Any]:
    """Return two numbers and a class or target, which they determine if there is no noise."""
    rng = np.random.default_rng(0)
    x, z = rng.uniform(-1, 1, (2, n))
    scores = np.sin(3 * x) + z + noise * rng.logistic(size=n)
    return {"x": x, "z": z, "y": np.where(scores > 0, "yes", "no") if which == "logistic" else scores}


def fit_numbers(table: dict[str, Any], which: str = "logistic", **settings: Any) -> Any:
    return LEARNERS[which](**({"curves": "auto"} | settings)).fit(table, "y").model_


def factors(
    table: dict[str, Any], monkeypatch: pytest.MonkeyPatch, which: str = "logistic", **settings: Any
) -> dict[str, float]:
    """Return each strength of a fit as a multiple of that by marginal likelihood."""
    chosen = fit_numbers(table, which, **settings).fit.strengths
    with monkeypatch.context() as patch:
        patch.setattr(held_out_strengths, "FACTORS", (1.0,))
        before = fit_numbers(table, which, **settings).fit.strengths
    return {title: chosen[title] / before[title] for title in before}


def test_nearly_separable_classes_get_a_common_factor_that_lowers_the_loss_of_new_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, new = make_numbers(0.0), make_numbers(0.0, n=1_000)
    new = {name: values[150:] for name, values in new.items()}
    found = factors(table, monkeypatch)
    assert found["x"] == pytest.approx(found["z"])
    assert found["x"] in [pytest.approx(factor) for factor in FACTORS[1:]]
    losses = []
    for tried in (FACTORS, FACTORS[:1]):
        monkeypatch.setattr(held_out_strengths, "FACTORS", tried)
        p = fit_numbers(table).predict_proba(new)[:, 1]
        losses.append(-np.log(np.where(new["y"] == "yes", p, 1 - p)).mean())
    assert losses[0] < 0.9 * losses[1]


@pytest.mark.parametrize(("which", "noise"), [("logistic", 1.0), ("linear", 0.01)])
def test_noisy_classes_and_numbers_keep_the_strengths_of_the_marginal_likelihood(
    which: str, noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = factors(make_numbers(noise, which), monkeypatch, which)
    assert list(found.values()) == [1.0, 1.0]


def test_too_many_weights_keep_the_strengths_of_the_marginal_likelihood(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = make_numbers(0.0)
    n_weights = sum(term.table.shape[0] - 1 for term in fit_numbers(table).terms)
    for limit, is_scaled in [(n_weights, True), (n_weights - 1, False)]:
        monkeypatch.setattr(held_out_strengths, "MAX_WEIGHTS", limit)
        assert (factors(table, monkeypatch)["x"] != 1.0) == is_scaled


@pytest.mark.parametrize("pairs", [None, [("x", "z")]])
def test_scaled_strengths_give_the_same_model_twice_which_is_certified_and_verified(
    pairs: Any, tmp_path: Path
) -> None:
    table = make_numbers(0.0)
    first, second = (fit_numbers(table, pairs=pairs) for _ in range(2))
    assert first.fit.strengths == second.fit.strengths
    assert all(np.array_equal(a.table, b.table) for a, b in zip(first.terms, second.terms, strict=True))
    assert first.certificate.converged
    first.save(tmp_path / "model.weigh")
    assert weigh.verify(tmp_path / "model.weigh", table).ok


def test_each_further_factor_must_lower_the_held_out_loss_clearly() -> None:
    assert is_clear_gain(np.array([0.2, 0.1, 0.3]), 1.0)
    assert not is_clear_gain(np.array([2.0, -1.0, -0.9]), 1.0)
    assert not is_clear_gain(np.zeros(3), 1.0)


def test_stated_strengths_have_no_factor_and_others_stay_above_the_smallest() -> None:
    effect = curve_effect("x", 0, np.array([2.0, 3.0, 2.0, 1.0]), np.arange(3.0), 2.0, None)
    X = SparseMatrix(SparseRows.from_dense(np.eye(4)))
    problem = AdditiveProblem(X, LossMaker(np.array([0.0, 1.0, 0.0, 1.0]), None, 2)(), [effect])
    strengths = {"x: walk": 2.0, "line": 0.05, "missing": 1e-4}
    expected = {"x: walk": 2.0, "line": MIN_STRENGTH, "missing": 1e-4}
    assert scale_strengths(problem, strengths, 0.01) == expected
