"""Conveniences of all estimators: save, label=, single rows of a frame, and errors that name the class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import weigh
from weigh.errors import ColumnError, DataError, ParameterError

FRAME = pd.DataFrame(
    {
        "sky": ["sun", "rain", "fog", "sun", "rain", "fog"],
        "warm": [21.5, 12.0, 9.5, 25.0, 10.5, 11.0],
        "play": ["yes", "no", "no", "yes", "no", "yes"],
    }
)
CLASSIFIERS: list[Any] = [
    weigh.NaiveBayes(),
    weigh.JointBayes(columns={"warm": "skip"}),
    weigh.LogisticRegression(),
    weigh.LogisticRegression(method="online"),
    weigh.Perceptron(),
    weigh.Threshold(),
]
LEARNERS: list[Any] = [*CLASSIFIERS, weigh.LinearRegression()]


def name_of(learner: Any) -> str:
    return type(learner).__name__


def table(learner: Any) -> pd.DataFrame:
    if isinstance(learner, weigh.LinearRegression):
        return FRAME.assign(play=np.arange(6) * 1.5)
    return FRAME


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_save_writes_the_fitted_model(learner: Any, tmp_path: Path) -> None:
    rows = table(learner)
    fitted = clone(learner).fit(rows, "play")
    fitted.save(tmp_path / "m.weigh")
    assert (tmp_path / "m.weigh").read_bytes() == fitted.model_.to_bytes()
    with pytest.raises(NotFittedError, match=f"This {name_of(learner)} instance is not fitted yet"):
        clone(learner).save(tmp_path / "none.weigh")
    assert not (tmp_path / "none.weigh").exists()


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_label_names_the_label_column_as_y_does(learner: Any) -> None:
    rows = table(learner)
    by_y, by_label = clone(learner).fit(rows, "play"), clone(learner).fit(rows, label="play")
    assert by_label.model_.to_bytes() == by_y.model_.to_bytes()
    assert by_label.score(rows, label="play") == by_y.score(rows, "play")
    for method in ("fit", "score", "partial_fit", "forget"):
        if not hasattr(by_y, method):
            continue
        with pytest.raises(ParameterError) as caught:
            getattr(by_y, method)(rows, "play", label="play")
        expected = f"{name_of(learner)}: label must be left out when y is given, got 'play'."
        assert str(caught.value) == expected
        with pytest.raises(ParameterError, match="label must be the name of a column, got 7"):
            getattr(by_y, method)(rows, label=7)


def test_label_names_the_column_for_further_rows_and_forgetting() -> None:
    learned = weigh.NaiveBayes().partial_fit(FRAME[:3], label="play").partial_fit(FRAME[3:], label="play")
    assert learned.model_.to_bytes() == weigh.NaiveBayes().fit(FRAME, "play").model_.to_bytes()
    learned.forget(FRAME[3:], label="play")
    first = weigh.NaiveBayes(columns=learned.schema_).fit(FRAME[:3], "play")
    assert learned.model_.to_bytes() == first.model_.to_bytes()
    online = weigh.Perceptron(scale=None).partial_fit(FRAME, label="play")
    same = weigh.Perceptron(scale=None).partial_fit(FRAME, "play")
    assert online.model_.to_bytes() == same.model_.to_bytes()


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_a_row_of_a_frame_is_a_batch_of_one(learner: Any) -> None:
    rows = table(learner)
    fitted = clone(learner).fit(rows, "play")
    features = rows.drop(columns="play")
    expected = fitted.predict(features)
    for i in range(len(rows)):
        for row in (features.iloc[i], rows.iloc[i], pl.from_pandas(features).row(i, named=True)):
            assert fitted.predict(row).tolist() == [expected[i]]
        assert len(fitted.explain(features.iloc[i])) == 1
        if hasattr(fitted, "predict_proba"):
            shares = fitted.predict_proba(features)
            assert fitted.predict_proba(features.iloc[i]).tolist() == [shares[i].tolist()]


def test_a_series_of_texts_is_one_text_per_row() -> None:
    texts = pd.Series(["a fine day", "rain and wind"], index=["one", "two"])
    fitted = weigh.NaiveBayes().fit(texts, ["yes", "no"])
    assert fitted.predict(texts).tolist() == ["yes", "no"]


def test_a_series_of_other_names_is_no_row() -> None:
    fitted = weigh.NaiveBayes().fit(FRAME, "play")
    with pytest.raises(DataError, match="Expected 2D array, got 1D array of shape"):
        fitted.predict(pd.Series({"warm": 1.0, "sun": 2.0}))


@pytest.mark.filterwarnings("ignore::weigh.errors.UnfilledTable")
@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_errors_name_the_class(learner: Any) -> None:
    X, y = np.arange(8.0).reshape(4, 2), [0, 1, 1, 0]
    fitted = type(learner)(**({"method": learner.method} if hasattr(learner, "method") else {})).fit(X, y)
    calls = ["predict", "explain", "score", "partial_fit", "forget", "predict_proba"]
    for call in [getattr(fitted, name) for name in calls if hasattr(fitted, name)]:
        arguments = (X[:, :1], y) if call.__name__ in ("score", "partial_fit", "forget") else (X[:, :1],)
        with pytest.raises(ColumnError) as caught:
            call(*arguments)
        assert str(caught.value) == (
            f"X has 1 features, but {name_of(learner)} is expecting 2 features as input, as in training: "
            "'x0', 'x1'."
        )
    with pytest.raises(NotFittedError, match=f"This {name_of(learner)} instance is not fitted yet"):
        clone(learner).predict(X)
