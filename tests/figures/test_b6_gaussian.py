"""B6: Gaussian class-conditionals: a horse or a dog, by how fast it runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import weigh
from weigh.errors import Unsupported
from weigh.model import BayesModel

PRIOR = {"Horse": 0.05, "Dog": 0.95}
SPEEDS: dict[str, list[Any]] = {
    "speed": [11.0, 12.0, 11.5, 4.0, 6.0, 5.0],
    "animal": ["Horse"] * 3 + ["Dog"] * 3,
}


def animals(spread: float, class_prior: Any = PRIOR) -> BayesModel:
    return BayesModel.from_parameters(
        class_prior=class_prior, columns={"speed": {"Horse": (11.5, spread), "Dog": (5, spread)}}
    )


def verdict(model: BayesModel, speed: float) -> str:
    return str(model.predict({"speed": speed})[0])


def horse(model: BayesModel, speed: float) -> float:
    return float(model.predict_proba({"speed": speed})[0, model.classes.index("Horse")])


@pytest.mark.parametrize("spread", [0.5, 1.0, 2.0, 30.0])
def test_by_maximum_likelihood_9_is_a_horse_whatever_the_spread(spread: float) -> None:
    model = animals(spread, "uniform")
    assert verdict(model, 9) == "Horse"
    assert horse(model, 8.25) == pytest.approx(0.5, abs=1e-15)
    assert (verdict(model, 8.2499), verdict(model, 8.2501)) == ("Dog", "Horse")


def test_a_posteriori_9_is_a_horse_only_below_a_spread_of_1_2867() -> None:
    limit = math.sqrt(0.75 * 6.5 / math.log(19))
    assert limit == pytest.approx(1.2867, abs=5e-5)
    assert verdict(animals(limit - 1e-9), 9) == "Horse"
    assert verdict(animals(limit + 1e-9), 9) == "Dog"


@pytest.mark.parametrize(("spread", "expected"), [(1.0, 0.8733), (2.0, 0.1511)])
def test_the_posterior_of_a_horse_at_9(spread: float, expected: float) -> None:
    odds = math.exp(((9 - 5) ** 2 - (9 - 11.5) ** 2) / (2 * spread**2)) / 19
    assert horse(animals(spread), 9) == pytest.approx(odds / (1 + odds), rel=1e-13)
    assert horse(animals(spread), 9) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("spread", [0.3, 1.0, 2.0])
def test_the_boundary_is_the_midpoint_moved_by_the_prior(spread: float) -> None:
    boundary = 8.25 + spread**2 * math.log(19) / 6.5
    assert horse(animals(spread), boundary) == pytest.approx(0.5, abs=1e-12)
    linear = animals(spread).linear()
    assert -linear.intercept / linear.coef[0] == pytest.approx(boundary, rel=1e-13)


def test_the_spread_is_class_specific_shared_or_given() -> None:
    def spreads(kind: weigh.Number) -> Any:
        model = weigh.NaiveBayes(columns={"speed": kind}).fit(SPEEDS, "animal").model_
        return model.distributions[0].deviation

    assert spreads(weigh.Number()) == pytest.approx([math.sqrt(2 / 3), math.sqrt(1 / 6)], rel=1e-15)
    assert spreads(weigh.Number(spread="shared")) == pytest.approx([math.sqrt(5 / 12)] * 2, rel=1e-15)
    assert spreads(weigh.Number(spread=2.0)).tolist() == [2.0, 2.0]


def test_a_fit_with_given_spread_equals_the_model_from_parameters() -> None:
    fitted = weigh.NaiveBayes(columns={"speed": weigh.Number(spread=2.0)}, class_prior=PRIOR)
    fitted.fit(SPEEDS, "animal")
    assert horse(fitted.model_, 9) == pytest.approx(horse(animals(2.0), 9), rel=1e-14)


def test_class_specific_spreads_have_no_linear_form() -> None:
    model = weigh.NaiveBayes().fit(SPEEDS, "animal").model_
    with pytest.raises(Unsupported, match="quadratic"):
        model.linear()


def test_missing_numbers_are_left_out_of_the_sum() -> None:
    model = animals(1.0)
    assert model.predict_proba({"speed": None})[0] == pytest.approx([0.95, 0.05])
    gaps = {"speed": [*SPEEDS["speed"], None], "animal": [*SPEEDS["animal"], "Dog"]}
    full, holed = (weigh.NaiveBayes().fit(t, "animal").model_.distributions[0] for t in (SPEEDS, gaps))
    assert np.array_equal(full.mean, holed.mean)
    assert np.array_equal(full.deviation, holed.deviation)
