"""The elastic-net penalty, and the JSON form of priors of weights."""

from __future__ import annotations

import copy
import doctest
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from weigh import priors
from weigh.errors import ModelFileError, ParameterError, Unsupported
from weigh.priors import (
    Beta,
    Dirichlet,
    Laplace,
    Normal,
    Penalty,
    WeightPrior,
    prior_from_json,
    weight_prior_from_json,
    weight_prior_to_json,
)
from weigh.priors.location_scale import FeatureWeights

strengths = st.floats(0.01, 100)
numbers = st.floats(-50, 50)
OLDER = FeatureWeights(("age", "sex"), np.array([2.0, -0.1]))


@given(strengths, st.lists(numbers, min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_pure_l2_is_normal_and_pure_l1_is_laplace(a: float, w: list[float]) -> None:
    pairs = ((Penalty(l2=a), Normal(a**-0.5)), (Penalty(l1=a), Laplace(1 / a)))
    for prior, expected in pairs:
        assert prior.log_density(w) == pytest.approx(expected.log_density(w), rel=1e-9, abs=1e-9)
        assert prior.value(w) == pytest.approx(expected.value(w), rel=1e-9)
        assert prior.prox(w, 0.7) == pytest.approx(expected.prox(w, 0.7), rel=1e-9, abs=1e-12)
        assert prior.interval(0.9) == pytest.approx(expected.interval(0.9), rel=1e-9)
        assert prior.penalty() == pytest.approx(expected.penalty(), rel=1e-9)


@pytest.mark.parametrize(("l1", "l2"), [(1, 3), (0.1, 5), (20, 0.5), (0, 2), (2, 0), (1e6, 1)])
def test_the_density_integrates_to_the_level_over_the_interval(l1: float, l2: float) -> None:
    prior = Penalty(l1, l2)
    for level in (0.01, 0.5, 0.95, 0.999_999):
        low, high = prior.interval(level)
        half_mass, _ = integrate.quad(prior.density, 0, high, epsabs=0, epsrel=1e-11)
        assert low == -high
        assert 2 * half_mass == pytest.approx(level, rel=1e-8)


def test_a_negligible_quadratic_term_changes_nothing() -> None:
    assert Penalty(1, 1e-12).interval(0.9) == pytest.approx(Laplace(1).interval(0.9), rel=1e-9)
    assert Penalty(1, 1e-16).interval(0.9) == pytest.approx(Laplace(1).interval(0.9), rel=1e-9)
    assert Penalty(1e200, 1).interval(0.9) == pytest.approx(Laplace(1e-200).interval(0.9), rel=1e-9)


@given(strengths, strengths, numbers, st.floats(0, 10))
@settings(max_examples=100, deadline=None)
def test_zero_is_a_subgradient_at_the_prox(l1: float, l2: float, v: float, step: float) -> None:
    w = Penalty(l1, l2).prox(v, step)
    subgradient = v - w - step * l2 * w
    if w == 0:
        assert abs(subgradient) <= step * l1
    else:
        assert subgradient == pytest.approx(math.copysign(step * l1, w), abs=1e-8 * (1 + step * l1))


def test_values_and_proxes_computed_by_hand() -> None:
    assert Penalty(l1=1, l2=3).value([1, -2]) == 3 + 7.5
    assert Penalty(l1=1, l2=3).prox([3, -0.5, -5]).tolist() == [0.5, 0, -1]
    assert Penalty().value([1, -2]) == 0
    assert Penalty().prox(2) == 2


def test_the_penalty_does_not_depend_on_the_noise() -> None:
    assert Penalty(1, 3).penalty(sigma=7) == Penalty(1, 3).penalty() == (1, 3)
    assert Penalty(0.1, 3).exact_penalty() == (Fraction(1, 10), 3)


def test_sample_is_seeded_and_has_the_right_quantiles() -> None:
    prior = Penalty(l1=1, l2=3)
    draws = prior.sample(20_000, seed=1)
    assert np.array_equal(draws, prior.sample(20_000, seed=1))
    quantiles = [prior.interval(level)[1] for level in (0.25, 0.5, 0.75)]
    assert [(np.abs(draws) < m).mean() for m in quantiles] == pytest.approx([0.25, 0.5, 0.75], abs=0.015)
    assert stats.binomtest(int((draws > 0).sum()), draws.size).pvalue > 0.001


def test_a_penalty_is_centred_and_its_scale_is_not_automatic() -> None:
    prior = Penalty(l1=1)
    assert prior.mean == prior.mode == 0
    assert prior.is_centred
    assert not prior.is_scale_automatic
    assert prior.centre(["a", "b"]).tolist() == [0, 0]


def test_without_a_penalty_there_is_no_density() -> None:
    flat = Penalty()
    calls = (
        lambda: flat.mean,
        lambda: flat.mode,
        lambda: flat.density(1),
        flat.interval,
        lambda: flat.sample(1),
    )
    for call in calls:
        with pytest.raises(Unsupported, match=r"^Penalty\(\) penalises nothing: .* Give l1 or l2\.$"):
            call()


@pytest.mark.parametrize("bad", [-1, math.nan, math.inf, "cv", None, True])
def test_negative_penalties_are_rejected(bad: object) -> None:
    for name in ("l1", "l2"):
        with pytest.raises(ParameterError) as error:
            Penalty(**{name: bad})
        assert str(error.value) == f"Penalty: {name} must be a finite number of zero or more, got {bad!r}."


def test_repr_is_python_and_str_shows_the_equivalents() -> None:
    for prior in (Penalty(), Penalty(1), Penalty(l2=0.1), Penalty(1 / 3, 2)):
        assert eval(repr(prior), {"Penalty": Penalty}) == prior
        assert {prior: 1}[copy.deepcopy(prior)] == 1
        assert pickle.loads(pickle.dumps(prior)) == prior
    assert str(Penalty()) == "Penalty(): no penalty"
    assert str(Penalty(1, 3)) == (
        "Penalty(l1=1, l2=3): l1=1, l2=3 with the log loss, LogisticRegression(C=0.25, l1_ratio=0.25); "
        "the same with ½‖y − Xw‖², ElasticNet(alpha=4/n, l1_ratio=0.25)"
    )


PRIORS = [
    None,
    Normal(0.1),
    Normal("cv", mean=-2.5),
    Laplace(1 / 3, mean=1),
    Penalty(0.1, 2),
    Penalty(),
    Penalty(1, 2, "cv"),
]


@pytest.mark.parametrize("prior", [*PRIORS, Normal("evidence"), Normal(2, mean=OLDER)], ids=repr)
def test_json_is_lossless(prior: WeightPrior | None) -> None:
    text = json.dumps(weight_prior_to_json(prior), allow_nan=False)
    assert weight_prior_from_json(json.loads(text)) == prior


@pytest.mark.parametrize(
    "data",
    [
        3,
        [],
        {},
        {"kind": "beta", "a": 1, "b": 1},
        {"kind": "normal", "scale": 1},
        {"kind": "normal", "scale": 0, "mean": 0},
        {"kind": "normal", "scale": 1, "mean": None},
        {"kind": "normal", "scale": 1, "mean": math.inf},
        {"kind": "laplace", "scale": "evidence", "mean": 0},
        {"kind": "penalty", "l1": -1, "l2": 0},
        {"kind": "penalty", "l1": 1, "l2": 0, "more": 1},
        {"kind": "normal", "scale": 1, "mean": {"features": ["a"], "coef": [1, 2]}},
        {"kind": "normal", "scale": 1, "mean": {"features": [1], "coef": [1]}},
        {"kind": "normal", "scale": 1, "mean": {"features": ["a"], "coef": ["x"]}},
        {"kind": "normal", "scale": 1, "mean": {"features": ["a"], "coef": [math.nan]}},
        {"kind": "normal", "scale": 1, "mean": {"features": ["a", "b"], "coef": [[1, 2], [3]]}},
    ],
)
def test_json_that_is_not_a_prior_of_weights_is_rejected(data: object) -> None:
    with pytest.raises(ModelFileError, match="is not part of a prior as weigh writes it"):
        weight_prior_from_json(data)


def test_a_prior_of_weights_is_not_a_prior_of_probabilities() -> None:
    with pytest.raises(ModelFileError):
        prior_from_json(Normal(1).to_json())


@pytest.mark.parametrize("prior", [Beta, Dirichlet, Normal, Laplace, Penalty])
def test_docstring_examples_are_correct(prior: type) -> None:
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder().find(prior, globs=vars(priors).copy()):
        runner.run(example)
    assert runner.tries
    assert not runner.failures


def test_a_penalty_without_a_strength_has_a_shape_alone() -> None:
    prior = Penalty(l1=1, l2=2, scale="cv")
    assert repr(prior) == "Penalty(l1=1, l2=2, scale='cv')"
    assert str(prior).endswith("the learner multiplies l1 and l2 by a number chosen by cross-validation")
    assert prior.shape == (1, 2)
    assert prior.is_scale_automatic
    for ask in (prior.penalty, prior.exact_penalty, lambda: prior.value([1]), lambda: prior.prox([1])):
        with pytest.raises(Unsupported, match="has no strength yet: a learner chooses it from rows"):
            ask()
    with pytest.raises(Unsupported, match="has no strength yet"):
        prior.density(0)


def test_bad_scales_of_a_penalty_are_refused() -> None:
    with pytest.raises(ParameterError) as caught:
        Penalty(l1=1, scale=2)  # type: ignore[arg-type]
    assert str(caught.value) == "Penalty: scale must be None or 'cv', got 2."
    with pytest.raises(ParameterError) as caught:
        Penalty(scale="cv")
    assert str(caught.value) == (
        "Penalty: the scale 'cv' multiplies l1 and l2, but both are zero. Give their ratio, for example "
        "l1=1, l2=1."
    )
