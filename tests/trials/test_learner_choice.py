"""`choose_learner`: choices on simulated tables with a known answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import weigh
from weigh.trials import choice_sample, learner_comparison
from weigh.trials.choice_candidates import list_variants
from weigh.trials.choice_result import CandidateScore, give_reason

PLAIN, CURVES, PAIRS = (
    "logistic regression",
    "logistic regression with curves",
    "logistic regression with curves and pairs",
)


def draw_classes(log_odds: Any, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(log_odds)) < 1 / (1 + np.exp(-log_odds)), "yes", "no").tolist()


def numbers(n: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-2, 2, n), rng.uniform(-2, 2, n)


def table(n: int, log_odds: Any, seed: int = 0) -> dict[str, Any]:
    a, b = numbers(n, seed)
    return {"a": a, "b": b, "y": draw_classes(log_odds(a, b), seed + 1)}


def wavy(a: Any, b: Any) -> Any:
    return 3 * np.cos(2.5 * a) + b


def linear_truth(a: Any, b: Any) -> Any:
    return 2 * a - b


@pytest.fixture(scope="module")
def waves() -> weigh.trials.LearnerChoice:
    return weigh.choose_learner(table(800, wavy), "y")


def test_a_wavy_truth_needs_curves(waves):
    assert waves.name in (CURVES, PAIRS)
    assert waves.learner == "logistic"
    assert waves.parameters["curves"] == "auto"


def test_a_linear_truth_mostly_needs_no_curves():
    # Curves that come close to straight lines may win by chance, in about one of six samples.
    choices = [weigh.choose_learner(table(400, linear_truth, seed), "y") for seed in range(5)]
    # Independent normal columns of equal spread in both classes are also the model of naive Bayes.
    assert sum(choice.name in ("naive Bayes", PLAIN) for choice in choices) >= 3
    assert all(choice.candidates[1].excess < 0.01 for choice in choices)


def test_dependent_columns_with_a_linear_truth_need_logistic_regression():
    rng = np.random.default_rng(0)
    a = rng.normal(size=600)
    b = a + 0.3 * rng.normal(size=600)
    rows = {"a": a, "b": b, "y": draw_classes(4 * (a - b), 1)}
    assert weigh.choose_learner(rows, "y").name == PLAIN


def test_an_interaction_needs_pairs():
    choice = weigh.choose_learner(table(1500, lambda a, b: 4 * np.sign(a * b)), "y")
    assert choice.name == PAIRS
    assert choice.parameters == {"curves": "auto", "pairs": "auto"}


def test_independent_categories_belong_to_naive_bayes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    columns = {f"x{k}": np.where(rng.random(400) < 0.3 + 0.4 * y, "p", "q") for k in range(5)}
    choice = weigh.choose_learner({**columns, "y": np.where(y, "yes", "no")}, "y")
    assert choice.name == "naive Bayes"


def test_text_belongs_to_naive_bayes_without_a_comparison():
    texts = ["win a big prize today", "see you at lunch tomorrow"] * 60
    rows = {"text": [f"{text} {k}" for k, text in enumerate(texts)], "spam": ["yes", "no"] * 60}
    choice = weigh.choose_learner(rows, "spam")
    assert (choice.name, choice.candidates) == ("naive Bayes", ())
    assert choice.reason == (
        "100 % of the characters are text: it counts words in one pass, and curves are for numbers"
    )
    assert weigh.choose_learner(rows["text"], rows["spam"]).reason == choice.reason
    assert str(choice).splitlines() == [
        "Chosen: naive Bayes, because 100 % of the characters are text: it counts words",
        "in one pass, and curves are for numbers.",
    ]


def test_categories_are_compared_without_curves_but_with_pairs():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 400))
    y = np.where((a == b) ^ (rng.random(400) < 0.1), "yes", "no")
    choice = weigh.choose_learner({"a": np.array(["p", "q"])[a], "b": np.array(["r", "s"])[b], "y": y}, "y")
    assert choice.name == PAIRS
    assert [each.name for each in choice.candidates] == ["naive Bayes", PLAIN, PAIRS]
    assert [(each.name, each.reason) for each in choice.untried] == [
        (CURVES, "no column is a number or date")
    ]


def test_a_variant_with_curves_has_an_effect_on_numbers_and_with_pairs_on_categories():
    tables = {
        "number": {"x": [1.5, 2.5, 3.5] * 9},
        "category": {"x": ["a", "b", "c"] * 9},
        "text": {"x": [f"some words here {k}" for k in range(27)]},
    }
    found = {}
    for name, columns in tables.items():
        labels = ["yes", "no", "yes"] * 9
        schema = weigh.LogisticRegression(curves="auto").fit(columns, labels).schema_
        found[name] = [variant.has_effect(schema) for variant in list_variants("logistic", {})]
    assert found == {
        "number": [True, True, True],
        "category": [True, False, True],
        "text": [True, False, False],
    }


def test_curves_have_an_effect_on_categories_in_a_linear_regression():
    schema = weigh.LinearRegression().fit({"x": ["a", "b", "c"] * 9}, [0.5, 1.5, 2.5] * 9).schema_
    assert [variant.has_effect(schema) for variant in list_variants("linear", {})] == [True, True, True]


def test_little_text_does_not_decide():
    rows = table(200, wavy) | {"note": ["good day", "bad day"] * 100}
    assert len(weigh.choose_learner(rows, "y", columns={"note": "text"}).candidates) >= 3


@pytest.mark.parametrize(("n", "is_compared"), [(10, False), (19, False), (20, True)])
def test_few_rows_belong_to_naive_bayes(n, is_compared):
    choice = weigh.choose_learner(table(n, wavy), "y")
    assert bool(choice.candidates) == is_compared
    if not is_compared:
        assert choice.name == "naive Bayes"
        assert choice.reason == f"{n} rows are too few to compare learners, and it is the simplest"


def test_a_single_class_belongs_to_naive_bayes():
    choice = weigh.choose_learner({"a": [1.0, 2.0, 3.5], "y": ["x", "x", "x"]}, "y")
    assert (choice.name, choice.reason) == ("naive Bayes", "there is a single class")


def test_classes_of_one_row_are_not_compared():
    labels = ["common"] * 60 + [f"rare {k}" for k in range(5)]
    choice = weigh.choose_learner({"a": np.arange(65) / 3, "y": labels}, "y")
    assert (choice.name, choice.reason) == ("naive Bayes", "only one class has two rows or more")


def test_a_class_that_a_training_set_lacks_does_not_decide():
    rows = table(300, wavy)
    rows["y"][0] = "rare"
    choice = weigh.choose_learner(rows, "y")
    assert choice.learner == "logistic"
    assert all(np.isfinite(each.loss) for each in choice.candidates)


@pytest.mark.parametrize(
    ("truth", "names"),
    [
        (lambda a, b: 2 * a - b, ["linear regression"]),
        (lambda a, b: np.cos(3 * a) + b, ["linear regression with curves"]),
        (lambda a, b: 2 * a * b, ["linear regression with curves and pairs"]),
    ],
)
def test_numbers_belong_to_linear_regression(truth, names):
    a, b = numbers(600)
    y = truth(a, b) + 0.5 * np.random.default_rng(5).normal(size=600)
    choice = weigh.choose_learner({"a": a, "b": b, "y": y}, "y")
    assert choice.name in names
    assert choice.loss == "squared_error"
    assert {each.learner for each in choice.candidates} == {"linear"}


def test_the_scaled_squared_error_is_one_minus_r2():
    a, b = numbers(400)
    y = a + np.random.default_rng(5).normal(size=400)
    choice = weigh.choose_learner({"a": a, "b": b, "y": y}, "y")
    # The variance of the signal is 4/3 and that of the noise 1, so R² is 4/7.
    assert 1 - choice.candidates[0].loss == pytest.approx(4 / 7, abs=0.06)
    # The folds depend on what the rows contain, so those of other units differ.
    scaled = weigh.choose_learner({"a": a, "b": b, "y": 1000 * y + 7}, "y")
    assert scaled.candidates[0].loss == pytest.approx(choice.candidates[0].loss, rel=0.02)


def test_a_constant_target_needs_no_comparison():
    choice = weigh.choose_learner({"a": np.arange(80) / 3, "y": [2.5] * 80}, "y")
    assert (choice.name, choice.reason) == ("linear regression", "all targets are equal")


def test_integers_are_classes_or_numbers_as_stated():
    a, b = numbers(15)
    rows = {"a": a, "b": b, "y": np.round(a + b).astype(int)}
    assert weigh.choose_learner(rows, "y").learner != "linear"
    assert weigh.choose_learner(rows, "y", target="numbers").learner == "linear"


def test_the_choice_is_the_same_again(waves):
    assert weigh.choose_learner(table(800, wavy), "y").to_dict() == waves.to_dict()


def test_the_order_of_the_rows_does_not_matter(waves):
    rows = pd.DataFrame(table(800, wavy))
    shuffled = rows.sample(frac=1, random_state=3)
    assert weigh.choose_learner(shuffled, "y").to_dict() == waves.to_dict()
    assert weigh.choose_learner(rows, "y", seed=1).to_dict() != waves.to_dict()


def test_larger_data_is_sampled(monkeypatch):
    monkeypatch.setattr(choice_sample, "MAX_ROWS", 300)
    choice = weigh.choose_learner(table(900, wavy), "y")
    assert choice.rows == 900
    assert 250 < choice.sampled < 350
    assert f"a sample of {choice.sampled} of 900 rows" in str(choice)


def test_parameters_apply_to_their_learner():
    rows = table(120, wavy)
    choice = weigh.choose_learner(rows, "y", parameters={"logistic": {"curves": None}})
    assert [each.name for each in choice.candidates] == ["naive Bayes", PLAIN]
    choice = weigh.choose_learner(
        rows,
        "y",
        parameters={"logistic": {"curves": "auto", "pairs": None}},
        excluded={"naive-bayes": "it has no curves"},
    )
    assert (choice.name, choice.parameters, choice.reason) == (CURVES, {}, "no other learner was tried")
    assert choice.untried[0].reason == "it has no curves"
    assert choice.estimator.get_params()["curves"] == "auto"


def test_a_method_without_curves_is_not_tried_with_them():
    rows = table(120, wavy)
    choice = weigh.choose_learner(rows, "y", parameters={"logistic": {"method": "online"}})
    assert [each.name for each in choice.candidates] == ["naive Bayes", PLAIN]


def test_a_learner_that_cannot_use_a_kind_is_not_tried():
    choice = weigh.choose_learner(table(120, wavy), "y", columns={"a": weigh.Curve()})
    assert "naive Bayes" not in [each.name for each in choice.candidates]
    assert choice.untried[0].reason.startswith("A curve column has no distribution within a class")


def test_the_estimator_fits_like_the_learner_with_the_parameters(waves):
    rows = table(800, wavy)
    chosen = waves.estimator.fit(rows, "y").model_
    assert chosen.to_bytes() == weigh.LogisticRegression(**waves.parameters).fit(rows, "y").model_.to_bytes()


def test_candidates_are_scored_like_compare():
    # The loss of a candidate is that of any other cross-validation, up to the folds.
    rows = table(400, wavy)
    choice = weigh.choose_learner(rows, "y")
    other = weigh.compare(
        {"nb": weigh.NaiveBayes()}, rows, "y", folds=5, repeats=2, loss="log_loss", baseline=False
    )
    assert choice.candidates[0].loss == pytest.approx(other["nb"].loss.value, rel=0.05)


def test_ties_go_to_the_simpler_learner_with_the_lag_in_the_reason():
    scores = [
        CandidateScore("simple", "logistic", 0.5, 0.02, 0.01, 0.02),
        CandidateScore("rich", "logistic", 0.49, 0.02, 0.0, 0.0),
    ]
    assert give_reason(scores, 0, 1, "log_loss") == (
        "it is simpler than rich, whose held-out log loss is better by only 0.0100 ± 0.0200"
    )
    assert give_reason(scores, 1, 1, "log_loss") == "it has the lowest held-out log loss, 0.4900"


def test_missing_labels_are_named_as_fit_names_them():
    rows = table(100, wavy)
    rows["y"][7] = None
    with pytest.raises(weigh.errors.LabelError) as chosen:
        weigh.choose_learner(rows, "y")
    with pytest.raises(weigh.errors.LabelError) as fitted:
        weigh.NaiveBayes().fit(rows, "y")
    assert str(chosen.value) == str(fitted.value)


def test_progress_counts_all_fits():
    seen = []
    weigh.choose_learner(table(100, wavy), "y", progress=lambda done, total: seen.append((done, total)))
    assert seen == [(k + 1, 20) for k in range(20)]


def test_the_frame_and_the_html_have_the_candidates(waves):
    assert waves.to_frame()["name"].tolist() == [each.name for each in waves.candidates]
    assert PLAIN in waves._repr_html_()
    assert all(len(line) <= 80 for line in str(waves).splitlines())


def test_fewer_rows_and_folds_are_compared_if_there_are_many_columns(monkeypatch):
    monkeypatch.setattr(learner_comparison, "MAX_NUMBERS", 240)
    monkeypatch.setattr(learner_comparison, "MIN_LIMIT", 100)
    choice = weigh.choose_learner(table(300, wavy), "y")
    assert (choice.rows, choice.sampled, choice.folds) == (300, 120, 2)
