"""Posterior predictive models: probabilities, verdicts and evidence with the parameters integrated out."""

from __future__ import annotations

from fractions import Fraction
from math import gamma, pi, sqrt
from typing import Any

import numpy as np
import pytest

import weigh
from weigh.errors import ParameterError, Unsupported
from weigh.model import BayesModel

F = Fraction
SIZES = {"cm": [50.0, 55.0, 60.0, 150.0, 170.0], "is": ["dog", "dog", "dog", "horse", "horse"]}
TEXTS = {"text": ["lion lion wolf", "wolf fund fund"], "topic": ["x", "y"]}


def rising(start: Fraction, n: int) -> Fraction:
    """Return start · (start + 1) · … with n factors."""
    product = F(1)
    for k in range(n):
        product *= start + k
    return product


def student_density(x: float, mean: float, scale: float, freedom: float) -> float:
    z = (x - mean) / scale
    constant = gamma((freedom + 1) / 2) / (gamma(freedom / 2) * sqrt(freedom * pi) * scale)
    return constant * (1 + z * z / freedom) ** (-(freedom + 1) / 2)


def test_words_have_the_dirichlet_multinomial() -> None:
    nb = weigh.NaiveBayes(columns="text").fit(TEXTS, "topic")
    # With Dirichlet(1) over three words and three words per class: α = (3, 2, 1) and (1, 2, 3), A = 6.
    likelihood = {
        "x": rising(F(3), 2) * rising(F(1), 1) / rising(F(6), 3),
        "y": rising(F(1), 2) * rising(F(3), 1) / rising(F(6), 3),
    }
    exact = likelihood["x"] / (likelihood["x"] + likelihood["y"])
    assert exact == F(2, 3)
    assert nb.predictive_proba({"text": "lion lion fund"})[0] == pytest.approx([2 / 3, 1 / 3], rel=1e-12)
    # The estimated parameters count a repeated word as strongly as the first.
    assert nb.predict_proba({"text": "lion lion fund"})[0] == pytest.approx([3 / 4, 1 / 4], rel=1e-12)


def test_numbers_have_students_t() -> None:
    nb = weigh.NaiveBayes(columns={"cm": weigh.Number(floor=0.0)}).fit(SIZES, "is")
    joint = []
    for label, share in (("dog", 3 / 5), ("horse", 2 / 5)):
        values = np.array([cm for cm, name in zip(SIZES["cm"], SIZES["is"], strict=True) if name == label])
        n = len(values)
        scale = values.std(ddof=1) * sqrt(1 + 1 / n)
        joint.append(share * student_density(90.0, float(values.mean()), float(scale), n - 1))
    assert nb.predictive_proba({"cm": 90.0})[0] == pytest.approx(np.array(joint) / sum(joint), rel=1e-9)


def test_levels_and_classes_have_their_posterior_means() -> None:
    table = {"x": ["a", "a", "b"], "y": ["p", "p", "q"]}
    nb = weigh.NaiveBayes(prior=weigh.Dirichlet(2), class_prior=weigh.Dirichlet(3)).fit(table, "y")
    # P(p) = (2 + 3) / (3 + 6) and P(a | p) = (2 + 2) / (2 + 4); for q (1 + 3) / 9 and (0 + 2) / (1 + 4).
    p, q = F(5, 9) * F(4, 6), F(4, 9) * F(2, 5)
    assert nb.predictive_proba({"x": "a"})[0, 0] == pytest.approx(float(p / (p + q)), rel=1e-14)
    joint = weigh.JointBayes(prior=weigh.Dirichlet(2), class_prior=weigh.Dirichlet(3)).fit(table, "y")
    assert joint.predictive_proba({"x": "a"})[0, 0] == pytest.approx(float(p / (p + q)), rel=1e-14)


def test_decisions_can_use_predictive_probabilities() -> None:
    nb = weigh.NaiveBayes().fit(SIZES, "is")
    row = {"cm": 90.0}
    assert nb.predict(row, weigh.Decision(unsure=0.1)).tolist() == ["horse"]
    assert nb.predict(row, weigh.Decision(unsure=0.1, predictive=True)).tolist() == ["unsure"]
    assert nb.predict(row, weigh.Decision(predictive=True)).tolist() == ["dog"]
    risk = 1 - float(nb.predictive_proba(row).max())
    for shift, verdict in ((-1e-9, "unsure"), (1e-9, "dog")):
        assert nb.predict(row, weigh.Decision(unsure=risk + shift, predictive=True)).tolist() == [verdict]
    costly = weigh.Decision(costs={("horse", "dog"): 2}, predictive=True)
    assert nb.predict(row, costly).tolist() == ["horse"]


def test_another_class_prior_replaces_the_posterior_mean() -> None:
    nb = weigh.NaiveBayes(class_prior=1).fit(SIZES, "is")
    even = nb.predictive_proba({"cm": 90.0})[0] / np.array([4 / 7, 3 / 7])
    expected = "dog" if even[0] > even[1] else "horse"
    decision = weigh.Decision(class_prior="uniform", predictive=True)
    assert nb.predict({"cm": 90.0}, decision).tolist() == [expected]


@pytest.mark.parametrize(
    ("table", "label", "row"),
    [(TEXTS, "topic", {"text": "lion lion fund"}), (SIZES, "is", {"cm": 90.0})],
)
def test_the_evidence_sums_to_the_predictive_score(table: Any, label: str, row: Any) -> None:
    columns = "text" if label == "topic" else "auto"
    model = weigh.NaiveBayes(columns=columns).fit(table, label).model_.predictive()
    scores = np.sort(model.scores(row)[0])
    assert model.explain(row)[0].total == pytest.approx(scores[1] - scores[0], rel=1e-12)


def test_evaluations_of_the_predictive_model_use_its_probabilities() -> None:
    nb = weigh.NaiveBayes().fit(SIZES, "is")
    rows = {"cm": [90.0, 52.0], "is": ["dog", "dog"]}
    found: Any = weigh.evaluate(nb.model_.predictive(), rows, "is")
    expected = -np.log(nb.predictive_proba(rows)[:, 0]).mean()
    assert found.measure("log_loss").value == pytest.approx(expected, rel=1e-12)
    known: Any = weigh.evaluate(nb.model_.predictive(), SIZES, "is")
    assert known.is_training_data


def test_the_predictive_model_of_more_rows_is_that_of_all() -> None:
    late = weigh.NaiveBayes().fit({k: v[:4] for k, v in SIZES.items()}, "is")
    late.partial_fit({k: v[4:] for k, v in SIZES.items()}, "is")
    whole = weigh.NaiveBayes().fit(SIZES, "is")
    assert late.predictive_proba({"cm": 90.0}).tolist() == whole.predictive_proba({"cm": 90.0}).tolist()


def test_stated_parameters_stay_as_they_are() -> None:
    model = BayesModel.from_parameters(class_prior="uniform", columns={"x": {"a": (0, 1), "b": (2, 1)}})
    assert model.predictive() is model


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda nb: nb.model_.predictive().explain({"cm": 90.0})[0].worked(),
            "A model with its parameters integrated out has no calculation in fractions. Use the model that "
            "it comes from: model.explain(rows)[0].worked().",
        ),
        (
            lambda nb: nb.model_.predictive().linear(),
            "A model with its parameters integrated out has no linear form. Use the model that it comes "
            "from: model.linear().",
        ),
        (
            lambda nb: nb.model_.predictive().to_bytes(),
            "A model with its parameters integrated out has no file of its own. Use the model that it comes "
            "from: model.save(path), then weigh.load(path).predictive().",
        ),
        (
            lambda nb: nb.model_.predictive().left_out_scores(SIZES, "is"),
            "A model with its parameters integrated out has no leave-one-out scores. Use the model that it "
            "comes from: model.left_out_scores(rows).",
        ),
        (
            lambda nb: weigh.NaiveBayes("text", complement=True).fit(TEXTS, "topic").predictive_proba(TEXTS),
            "Complement scores are not probabilities of rows, so their parameters cannot be integrated out. "
            "Train with complement=False.",
        ),
        (
            lambda nb: weigh.Perceptron().fit(SIZES, "is").predict(SIZES, weigh.Decision(predictive=True)),
            "Posterior predictive probabilities are computed from counts, and a PerceptronModel has none. "
            "Train naive Bayes or joint Bayes for them.",
        ),
    ],
)
def test_what_has_no_posterior_predictive_form_is_refused(use: Any, message: str) -> None:
    with pytest.raises(Unsupported) as caught:
        use(weigh.NaiveBayes().fit(SIZES, "is"))
    assert str(caught.value) == message


def test_a_calibrated_model_has_no_predictive_probabilities() -> None:
    table = {"x": ["a", "a", "b", "b"] * 5, "y": ["p", "p", "q", "p"] * 5}
    nb = weigh.NaiveBayes(calibration="temperature").fit(table, "y")
    with pytest.raises(Unsupported, match=r"Use model\.uncalibrated\.predictive\(\)\."):
        nb.predictive_proba({"x": "a"})


def test_predictive_must_be_true_or_false() -> None:
    with pytest.raises(ParameterError, match="predictive must be True or False, got 'yes'"):
        weigh.Decision(predictive="yes")


@pytest.mark.parametrize("learner", [weigh.NaiveBayes, weigh.JointBayes])
def test_the_class_probabilities_have_a_dirichlet_posterior(learner: Any) -> None:
    table = {"x": ["a", "a", "b"], "y": ["p", "p", "q"]}
    flat = learner(class_prior=1).fit(table, "y").model_.class_posterior()
    assert flat == weigh.Dirichlet({"p": 3, "q": 2})
    assert flat.mean == flat.predictive == {"p": F(3, 5), "q": F(2, 5)}
    assert flat.interval(0.9)["p"] == pytest.approx(weigh.Beta(3, 2).interval(0.9))
    informed = learner(class_prior=weigh.Beta(2, 4)).fit(table, "y").model_
    # Beta counts the second class as heads.
    assert informed.class_posterior().mean == {"p": F(2 + 4, 9), "q": F(1 + 2, 9)}
    assert informed.predictive().class_distribution.exact_probabilities == [F(6, 9), F(3, 9)]


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (
            "uniform",
            "The class probabilities are stated, not estimated, so they have no posterior. Train with "
            "class_prior=1.",
        ),
        (
            None,
            "A class without rows has no posterior probability without a class prior. Train with "
            "class_prior=1.",
        ),
    ],
)
def test_stated_or_empty_classes_have_no_posterior(prior: Any, message: str) -> None:
    nb = weigh.NaiveBayes(class_prior=prior).partial_fit({"x": ["a"], "y": ["p"]}, "y", classes=["p", "q"])
    with pytest.raises(Unsupported) as caught:
        nb.model_.class_posterior()
    assert str(caught.value) == message
