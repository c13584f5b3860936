"""Columns made from other columns."""

from __future__ import annotations

import numpy as np
import pytest

import weigh
from weigh import errors


def shouting(rows):
    return [text.isupper() for text in rows["subject"]]


MAILS = {
    "subject": ["BUY NOW", "lunch today", "FREE MONEY", "minutes of monday"],
    "kind": ["spam", "ham", "spam", "ham"],
}
COLUMNS = {"subject": "skip", "shouting": weigh.Derived(shouting, "flag")}


def test_a_function_of_the_rows_becomes_a_column():
    model = weigh.NaiveBayes(COLUMNS).fit(MAILS, "kind").model_
    assert model.predict({"subject": "HELLO THERE"}).tolist() == ["spam"]
    assert [row.feature for row in model.explain({"subject": "hi"})[0].table] == ["class prior", "shouting"]


def test_the_function_must_be_passed_again_when_a_model_is_loaded(tmp_path):
    model = weigh.NaiveBayes(COLUMNS).fit(MAILS, "kind").model_
    model.save(tmp_path / "m.weigh")
    again = weigh.load(tmp_path / "m.weigh", derived={"shouting": shouting})
    assert again.predict({"subject": "HELLO THERE"}).tolist() == ["spam"]
    with pytest.raises(
        errors.ColumnError, match="derived by a function that is not stored in the model file"
    ):
        weigh.load(tmp_path / "m.weigh").predict({"subject": "HELLO THERE"})
    with pytest.raises(errors.ColumnError, match="has no column 'other'"):
        weigh.load(tmp_path / "m.weigh", derived={"other": shouting})


def test_a_function_must_return_one_value_per_row():
    columns = {"subject": "skip", "bad": weigh.Derived(lambda rows: [1], "flag")}
    with pytest.raises(errors.ColumnError, match="returned an array of shape \\(1,\\) for 4 rows"):
        weigh.NaiveBayes(columns).fit(MAILS, "kind")


def test_a_derived_column_cannot_take_the_name_of_another():
    with pytest.raises(errors.ColumnError, match="has the name of an existing column"):
        weigh.NaiveBayes({"subject": weigh.Derived(shouting, "flag")}).fit(MAILS, "kind")


def test_a_lag_looks_back_into_the_previous_chunk(monkeypatch):
    rng = np.random.default_rng(0)
    signal = rng.normal(size=200)
    table = {"signal": signal, "up": np.append(0.0, signal[:-1]) > 0}
    columns = {"before": weigh.Lag("signal", 1), "long before": weigh.Lag("signal", 7)}
    whole = weigh.NaiveBayes(columns).fit(table, "up").model_
    monkeypatch.setattr("weigh.source.memory.table.TableSource.chunks.__defaults__", (None, 13))
    cut = weigh.NaiveBayes(columns).fit(table, "up").model_
    assert cut.to_bytes() == whole.to_bytes()
    assert whole.counts.parts[1].known.sum() == 199
    assert whole.counts.parts[2].known.sum() == 193


def test_a_lag_needs_no_function_when_loaded(tmp_path):
    table = {"x": [1.0, 2.0, 3.0, 4.0, 2.5], "y": [0, 1, 1, 0, 1]}
    model = weigh.NaiveBayes({"x1": weigh.Lag("x")}).fit(table, "y").model_
    model.save(tmp_path / "m.weigh")
    rows = {"x": [1.0, 2.0]}
    assert np.array_equal(weigh.load(tmp_path / "m.weigh").scores(rows), model.scores(rows))


def test_a_function_cannot_change_the_callers_data():
    mine = np.array([1.0, 2.0, 3.0, 4.0])

    def careless(rows):
        rows["n"][0] = 99.0
        return rows["n"]

    with pytest.raises(ValueError, match="read-only"):
        weigh.NaiveBayes({"m": weigh.Derived(careless)}).fit({"n": mine, "y": [0, 1, 0, 1]}, "y")
    assert mine.tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("kind", ["date", weigh.Date, weigh.Date(order="ymd")])
def test_a_derived_column_cannot_be_a_date(kind):
    with pytest.raises(errors.ParameterError, match="Derived: kind must be a kind other than 'date', got"):
        weigh.Derived(shouting, kind)
    with pytest.raises(errors.ParameterError, match="Lag: kind must be a kind other than 'date', got"):
        weigh.Lag("when", kind=kind)


def test_a_range_of_lags_equals_single_lags():
    signal = np.random.default_rng(1).normal(size=50)
    table = {"signal": signal, "up": np.append([0.0, 0.0], signal[:-2]) > 0}
    single = {f"before {by}": weigh.Lag("signal", by) for by in (1, 2, 5)}
    several = weigh.NaiveBayes({"before": weigh.Lag("signal", (1, 2, 5))}).fit(table, "up").model_
    assert several.to_bytes() == weigh.NaiveBayes(single).fit(table, "up").model_.to_bytes()
    assert (
        several.to_bytes()
        != weigh.NaiveBayes(dict(list(single.items())[:2])).fit(table, "up").model_.to_bytes()
    )
    ranged = weigh.NaiveBayes({"before": weigh.Lag("signal", range(1, 4))}).fit(table, "up").model_
    assert ranged.schema.feature_columns == ["signal", "before 1", "before 2", "before 3"]


def test_a_range_of_lags_cannot_take_the_names_of_other_columns():
    table = {"x": [1.0, 2.0, 3.0], "x 2": [1.0, 2.0, 3.0], "y": [0, 1, 1]}
    with pytest.raises(errors.ColumnError) as caught:
        weigh.NaiveBayes({"x": weigh.Lag("x", (1, 2))}).fit(table, "y")
    assert str(caught.value) == (
        "The derived column 'x 2' has the name of an existing column. Choose another name."
    )


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ((), "Lag: by must be one or more numbers of rows, each only once, got ()."),
        ([1, 1], "Lag: by must be one or more numbers of rows, each only once, got [1, 1]."),
        (range(3), "Lag: by must be at least 1, got 0."),
        ("12", "Lag: by must be a whole number of at least 1, got '12'."),
    ],
)
def test_bad_ranges_of_lags_are_refused(by, message):
    with pytest.raises(errors.ParameterError) as caught:
        weigh.Lag("x", by)
    assert str(caught.value) == message
