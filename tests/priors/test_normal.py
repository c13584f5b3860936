"""The normal prior of a weight."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

import weigh
from weigh.errors import DataError, ParameterError, Unsupported, one_line_repr
from weigh.priors import Laplace, Normal, Penalty
from weigh.priors.location_scale import FeatureWeights

scales = st.floats(0.01, 100)
numbers = st.floats(-50, 50)
OLDER = FeatureWeights(("age", "sex"), np.array([2.0, -1.0]))


@given(scales, numbers, st.lists(numbers, min_size=1, max_size=5), st.floats(0.01, 0.99))
@settings(max_examples=50, deadline=None)
def test_densities_and_intervals_agree_with_scipy(s: float, m: float, w: list[float], level: float) -> None:
    ours, theirs = Normal(s, mean=m), stats.norm(m, s)
    assert ours.log_density(w) == pytest.approx(theirs.logpdf(w), rel=1e-12, abs=1e-12)
    assert ours.density(w[0]) == pytest.approx(theirs.pdf(w[0]), rel=1e-9, abs=1e-300)
    assert ours.interval(level) == pytest.approx(theirs.interval(level), rel=1e-9, abs=1e-9)
    assert ours.mean == ours.mode == m


@given(scales, numbers, st.lists(numbers, min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_the_value_is_the_negative_log_density_without_its_constant(
    s: float, m: float, w: list[float]
) -> None:
    prior = Normal(s, mean=m)
    constant = len(w) * prior.log_density(m)
    assert prior.value(w) == pytest.approx(constant - prior.log_density(w).sum(), rel=1e-9, abs=1e-9)


def test_the_density_integrates_to_one() -> None:
    total, _ = integrate.quad(Normal(0.7, mean=-2).density, -20, 20, points=[-2])
    assert total == pytest.approx(1, abs=1e-9)


@given(scales, numbers, numbers, st.floats(0, 10))
@settings(max_examples=50, deadline=None)
def test_the_gradient_of_the_objective_is_zero_at_the_prox(s: float, m: float, v: float, step: float) -> None:
    w = Normal(s, mean=m).prox(v, step)
    assert (w - v) + step * (w - m) / s**2 == pytest.approx(0, abs=1e-9 * (1 + step / s**2) * 100)


def test_the_prox_agrees_with_numerical_minimisation() -> None:
    prior = Normal(2, mean=1)
    minimum = optimize.minimize_scalar(lambda w: 0.5 * (w - 5) ** 2 + 3 * prior.value(w), tol=1e-12)
    assert prior.prox(5, step=3) == pytest.approx(minimum.x, abs=1e-6) == pytest.approx(1 + 4 / 1.75)
    assert prior.prox([1.0, 5.0], step=0).tolist() == [1, 5]


def test_the_penalty_is_the_ratio_of_the_variances() -> None:
    assert Normal(2).penalty() == (0, 0.25)
    assert Normal(2).penalty(sigma=4) == (0, 4)
    assert Normal(0.1).penalty() == (0, 100)
    assert Normal(0.1).exact_penalty(0.3) == (0, Fraction(9))


def test_normal_noise_gives_the_squared_loss() -> None:
    noise, residuals = Normal(3), np.array([1.0, -2.0, 0.5])
    assert noise.loss == "squared"
    assert noise.dispersion * noise.value(residuals) == pytest.approx(0.5 * np.square(residuals).sum())


@pytest.mark.parametrize("prior", [Normal(2), Laplace(0.5)])
def test_the_penalty_is_the_value_times_the_dispersion_of_the_noise(prior: Normal | Laplace) -> None:
    w = np.array([1.0, -2.0, 0.5])
    for noise in (Normal(3), Laplace(3)):
        l1, l2 = prior.penalty(sigma=math.sqrt(noise.dispersion))
        assert Penalty(l1, l2).value(w) == pytest.approx(noise.dispersion * prior.value(w), rel=1e-12)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "foo", None, True, [2], 1e-320])
def test_scales_that_are_not_positive_numbers_are_rejected(bad: object) -> None:
    with pytest.raises(ParameterError) as error:
        Normal(bad)
    message = "Normal: scale must be a positive, finite number, 'cv' or 'evidence', got"
    assert str(error.value) == f"{message} {one_line_repr(bad)}."


@pytest.mark.parametrize("bad", [math.nan, math.inf, "older", None, True, {"age": 2}, 10**400])
def test_means_that_are_neither_numbers_nor_models_are_rejected(bad: object) -> None:
    with pytest.raises(ParameterError) as error:
        Normal(1, mean=bad)
    message = "Normal: mean must be a finite number, or a fitted model with weights by feature, got"
    assert str(error.value) == f"{message} {one_line_repr(bad)}."


def test_other_arguments_are_checked() -> None:
    with pytest.raises(ParameterError, match=r"^penalty: sigma must be a positive, finite number, got 0\.$"):
        Normal(1).penalty(sigma=0)
    with pytest.raises(ParameterError, match=r"^penalty: sigma must be smaller with Normal\(1e-200\)"):
        Normal(1e-200).penalty()
    with pytest.raises(ParameterError, match=r"^prox: step must be a number of zero or more, got -1\.$"):
        Normal(1).prox(1, step=-1)
    with pytest.raises(
        ParameterError, match=r"^interval: level must be between 0 and 1, both excluded, got 1\.$"
    ):
        Normal(1).interval(1)
    for method in ("log_density", "density", "value", "prox"):
        with pytest.raises(ParameterError, match="must be a number or an array of numbers, got"):
            getattr(Normal(1), method)([1, math.nan])
        with pytest.raises(ParameterError, match="must be a number or an array of numbers, got 'a'"):
            getattr(Normal(1), method)("a")


@pytest.mark.parametrize("method_name", ["cv", "evidence"])
def test_an_automatic_scale_is_unknown_before_fitting(method_name: str) -> None:
    prior = Normal(method_name)
    assert prior.is_scale_automatic
    assert not Normal(1).is_scale_automatic
    name = rf"^Normal\('{method_name}'\)"
    message = rf"{name} has no scale yet: a learner chooses it from rows\. Give a number instead\.$"
    for call in (prior.penalty, prior.interval, lambda: prior.value(1), lambda: prior.sample(2)):
        with pytest.raises(Unsupported, match=message):
            call()


def test_the_mean_may_be_a_model_matched_by_feature_name() -> None:
    prior = Normal(2, mean=OLDER)
    assert prior.mean is OLDER
    assert not prior.is_centred
    assert prior.centre(["sex", "height", "age"]).tolist() == [-1, 0, 2]
    assert Normal(2, mean=3).centre(["a", "b"]).tolist() == [3, 3]
    assert prior.value([2, -1]) == 0
    assert prior.value([4, -1]) == 0.5
    low, high = prior.interval(0.5)
    assert prior.mode.tolist() == [2, -1] == pytest.approx((low + high) / 2)
    assert prior.sample(3).shape == (3, 2)
    message = (
        r"^value: w has the shape \(3,\), but the prior is centred at a model's weights of the shape \(2,\)\."
    )
    with pytest.raises(DataError, match=message):
        prior.value([1, 2, 3])


def test_the_mean_may_have_weights_of_several_classes() -> None:
    prior = Normal(1, mean=FeatureWeights(("a", "b"), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])))
    assert prior.centre(["b", "c"]).tolist() == [[2, 0], [4, 0], [6, 0]]


def test_a_fitted_learner_and_its_model_give_the_same_mean() -> None:
    rows = {"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 0.0, 1.0, 0.0], "label": ["a", "a", "b", "b"]}
    older = weigh.Perceptron(shuffle=False).fit(rows, "label")
    names = ["y", "x"]
    learner, model = Normal(1, mean=older), Normal(1, mean=older.model_)
    assert learner.centre(names).tolist() == model.centre(names).tolist() == older.coef_[0, ::-1].tolist()


def test_only_a_mean_of_zero_is_centred() -> None:
    assert Normal(1).is_centred
    assert not Normal(1, mean=0.5).is_centred


def test_sample_is_seeded_and_has_the_given_mean_and_scale() -> None:
    prior = Normal(3, mean=-1)
    draws = prior.sample(20_000, seed=1)
    assert np.array_equal(draws, prior.sample(20_000, seed=1))
    assert not np.array_equal(draws, prior.sample(20_000, seed=2))
    assert (draws.mean(), draws.std()) == pytest.approx((-1, 3), abs=0.05)


def test_repr_is_python_and_str_shows_the_equivalents() -> None:
    for prior in (Normal(2), Normal(0.1, mean=-1.5), Normal("cv"), Normal("evidence", mean=2), Normal(1 / 3)):
        assert eval(repr(prior), {"Normal": Normal}) == prior
    assert repr(Normal(Fraction(1, 2), mean=3)) == "Normal(0.5, mean=3)"
    assert str(Normal(2)) == (
        "Normal(2): l2=0.25 with the log loss, LogisticRegression(C=4); 0.25 σ² with ½‖y − Xw‖², "
        "Ridge(alpha=0.25 σ²)"
    )
    assert str(Normal("cv")) == "Normal('cv'): the learner chooses the scale by cross-validation"
    assert str(Normal("evidence")) == (
        "Normal('evidence'): the learner chooses the scale by maximising the marginal likelihood"
    )


def test_a_prior_can_be_hashed_copied_and_pickled() -> None:
    for prior in (Normal(2), Normal("cv", mean=1), Normal(2, mean=OLDER)):
        assert {prior: 1}[copy.deepcopy(prior)] == 1
        assert pickle.loads(pickle.dumps(prior)) == prior
    assert Normal(2) == Normal(2.0) == Normal(Fraction(2)) != Normal(2, mean=1)
    assert Normal(2) != Laplace(2)
