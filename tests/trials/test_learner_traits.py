"""Every named learner, and the common ones of scikit-learn, have a description."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import all_estimators

import weigh
from weigh.trials.learner_traits import SKLEARN_TRAITS, WEIGH_TRAITS, Traits, describe_learners, traits_of
from weigh.trials.learners import LEARNER_FACTORIES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "comparing.md"


class UnknownLearner(ClassifierMixin, BaseEstimator):
    """A learner that nobody has described."""

    def fit(self, X: object, y: object) -> None:
        """Learn nothing."""


class DerivedLearner(weigh.NaiveBayes):
    """A learner derived from one that is described."""


@pytest.mark.parametrize("name", LEARNER_FACTORIES)
def test_every_named_learner_is_described(name: str) -> None:
    assert isinstance(traits_of(LEARNER_FACTORIES[name]()), Traits)


def test_every_learner_of_this_library_is_described_and_every_other_exists() -> None:
    assert set(WEIGH_TRAITS) == {type(make()).__name__ for make in LEARNER_FACTORIES.values()} - {
        "Pipeline"
    } | {"Perceptron"}
    assert set(SKLEARN_TRAITS) <= {name for name, _ in all_estimators()}


def test_learners_with_the_same_name_are_distinguished_by_their_library() -> None:
    from sklearn.linear_model import Perceptron

    ours, theirs = traits_of(weigh.Perceptron()), traits_of(Perceptron())
    assert ours is not None
    assert "R²/γ²" in ours.guarantee
    assert ours != theirs


def test_a_derived_learner_has_the_traits_of_its_base() -> None:
    assert traits_of(DerivedLearner()) == WEIGH_TRAITS["NaiveBayes"]


def test_an_unknown_learner_is_not_described() -> None:
    table = describe_learners({"foreign": UnknownLearner(), "tree": "tree"})
    assert table.to_dict()["foreign"] is None
    assert "  foreign  not described" in str(table)


def test_traits_print_within_80_columns_for_every_learner() -> None:
    table = describe_learners()
    assert max(map(len, str(table).splitlines())) <= 80
    assert str(table).count("naive-bayes") == len(fields(Traits))
    assert "generative or discriminative\n  naive-bayes  generative\n  logistic     discriminative" in str(
        table
    )
    assert "<table" in table._repr_html_()


def test_the_documentation_shows_the_current_table() -> None:
    assert describe_learners().to_markdown() in PAGE.read_text("utf-8")


def test_traits_tell_supervised_from_unsupervised_learners() -> None:
    from sklearn.cluster import KMeans
    from sklearn.mixture import GaussianMixture

    ours = describe_learners().to_dict()
    assert {each["supervision"] for each in ours.values()} == {"supervised: labelled rows"}
    others = describe_learners({"clusters": KMeans(), "mixture": GaussianMixture()})
    assert {each["supervision"] for each in others.to_dict().values()} == {
        "unsupervised: rows without labels"
    }
    assert str(others).startswith("supervised or not\n  clusters  unsupervised: rows without labels")
