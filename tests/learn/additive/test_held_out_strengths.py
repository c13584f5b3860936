"""The strength of many words is chosen on held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh
from weigh.learn.additive import held_out_strengths
from weigh.learn.additive.held_out_strengths import SCALES

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
