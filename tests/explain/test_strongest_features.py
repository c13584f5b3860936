"""`strongest`: the features that speak most for each class, by hand and on real columns."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import weigh
from tests.additive_models import fit_additive, make_table
from weigh import errors
from weigh.model.distributions.weights import LevelWeights
from weigh.model.evidence.strengths import favourable_range, normal_divergence

MAILS = {
    "CS373": [False, False, False, False, True],
    "investment": [True, False, True, True, False],
    "familiarity": ["low", "high", "high", "medium", "low"],
    "spam": ["spam", "not-spam", "spam", "not-spam", "not-spam"],
}
MODEL = weigh.NaiveBayes().fit(MAILS, "spam").model_
JOINT = weigh.JointBayes().fit({"x": ["a", "b"] * 9, "y": [0, 1] * 9}, "y").model_


def test_strength_is_the_log_ratio_of_the_two_probabilities():
    first = weigh.strongest(MODEL).classes["spam"][0]
    assert (first.feature, first.value) == ("investment", "1")
    assert first.nats == pytest.approx(math.log((3 / 4) / (2 / 5)), abs=1e-15)
    assert (first.own, first.rest) == (0.75, 0.4)


def test_absent_flags_speak_too_and_nothing_that_speaks_against_is_listed():
    result = {(each.feature, each.value): each.nats for each in weigh.strongest(MODEL).classes["spam"]}
    assert result["CS373", "0"] == pytest.approx(math.log((3 / 4) / (3 / 5)))
    assert ("CS373", "1") not in result
    assert min(result.values()) > 0


def test_other_classes_are_pooled_by_their_priors():
    table = {"x": ["a", "b", "a", "a", "b", "b"], "y": ["p", "p", "q", "r", "r", "r"]}
    model = weigh.NaiveBayes().fit(table, "y").model_
    result = {each.value: each for each in weigh.strongest(model, "p").classes["p"]}
    # P(b | q) = 1/3 with prior 1/6, P(b | r) = 3/5 with prior 3/6, and p is one half each.
    assert weigh.strongest(model, "q").classes["q"][0].value == "a"
    assert set(result) == {"a"}
    assert result["a"].rest == pytest.approx((2 / 3 * 1 + 2 / 5 * 3) / 4)


def test_words_and_the_complement_have_the_same_strongest_words():
    texts, labels = ["win cash now", "cash prize", "see you soon", "lunch soon"], [1, 1, 0, 0]
    plain = weigh.strongest(weigh.NaiveBayes().fit(texts, labels))
    complement = weigh.strongest(weigh.NaiveBayes(complement=True).fit(texts, labels))
    assert plain == complement
    assert plain.classes[1][0].name == "text: cash"
    assert plain.classes[0][0].name == "text: soon"


def test_numbers_are_ranked_by_the_evidence_they_give_on_average():
    rng = np.random.default_rng(0)
    y = np.repeat(["low", "high"], 4000)
    x = rng.normal(np.where(y == "low", 0.0, 3.0), np.where(y == "low", 1.0, 2.0))
    nb = weigh.NaiveBayes().fit({"x": x, "y": y}, "y")
    scores = nb.model_.scores({"x": x[y == "high"]})
    average = float((scores[:, 0] - scores[:, 1]).mean())
    (result,) = weigh.strongest(nb, "high").classes["high"]
    assert result.is_number
    assert result.nats == pytest.approx(average, rel=0.02)


@pytest.mark.parametrize(
    ("own", "rest", "words"),
    [
        ((0.0, 1.0), (2.0, 1.0), "< 1"),
        ((2.0, 1.0), (0.0, 1.0), "> 1"),
        ((0.0, 1.0), (0.0, 2.0), "−1.36 to 1.36"),
        ((0.0, 2.0), (0.0, 1.0), "outside −1.36 to 1.36"),
        ((0.0, 1.0), (0.0, 1.0), "nowhere"),
    ],
)
def test_the_range_that_speaks_for_a_class_is_printed(own, rest, words):
    assert favourable_range(own, rest) == words


def test_the_ends_of_a_range_are_where_the_densities_are_equal():
    own, rest = (1.0, 0.5), (2.0, 1.5)
    low, high = map(float, favourable_range(own, rest).split(" to "))

    def density(x, mean, spread):
        return math.exp(-0.5 * ((x - mean) / spread) ** 2) / spread

    for end in (low, high):
        assert density(end, *own) == pytest.approx(density(end, *rest), rel=0.01)


def test_divergence_is_zero_for_equal_curves_and_half_the_square_of_a_shift():
    assert normal_divergence((1.0, 2.0), (1.0, 2.0)) == 0.0
    assert normal_divergence((3.0, 1.0), (1.0, 1.0)) == 2.0


def test_certain_values_are_infinitely_strong_and_json_can_hold_them():
    nb = weigh.NaiveBayes(prior=None).fit({"x": ["a", "a", "b"], "y": [0, 0, 1]}, "y")
    result = weigh.strongest(nb)
    assert result.classes[0][0].nats == math.inf
    assert json.loads(json.dumps(result.to_dict()))["0"][0]["nats"] == "inf"


def test_it_prints_and_renders():
    result = weigh.strongest(MODEL, "spam", most=1)
    assert str(result) == (
        "What speaks for spam:\n"
        "                   nats  in class  in the rest\n"
        "  investment = 1  +0.63   75.00 %      40.00 %"
    )
    assert ">What speaks for spam</caption>" in result._repr_html_()


def test_classes_without_features_are_reported():
    nb = weigh.NaiveBayes().fit({"x": ["a", "a"], "y": [0, 1]}, "y")
    assert str(weigh.strongest(nb, 0)) == "Nothing speaks for 0."


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ((MODEL, "ham"), errors.LabelError, "no class 'ham'; it has 'not-spam', 'spam'"),
        ((MODEL, None, 0), errors.ParameterError, "strongest: most must be at least 1, got 0"),
        ((JOINT,), errors.Unsupported, "needs a naive Bayes or linear model, got JointModel"),
    ],
)
def test_invalid_arguments_are_rejected(arguments, error, told):
    with pytest.raises(error, match=told):
        weigh.strongest(*arguments)


def test_a_linear_model_lists_its_largest_weights():
    result = weigh.strongest(MODEL.linear())
    best = result.classes["spam"][0]
    assert best.feature == "investment"
    linear = MODEL.linear()
    assert (
        best.weight == dict(zip(linear.features, linear.coef, strict=True))["investment"] == max(linear.coef)
    )
    assert str(result).startswith("What speaks for not-spam:")


def test_weights_are_relative_to_the_mean_of_the_other_classes():
    rows = {"x": ["a", "a", "b", "b", "c", "c"], "y": [0, 0, 1, 1, 2, 2]}
    model = weigh.Perceptron(keep="last", shuffle=False).fit(rows, "y").model_
    coef = dict(zip(model.features, model.coef.T.tolist(), strict=True))["x=b"]
    best = weigh.strongest(model, 1).classes[1][0]
    assert best.feature == "x=b"
    assert best.weight == coef[1] - (coef[0] + coef[2]) / 2


def test_a_single_class_is_rejected():
    with pytest.raises(errors.Unsupported, match="one class only"):
        weigh.strongest(weigh.NaiveBayes().fit({"x": ["a", "b"], "y": [1, 1]}, "y"))


def test_long_evidence_is_printed_by_its_strongest_rows() -> None:
    texts = [" ".join(f"w{i}" for i in range(60)), "other words"]
    evidence = weigh.NaiveBayes().fit(texts, ["a", "b"]).explain(texts[:1])[0]
    assert len(evidence.table) == 61
    assert len(str(evidence).splitlines()) == 2 + 21 + 1
    short = evidence.shortened(3)
    assert [row.feature for row in short.table][-1] == "58 others together"
    assert short.total == evidence.total
    assert evidence.shortened(60) is evidence


def test_a_logistic_regression_has_the_heaviest_features_of_each_class() -> None:
    table = {"x": [0.0, 1, 2, 3, 4, 5], "z": [1.0, 0, 1, 0, 1, 0], "late": list("nnynyy")}
    learner = weigh.LogisticRegression().fit(table, "late")
    weights = dict(zip(learner.model_.features, learner.coef_[0].tolist(), strict=True))
    assert [(each.feature, each.weight) for each in weigh.strongest(learner, "y").classes["y"]] == [
        (name, weight) for name, weight in sorted(weights.items(), key=lambda pair: -pair[1]) if weight > 0
    ]


def test_a_regression_has_what_raises_and_what_lowers_its_predictions() -> None:
    table = {"up": [0.0, 1, 0, 2], "down": [1.0, 0, 2, 3], "none": [0.0, 0, 0, 0], "y": [-3.0, 2, -6, -5]}
    learner = weigh.LinearRegression().fit(table, "y")
    result = weigh.strongest(learner)
    assert {side: [each.feature for each in listed] for side, listed in result.classes.items()} == {
        "raises": ["up"],
        "lowers": ["down"],
    }
    assert str(result) == (
        "What raises y:\n      weight\n  up      +2\n\nWhat lowers y:\n        weight\n  down      −3"
    )
    assert result.to_dict()["lowers"][0]["weight"] == pytest.approx(-3)
    with pytest.raises(errors.LabelError, match=r"^A regression predicts numbers and has no class 1\. Leave"):
        weigh.strongest(learner, 1)
    flat = weigh.LinearRegression().fit({"x": [1.0, 2.0], "y": [3.0, 3.0]}, "y").model_
    assert str(weigh.strongest(flat)) == "Nothing raises y.\n\nNothing lowers y."


def test_of_a_curve_or_surface_only_the_highest_cell_is_listed() -> None:
    model = fit_additive(make_table(classes=2), numbers=())
    result = weigh.strongest(model)
    for label, sign in zip(model.classes, (-1.0, 1.0), strict=True):
        expected = {}
        for term in model.terms:
            names, heights = term.features().names, sign * term.trained_weights()[:, 1]
            if isinstance(term, LevelWeights):
                expected |= dict(zip(names, heights.tolist(), strict=True))
            else:
                expected[names[int(np.argmax(heights))]] = float(heights.max())
        found = {feature.feature: feature.weight for feature in result.classes[label]}
        assert found == pytest.approx({name: w for name, w in expected.items() if w > 0})


def test_of_a_curve_of_a_regression_the_highest_and_the_lowest_cell_are_listed() -> None:
    model = fit_additive(make_table(classes=0), categories=(), numbers=(), pairs=())
    result = weigh.strongest(model)
    heights = dict(zip(model.features, model.coef.tolist(), strict=True))
    for name in ("age", "income"):
        of_column = [height for feature, height in heights.items() if feature.startswith(name)]
        (raises,) = [f.weight for f in result.classes["raises"] if f.feature.startswith(name)]
        (lowers,) = [f.weight for f in result.classes["lowers"] if f.feature.startswith(name)]
        assert (raises, lowers) == pytest.approx((max(of_column), min(of_column)))
