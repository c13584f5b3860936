"""Count tables that are data frames, such as the crosstabs of pandas."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import weigh
from weigh.errors import ParameterError
from weigh.model import BayesModel

F = Fraction
ROWS = pd.DataFrame({"income": ["low", "high", "low", "low"], "buys": ["no", "yes", "yes", "no"]})
TOPICS = ["jungle", "wallStreet"]
WORDS = pd.DataFrame(
    {
        "lion": [16, 0],
        "wolf": [12, 2],
        "monkey": [14, 1],
        "broker": [0, 14],
        "analyst": [1, 10],
        "dividend": [1, 12],
    },
    index=pd.Index(TOPICS, name="topic"),
)


def from_words(columns: Any, **settings: Any) -> BayesModel:
    return BayesModel.from_counts(
        columns=columns, kinds="count", class_counts=dict.fromkeys(TOPICS, 1), **settings
    )


def test_a_crosstab_gives_the_model_of_its_rows() -> None:
    fitted = weigh.NaiveBayes().fit(ROWS, "buys").model_
    table = pd.crosstab(ROWS["buys"], ROWS["income"])
    assert BayesModel.from_counts(columns=table).to_bytes() == fitted.to_bytes()
    assert BayesModel.from_counts(columns={"income": table}, label="buys").to_bytes() == fitted.to_bytes()
    assert BayesModel.from_counts(columns=table + 1).to_bytes() != fitted.to_bytes()


def test_the_label_names_the_axis_of_the_classes() -> None:
    table = pd.crosstab(ROWS["income"], ROWS["buys"])
    fitted = weigh.NaiveBayes().fit(ROWS, "buys").model_
    assert BayesModel.from_counts(columns=table, label="buys").to_bytes() == fitted.to_bytes()
    assert BayesModel.from_counts(columns=table).classes == ["high", "low"]


def test_word_counts_are_counts_of_words() -> None:
    model = from_words(WORDS)
    distribution: Any = model.distributions[0]
    assert distribution.table.sum(axis=1).tolist() == [44, 39]
    jungle = dict(zip(distribution.words, distribution.exact_probabilities(0), strict=True))
    assert (jungle["lion"], jungle["broker"]) == (F(17, 50), F(1, 50))
    document = {"lion": 10, "wolf": 8, "monkey": 11, "broker": 1, "analyst": 0, "dividend": 1}
    assert -np.diff(model.scores(document)[0])[0] == pytest.approx(54.38073485, abs=1e-8)


def test_polars_frames_hold_the_classes_in_their_first_column() -> None:
    frame = pl.from_pandas(WORDS.reset_index())
    assert from_words(frame).to_bytes() == from_words(WORDS).to_bytes()
    assert from_words(frame).label == "topic"


def test_crosstabs_and_mappings_combine() -> None:
    table = pd.crosstab(ROWS["buys"], ROWS["income"])
    flags = {"student": {"no": (1, 2), "yes": (2, 2)}}
    model = BayesModel.from_counts(columns={"income": table} | flags)
    assert model.schema.names == ["income", "student"]
    assert model.counts.rows.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            pd.crosstab(ROWS["buys"], ROWS["income"], margins=True),
            "BayesModel.from_counts: columns['income'] has the totals 'All' beside its counts. Leave them "
            "out: margins=False.",
        ),
        (
            pd.crosstab(ROWS["buys"], [ROWS["income"], ROWS["income"]]),
            "BayesModel.from_counts: columns['value'] must be a frame with one row per class and one column "
            "per value, each with its own name; it has 2 rows and 2 columns, 'no', 'yes' and "
            "('high', 'high'), ('low', 'low').",
        ),
        (
            pd.DataFrame(),
            "BayesModel.from_counts: columns['value'] must be a frame with one row per class and one column "
            "per value, each with its own name; it has 0 rows and 0 columns, none and none.",
        ),
        (
            pl.DataFrame(),
            "BayesModel.from_counts: columns['value'] must be a frame with one row per class and one column "
            "per value, each with its own name; it has 0 rows and 0 columns, none and none.",
        ),
        (
            pd.crosstab(ROWS["buys"], ROWS["income"]) - 1,
            "BayesModel.from_counts: columns['income']['no'] must be a count of 0 or more, got -1.",
        ),
    ],
)
def test_frames_that_are_no_count_tables_are_refused(frame: Any, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        BayesModel.from_counts(columns=frame)
    assert str(caught.value) == message


def test_a_class_called_all_is_a_class() -> None:
    table = pd.DataFrame({"u": [1, 5], "v": [2, 1]}, index=["A", "All"])
    assert BayesModel.from_counts(columns=table).classes == ["A", "All"]
