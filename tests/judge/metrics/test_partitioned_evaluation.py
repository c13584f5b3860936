"""Evaluations of frames equal those of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh
from tests.engines.frames import LocalFrame, mixed_table
from weigh import errors

TABLE = mixed_table()
CLASSES = TABLE.drop(columns="target")
NUMBERS = TABLE.drop(columns="label")

LEARNERS: dict[str, Any] = {
    "naive Bayes": weigh.NaiveBayes(),
    "logistic": weigh.LogisticRegression(columns={"body": "skip", "when": "skip"}, prior=1.0),
    "perceptron": weigh.Perceptron(columns={"body": "skip", "when": "skip"}, max_iter=2),
}


def assert_equal_numbers(first: Any, second: Any) -> None:
    if isinstance(first, dict):
        assert first.keys() == second.keys()
        for key, value in first.items():
            assert_equal_numbers(value, second[key])
    elif isinstance(first, list):
        assert len(first) == len(second)
        for a, b in zip(first, second, strict=True):
            assert_equal_numbers(a, b)
    elif isinstance(first, float):
        assert first == pytest.approx(second, rel=1e-9, abs=1e-12, nan_ok=True)
    else:
        assert first == second


@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
@pytest.mark.parametrize("n", [1, 6])
@pytest.mark.parametrize("name", LEARNERS)
def test_classifiers_are_evaluated_as_on_the_rows(name: str, n: int):
    model = LEARNERS[name].fit(CLASSES[:2000], "label")
    rows = CLASSES[1500:].copy()
    rows.iloc[-7:, rows.columns.get_loc("label")] = "perhaps"
    local = weigh.evaluate(model, rows, label="label").to_dict()
    folded = weigh.evaluate(model, LocalFrame.split(rows, n), label="label").to_dict()
    if name == "naive Bayes":  # counts would be compared with those of the rows, which are elsewhere
        del local["is_training_data"], folded["is_training_data"]
    assert_equal_numbers(folded, local)


@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
def test_regressions_are_evaluated_as_on_the_rows():
    columns = {"body": "skip", "when": "skip", "city": "skip", "code": "skip"}
    model = weigh.LinearRegression(columns=columns).fit(NUMBERS[:2000], "target")
    rows = NUMBERS[1500:]
    local = weigh.evaluate(model, rows).to_dict()
    assert_equal_numbers(weigh.evaluate(model, LocalFrame.split(rows, 4)).to_dict(), local)


@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
def test_labels_and_weights_of_frames_are_columns():
    model = weigh.NaiveBayes().fit(CLASSES, "label")
    frame = LocalFrame.split(CLASSES, 2)
    with pytest.raises(errors.DataError, match="The labels of a frame are one of its columns"):
        weigh.evaluate(model, frame, np.array(CLASSES["label"]))
