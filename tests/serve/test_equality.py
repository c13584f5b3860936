"""The service answers what the library answers, field by field."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

import weigh
from tests.serve.client import Client
from tests.small_learners import CASES, make_table
from weigh.result import to_json

TEXTS = {
    "text": ["cheap pills today", "lunch at noon", "cheap watches", "minutes of the meeting"] * 5,
    "label": ["spam", "ham", "spam", "ham"] * 5,
}


def as_rows(table: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return the rows of a table as objects of JSON, without the label."""
    names = [name for name in table if name != "y"]
    rows = [dict(zip(names, cells, strict=True)) for cells in zip(*(table[n] for n in names), strict=True)]
    plain: list[dict[str, Any]] = json.loads(json.dumps(rows, default=lambda value: value.item()))
    return plain


def expected_predictions(model: Any, rows: Any) -> list[dict[str, Any]]:
    """Return what the library predicts, in the form of the API."""
    if not hasattr(model, "classes"):
        return [{"prediction": value} for value in model.predict(rows).tolist()]
    key = "probabilities" if model.has_probabilities else "scores"
    values = model.predict_proba(rows) if model.has_probabilities else model.scores(rows)
    names = list(map(str, model.classes))
    return [
        {"label": label, key: dict(zip(names, row, strict=True))}
        for label, row in zip(model.predict(rows).tolist(), values.tolist(), strict=True)
    ]


@pytest.mark.parametrize(("learner", "n_classes"), CASES)
@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
def test_answers_equal_those_of_the_library(learner: Any, n_classes: int) -> None:
    model = copy.deepcopy(learner).fit(make_table(n_classes), "y").model_
    rows = as_rows(make_table(n_classes))[:7]
    client = Client({"model": model})
    assert client.predict("model", rows) == expected_predictions(model, rows)
    for row in rows[:2]:
        assert (
            client.predict("model", [row])
            == client.predict("model", row)
            == expected_predictions(model, [row])
        )
    for answer, evidence in zip(client.explain("model", rows), model.explain(rows), strict=True):
        assert answer | evidence.to_dict() == answer
        assert answer["unit"] == evidence.unit


@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
def test_a_changed_row_is_a_difference() -> None:
    model = weigh.NaiveBayes().fit(make_table(2), "y").model_
    rows = as_rows(make_table(2))[:2]
    assert Client({"model": model}).predict("model", rows) != expected_predictions(model, rows[::-1])


@pytest.mark.parametrize("labels", [[1, 0], [True, False], [1.0, 2.0], ["a", "b"]], ids=repr)
def test_labels_keep_their_types(labels: list[Any]) -> None:
    table = {"text": ["cheap pills", "lunch at noon"] * 4, "y": labels * 4}
    model = weigh.NaiveBayes(columns={"text": "text"}).fit(table, "y").model_
    rows = [{"text": "cheap"}, {"text": "lunch"}]
    answers = Client({"m": model}).predict("m", rows)
    assert [(type(answer["label"]), answer["label"]) for answer in answers] == [
        (type(label), label) for label in labels
    ]
    assert [list(answer["probabilities"]) for answer in answers] == [list(map(str, model.classes))] * 2


def test_texts_of_a_model_of_bare_texts_may_be_sent_as_texts_or_as_rows() -> None:
    model = weigh.NaiveBayes().fit(TEXTS["text"], TEXTS["label"]).model_
    client = Client({"m": model})
    as_texts = client.predict("m", ["cheap lunch", "noon"])
    assert as_texts == client.predict("m", [{"text": "cheap lunch"}, {"text": "noon"}])
    assert as_texts == expected_predictions(model, ["cheap lunch", "noon"])


def test_rows_of_unnamed_columns_may_be_lists_or_objects_in_any_order() -> None:
    rng = np.random.default_rng(0)
    model = weigh.NaiveBayes().fit(rng.normal(size=(20, 3)), [0, 1] * 10).model_
    client = Client({"m": model})
    rows = [[1, 2.5, 0.1], [0, None, 3]]
    expected = expected_predictions(model, [[1, 2.5, 0.1], [0, np.nan, 3]])
    assert client.predict("m", rows) == expected
    assert client.predict("m", [{"x2": 0.1, "x0": 1, "x1": 2.5}, {"x2": 3, "x0": 0}]) == expected


@pytest.mark.parametrize("method", ["platt", "isotonic", "temperature"])
def test_calibrated_models_answer_with_calibrated_probabilities(method: str) -> None:
    model = weigh.NaiveBayes().fit(TEXTS, "label").model_
    others = {"text": ["cheap lunch", "noon pills", "cheap", "meeting"] * 3, "label": ["spam", "ham"] * 6}
    calibrated = weigh.calibrate(model, others, method=method)
    rows = [{"text": "cheap noon"}]
    client = Client({"m": calibrated})
    assert client.predict("m", rows) == expected_predictions(calibrated, rows)
    assert client.get("/v1/models/m").json()["calibration"] == str(calibrated.calibration)


def test_decisions_equal_those_of_the_library() -> None:
    model = weigh.NaiveBayes().fit(TEXTS, "label").model_
    rows = [{"text": text} for text in ("cheap", "lunch", "cheap lunch", "")]
    client = Client({"m": model})
    decision = weigh.Decision(unsure=0.2)
    said = client.predict("m", rows, unsure=0.2)
    assert [answer["label"] for answer in said] == model.predict(rows, decision).tolist()
    assert "unsure" in {answer["label"] for answer in said}
    decision = weigh.Decision(costs={("ham", "spam"): 50.0}, class_prior={"ham": 0.7, "spam": 0.3})
    costs = [{"true": "ham", "verdict": "spam", "cost": 50}]
    said = client.predict("m", rows, costs=costs, class_prior={"ham": 0.7, "spam": 0.3})
    assert [answer["label"] for answer in said] == model.predict(rows, decision).tolist()
    said = client.predict("m", rows, predictive=True)
    assert [list(answer["probabilities"].values()) for answer in said] == model.predictive_proba(
        rows
    ).tolist()


def test_standard_deviations_equal_those_of_the_library() -> None:
    table = {"a": [1.0, 2, 3, 4, 5, 2], "b": [2.0, 1, 4, 3, 3, 3], "y": [1.0, 2, 3, 5, 4, 2]}
    model = weigh.LinearRegression().fit(table, "y").model_
    rows = [{"a": 1, "b": 2.5}]
    predicted, deviation = model.predict(rows, return_std=True)
    answer = Client({"m": model}).predict("m", rows, std=True)
    assert answer == [{"prediction": predicted[0], "std": deviation[0]}]


def test_unfamiliar_rows_are_those_of_the_library() -> None:
    model = weigh.NaiveBayes().fit(make_familiar_table(), "y").model_
    rows = [{"colour": "red", "size": 5}, {"colour": "purple", "size": 5}]
    found = weigh.unfamiliar(model, rows)
    answers = Client({"m": model}).predict("m", rows, check=True)
    assert [row.row for row in found.rows] == [1]
    assert answers[0]["unfamiliar"] == []
    assert [reason["text"] for reason in answers[1]["unfamiliar"]] == list(map(str, found.rows[0].reasons))


def test_notes_are_the_warnings_of_the_library() -> None:
    table = {"a": [1.0, 2, 3, 4, 5, 2], "b": [2.0, 1, 4, 3, 3, 3], "y": [1.0, 2, 3, 5, 4, 2]}
    model = weigh.LinearRegression().fit(table, "y").model_
    rows = [{"a": "many", "b": 1}, {"a": 1, "b": 2}]
    with pytest.warns(weigh.errors.WeighWarning) as caught:
        predicted = model.predict(rows).tolist()
    notes = [str(each.message) for each in caught]
    assert any("1 of 2 cells is not a number" in note for note in notes)
    client = Client({"m": model})
    answer = client.post("/v1/models/m/predict", json={"rows": rows}).json()
    assert answer == {"predictions": [{"prediction": each} for each in predicted], "notes": notes}
    assert client.post("/v1/models/m/explain", json={"rows": rows}).json()["notes"] == notes
    assert "notes" not in client.post("/v1/models/m/predict", json={"rows": rows[1:]}).json()


def make_familiar_table() -> dict[str, list[Any]]:
    """Return many ordinary rows."""
    n = 400
    return {
        "colour": [("red", "green", "blue")[i % 3] for i in range(n)],
        "size": [i % 10 for i in range(n)],
        "y": [i % 2 for i in range(n)],
    }


def test_explanations_add_the_calculation_and_the_flip_of_the_library() -> None:
    model = weigh.NaiveBayes().fit(TEXTS, "label").model_
    row = {"text": "cheap pills today"}
    answer = Client({"m": model}).explain("m", [row], worked=True, flip=True, to="ham")[0]
    assert answer["worked"] == model.explain([row])[0].worked()
    flip = weigh.flip(model, row, "ham")
    assert answer["flip"] == to_json(flip.to_dict()) | {"text": str(flip)}
    latex = Client({"m": model}).explain("m", [row], worked="latex", most=1)[0]
    assert latex["worked"] == model.explain([row])[0].worked("latex")
    assert latex | model.explain([row])[0].shortened(1).to_dict() == latex


def test_infinite_numbers_are_words_because_json_has_none() -> None:
    model = weigh.NaiveBayes(prior=None).fit({"c": ["a", "b"], "y": ["p", "q"]}, "y").model_
    answer = Client({"m": model}).explain("m", [{"c": "a"}])[0]
    assert answer["total"] == model.explain([{"c": "a"}])[0].to_dict()["total"] == "inf"
