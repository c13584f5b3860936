"""B9: the a-posteriori against the maximum-likelihood decision; costs; 'unsure'."""

from __future__ import annotations

from typing import Any

import pytest

from weigh.errors import ParameterError
from weigh.model import BayesModel, Decision

NINE = {"speed": 9.0}


@pytest.fixture
def animals() -> BayesModel:
    return BayesModel.from_parameters(
        class_prior={"Horse": 0.05, "Dog": 0.95}, columns={"speed": {"Horse": (11.5, 2), "Dog": (5, 2)}}
    )


def decide(model: BayesModel, **decision: Any) -> str:
    return str(model.predict(NINE, Decision(**decision))[0])


def test_map_says_dog_and_maximum_likelihood_says_horse(animals: BayesModel) -> None:
    assert animals.predict(NINE).tolist() == ["Dog"]
    assert decide(animals, class_prior="uniform") == "Horse"
    assert animals.with_prior(None, "uniform").predict(NINE).tolist() == ["Horse"]


def test_a_class_prior_of_99_to_1_can_replace_the_trained_one(animals: BayesModel) -> None:
    assert decide(animals, class_prior={"Horse": 0.99, "Dog": 0.01}) == "Horse"
    assert decide(animals, class_prior={"Horse": 0.01, "Dog": 0.99}) == "Dog"


def test_the_verdict_has_the_least_expected_cost(animals: BayesModel) -> None:
    # P(Horse | 9) = 0.1511: calling it a dog costs 0.1511 c, calling it a horse costs 0.8489.
    assert decide(animals, costs={("Horse", "Dog"): 5.6}) == "Dog"
    assert decide(animals, costs={("Horse", "Dog"): 5.7}) == "Horse"


def test_the_verdict_is_unsure_if_that_is_cheapest(animals: BayesModel) -> None:
    assert decide(animals, unsure=0.16) == "Dog"
    assert decide(animals, unsure=0.15) == "unsure"


def test_a_cost_for_a_class_that_does_not_exist_is_refused(animals: BayesModel) -> None:
    with pytest.raises(ParameterError, match="the class 'Cat'; the model has 'Dog', 'Horse'"):
        decide(animals, costs={("Cat", "Dog"): 1})
