"""Traces: exact steps, all kinds of perceptron, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

import weigh
from weigh import errors
from weigh.explain.perceptron_trace import trace
from weigh.learn import DesignMatrix, build_design_matrix
from weigh.source.sparse_rows import SparseRows

AND = {"x": [0, 0, 1, 1], "y": [0, 1, 0, 1], "both": ["no", "no", "no", "yes"]}
THREE = ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], ["u", "v", "w", "u"])


def perceptron(**parameters: Any) -> Any:
    return weigh.Perceptron(**{"keep": "last", "shuffle": False} | parameters)


def test_decimals_are_taken_as_they_are_written() -> None:
    result = trace(perceptron(rate=0.1, max_iter=1), [[0.1], [0.7]], ["a", "b"])
    assert [step.update for step in result.steps] == [{"x0": F(-1, 100)}, {"x0": F(7, 100)}]
    assert result.steps[1].score == F(-107, 1000)


def test_a_correct_row_within_the_margin_causes_an_update() -> None:
    result = trace(perceptron(margin=1.0, max_iter=1), [[1.0], [1.0], [-1.0], [-2.0]], ["b", "b", "a", "a"])
    assert [(step.score, step.correct, step.error) for step in result.steps] == [
        (0, True, 1),
        (2, True, 0),
        (0, False, -1),
        (-4, True, 0),
    ]
    assert (result.mistakes, result.updates) == (1, 2)
    assert "       yes  1 (margin)" in str(result)
    assert "1 mistake and 1 update within the margin in 1 iteration; not converged." in str(result)


def test_a_lead_that_equals_the_margin_is_enough() -> None:
    result = trace(perceptron(margin=2.0, max_iter=1), [[1.0], [1.0]], ["b", "a"])
    assert [step.error for step in result.steps] == [1, -1]
    result = trace(perceptron(margin=2.0, max_iter=1), [[1.0], [1.0], [-1.0]], ["b", "b", "a"])
    assert [step.error for step in result.steps] == [1, 0, -1]


@pytest.mark.parametrize(("margin", "error"), [(1.0, 0), (1.25, 0), (1.26, 1)])
def test_a_relative_margin_is_in_lengths_of_w(margin: float, error: int) -> None:
    # After row 0 w is (-3, -4), of length 5, and b is -1; row 1 scores 25/4, that is 5/4 lengths.
    rows = [[3.0, 4.0], [-1.0, -1.0625]]
    result = trace(perceptron(margin=margin, relative=True, max_iter=1), rows, ["a", "b"])
    assert result.steps[0].weights == {"x0": -3, "x1": -4}
    assert result.steps[1].score == F(25, 4)
    assert result.steps[1].error == error


def test_without_bias_b_stays_zero() -> None:
    result = trace(perceptron(bias=False), AND, "both")
    assert {step.bias for step in result.steps} == {0}


def test_weights_of_classes_and_the_rate_multiply_an_update() -> None:
    result = trace(perceptron(rate=0.5, class_weight={"no": 3}, max_iter=1), AND, "both")
    assert [step.bias for step in result.steps] == [F(-3, 2), F(-3, 2), F(-3, 2), -1]
    assert "rate × weight × error × x" in str(result)
    balanced = trace(perceptron(class_weight="balanced", max_iter=1), AND, "both")
    assert [step.bias for step in balanced.steps][-1] == F(-2, 3) + 2


def test_shuffled_rows_come_in_the_order_of_their_pass() -> None:
    result = trace(perceptron(shuffle=True, random_state=3, max_iter=2), AND, "both")
    orders = [np.random.default_rng([3, number]).permutation(4).tolist() for number in (0, 1)]
    assert [step.row for step in result.steps] == orders[0] + orders[1]
    assert str(result).splitlines()[5].split()[:4] == ["row", "x", "label", "w·x+b"]


def test_joint_classes_add_the_row_to_the_true_class_and_take_it_from_the_mistaken_one() -> None:
    result = trace(perceptron(max_iter=1), *THREE)
    first, second = result.steps[:2]
    assert (first.scores, first.prediction, first.correct) == ((0, 0, 0), "u", True)
    assert (second.prediction, second.errors) == ("u", (-1, 1, 0))
    assert second.updates == ({"x1": -1}, {"x1": 1}, {})
    assert [plane.bias for plane in second.planes] == [-1, 1, 0]
    assert "argmax(·)" in str(result)


def test_one_vs_rest_trains_one_perceptron_per_class() -> None:
    rows, labels = THREE
    result = trace(perceptron(max_iter=3, multiclass="one-vs-rest"), rows, labels)
    for c, label in enumerate("uvw"):
        own = trace(perceptron(max_iter=3), rows, [str(int(each == label)) for each in labels])
        assert [step.planes[c] for step in result.steps[: len(own.steps)]] == [
            step.planes[0] for step in own.steps
        ]
        assert [step.errors[c] for step in result.steps[: len(own.steps)]] == [
            step.error for step in own.steps
        ]


def test_steps_with_several_planes_do_not_pretend_to_have_one() -> None:
    with pytest.raises(errors.Unsupported) as raised:
        trace(perceptron(max_iter=1), *THREE).steps[0].weights  # noqa: B018
    assert str(raised.value) == (
        "The step has 3 planes, one per class. Use its `planes`, `scores`, `errors` and `updates`."
    )


@pytest.mark.parametrize("keep", ["last", "averaged", "lazy", "voted"])
@pytest.mark.parametrize("multiclass", ["joint", "one-vs-rest"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_native_perceptron_makes_the_same_updates(keep: str, multiclass: str, n_classes: int) -> None:
    rng = np.random.default_rng([n_classes, len(keep)])
    for seed in range(20):
        rows = rng.integers(-3, 4, (9, 3)).astype(float)
        labels = np.arange(9) % n_classes
        margin, rate = float(rng.choice([0.0, 1.0, 2.5])), float(rng.choice([0.5, 1.0]))
        learner = weigh.Perceptron(
            keep, margin=margin, rate=rate, max_iter=4, random_state=seed, multiclass=multiclass
        )
        result, fitted = trace(learner, rows, labels), learner.fit(rows, labels)
        expected = (fitted.certificate_.mistakes, fitted.certificate_.updates, fitted.certificate_.passes)
        assert (result.mistakes, result.updates, result.passes) == expected
        assert result.converged == fitted.certificate_.converged
        scores = [result.score(row) for row in rows]
        exact = [list(map(float, each.values())) if n_classes > 2 else float(each) for each in scores]
        np.testing.assert_allclose(fitted.decision_function(rows), exact, rtol=1e-12, atol=1e-12)


def test_the_native_perceptron_makes_the_same_updates_with_a_relative_margin() -> None:
    rng = np.random.default_rng(8)
    for seed in range(20):
        rows, labels = rng.integers(-3, 4, (9, 3)).astype(float), np.arange(9) % (2 + seed % 2)
        learner = weigh.Perceptron(margin=0.7, relative=True, max_iter=4, random_state=seed)
        result, fitted = trace(learner, rows, labels), learner.fit(rows, labels)
        assert (result.mistakes, result.updates) == (
            fitted.certificate_.mistakes,
            fitted.certificate_.updates,
        )


def test_a_row_may_be_columns_features_or_numbers() -> None:
    table = {"colour": ["red", "blue", "green"], "size": [1.5, 2.0, 0.5], "y": [0, 1, 0]}
    result = trace(perceptron(), table, "y")
    assert result.names == ("colour=blue", "colour=green", "colour=red", "size")
    features = {"colour=red": 1, "size": 2}
    assert result.score({"colour": "red", "size": 2}) == result.score(features) == result.score([0, 0, 1, 2])
    assert result.score({"colour": "violet", "size": 2}) == result.score({"size": 2})


def test_a_design_is_traced_as_it_is() -> None:
    made = build_design_matrix(AND, "both")
    assert str(trace(perceptron(), made)) == str(trace(perceptron(), AND, "both"))


def test_data_for_json_hold_whole_numbers_and_fractions_as_text() -> None:
    result = trace(perceptron(keep="averaged", max_iter=1), AND, "both").to_dict()
    assert json.loads(json.dumps(result)) == result
    assert result["weights"] == {"w": {"x": "1/4", "y": "1/4"}, "b": "-3/4"}
    assert result["steps"][3] == {
        "iteration": 1,
        "row": 3,
        "label": "yes",
        "scores": [-1],
        "signs": [0],
        "prediction": "no",
        "correct": False,
        "errors": [1],
        "updates": [{"x": 1, "y": 1}],
        "weights": [{"x": 1, "y": 1}],
        "biases": [0],
    }


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: trace(weigh.NaiveBayes(), AND, "both"),
            errors.Unsupported,
            "trace follows the updates of a perceptron, got NaiveBayes. Give one such as weigh.Perceptron().",
        ),
        (
            lambda: trace(weigh.Perceptron, AND, "both"),
            errors.Unsupported,
            "trace follows the updates of a perceptron, got Perceptron. Give one such as weigh.Perceptron().",
        ),
        (
            lambda: trace(perceptron(scale="half"), AND, "both"),
            errors.ParameterError,
            "Perceptron: scale must be 'auto', 'unit' or None, got 'half'.",
        ),
        (
            lambda: trace(perceptron(rate=0), AND, "both"),
            errors.ParameterError,
            "Perceptron: rate must be a number above 0, at most 1e+100, got 0.",
        ),
        (
            lambda: trace(perceptron(shuffle=True, random_state=None), AND, "both"),
            errors.ParameterError,
            "Perceptron: random_state must be a whole number of at least 0, got None.",
        ),
        (
            lambda: trace(perceptron(class_weight={"maybe": 2}), AND, "both"),
            errors.ParameterError,
            "Perceptron: class_weight names the class 'maybe'; the rows have 'no', 'yes'.",
        ),
        (
            lambda: trace(perceptron(max_iter=100), np.ones((600, 1)), [0, 1] * 300),
            errors.Unsupported,
            "A trace of 600 rows × 100 passes may take 60,000 exact steps; the limit is 50,000. "
            "Use max_iter=83 or fewer rows.",
        ),
        (
            lambda: trace(perceptron(), {"x": [1, 2], "y": [0, 0]}, "y"),
            errors.LabelError,
            "A perceptron separates classes, and all 2 rows are of one class, 0. Give rows of another class "
            "too.",
        ),
        (
            lambda: trace(perceptron(), AND, "both").score([1, 2, 3]),
            errors.DataError,
            "The row has 3 numbers, the trace 2 features: 'x', 'y'. Give one number per feature, or a "
            "mapping from columns.",
        ),
        (
            lambda: trace(perceptron(), AND, "both").score({"z": 1}),
            errors.ColumnError,
            "The table of the trace has no column 'z'; it has 'x', 'y'.",
        ),
        (
            lambda: trace(perceptron(keep="voted"), AND, "both").weights(),
            errors.Unsupported,
            "A voted perceptron has no single weight vector: all its planes vote. They are in `voted`; "
            "weights('averaged') is their mean.",
        ),
        (
            lambda: trace(perceptron(), AND, "both").table("pdf"),
            errors.ParameterError,
            "table: format must be 'text', 'html' or 'latex', got 'pdf'.",
        ),
        (
            lambda: trace(perceptron(max_iter=2), AND, "both").table(passes=[3]),
            errors.ParameterError,
            "table: passes must be a number of passes, or a list of numbers from 1 to 2, got [3].",
        ),
    ],
)
def test_invalid_arguments_are_rejected(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message


def by_hand(values: list[float], names: list[str]) -> DesignMatrix:
    return DesignMatrix(
        names,
        SparseRows(
            np.array([0, 1, 2]),
            np.array([0, len(names) - 1], dtype=np.int32),
            np.array(values),
            len(names),
        ),
        codes=np.array([0, 1], dtype=np.int32),
        classes=["a", "b"],
    )


def test_infinite_numbers_and_duplicate_names_are_rejected() -> None:
    with pytest.raises(errors.DataError, match="Row 1 has inf for 'q'; a perceptron needs finite numbers"):
        trace(perceptron(), by_hand([1.0, np.inf], ["p", "q"]))
    with pytest.raises(errors.ColumnError, match="Two features are named 'p'"):
        trace(perceptron(), by_hand([1.0, 2.0], ["p", "p"]))


def test_traces_of_too_many_numbers_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weigh.explain.exact_perceptron.MAX_STORED_NUMBERS", 10)
    with pytest.raises(errors.Unsupported, match="holds more than 10 exact numbers after 6 steps, in pass 2"):
        trace(perceptron(), AND, "both")


HOMES = {
    "rooms": [2.5, 3.5, 5.0, 6.5] * 3,
    "metres": [40.0, 80.0, 60.0, 120.0] * 3,
    "sold": ["no", "no", "yes", "yes"] * 3,
}


@pytest.mark.parametrize("scale", ["auto", "unit"])
def test_a_trace_follows_the_learner_in_standardised_coordinates(scale: str) -> None:
    learner = weigh.Perceptron(keep="last", shuffle=False, scale=scale).fit(HOMES, "sold")
    steps = trace(learner, HOMES, "sold")
    assert (steps.mistakes, steps.passes) == (learner.mistakes_, learner.n_iter_)
    weights, _ = steps.weights()
    learned = [float(term.trained_weights()[0, 1]) for term in learner.model_.terms]
    assert [float(weight) for weight in weights.values()] == pytest.approx(learned)
    row = {"rooms": 4.0, "metres": 70.0}
    assert float(steps.score(row)) == pytest.approx(learner.decision_function(row)[0])
    assert float(steps.score([4.0, 70.0])) == pytest.approx(learner.decision_function(row)[0])
    line = "Numbers are standardised: (rooms − 4.375) / 1.51554, (metres − 75) / 29.5804."
    assert line in steps.table().splitlines()


def test_the_days_of_a_date_are_traced_as_they_are_learned() -> None:
    table = {"day": ["2024-01-03", "2024-02-07", "2024-05-15", "2024-06-02"], "late": [0, 0, 1, 1]}
    learner = weigh.Perceptron(keep="last", shuffle=False, columns={"day": weigh.Date(parts=("days",))})
    steps = trace(learner, table, "late")
    assert steps.converged
    assert steps.mistakes == learner.fit(table, "late").mistakes_


@pytest.mark.parametrize("max_iter", [2, 50])
def test_a_limit_at_the_end_of_a_clean_pass_converges(max_iter: int) -> None:
    X, y = np.array([[0, 1], [1, 0], [2, 2], [-1, -1]]), ["a", "b", "b", "a"]
    learner = weigh.Perceptron(max_iter=max_iter, shuffle=False)
    traced = weigh.trace(learner, X, y, most=8)
    assert (traced.converged, traced.passes, traced.n_hidden) == (True, 2, 0)
    assert traced.weights() == weigh.trace(learner, X, y).weights()
    cut = weigh.trace(learner, X, y, most=7)
    assert (cut.converged, len(cut.steps), cut.n_hidden) == (False, 7, 4 * max_iter - 7)
