"""The schema checks the columns of a source."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

import weigh
from weigh import errors
from weigh.features import Number, Schema, infer_schema
from weigh.features.schema import NUMERIC_KINDS
from weigh.source import rows
from weigh.source.base import NUMBER_KINDS


def test_checking_many_columns_takes_no_longer_per_column():
    names = [f"column {j}" for j in range(40_000)]
    source = rows(np.ones((1, len(names))), names=names)
    start = time.perf_counter()
    Schema(names, [Number()] * len(names)).check(source)
    infer_schema(source, dict.fromkeys(names, "number"))
    # Searching a list for each of them would take half a minute.
    assert time.perf_counter() - start < 5


def test_text_files_are_read_as_strings_only_if_all_levels_were_strings():
    schema = infer_schema(rows({"a": ["1", "x"], "b": [1, 2], "x": [0.5, 1.5], "y": [0, 1]}, "y"))
    levels = {"a": ["1", "x"], "b": [1, 2], "x": ["x ≤ 1", "x > 1"], "y": ["no", "yes"]}
    assert schema.level_storage(levels) == {"a": "string", "b": "mixed", "y": "string"}


def test_rows_without_names_are_read_in_the_order_of_the_columns():
    nb = weigh.NaiveBayes().fit(
        {"a": [1.5, 2.5, 8.5, 9.5], "b": [0.5, 0.1, 0.2, 0.3], "y": [0, 0, 1, 1]}, "y"
    )
    assert nb.predict(np.array([[9.0, 0.2]])).tolist() == [1]
    assert nb.predict([[9.0, 0.2]]).tolist() == nb.predict({"a": 9.0, "b": 0.2}).tolist()


PETS = {"legs": [2, 4, 2, 4], "weight": [0.5, 3.5, 0.4, 9.5], "pet": ["bird", "cat", "bird", "dog"]}


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (
            ["id"],
            "The rows have the column 'id' that the model was not trained on; it is ignored.",
        ),
        (
            ["a", "b", "c", "d", "e"],
            "The rows have the columns 'a', 'b', 'c' and 2 more that the model was not trained on; they are "
            "ignored.",
        ),
    ],
)
def test_columns_that_the_model_does_not_know_are_ignored_with_one_warning(extra, message):
    nb = weigh.NaiveBayes().fit(PETS, "pet")
    rows_with_more = {**PETS, **{name: ["x", "y", None, "z"] for name in extra}}
    with pytest.warns(errors.ExtraColumns) as caught:
        verdicts = nb.predict(rows_with_more)
    assert verdicts.tolist() == nb.predict(PETS).tolist()
    assert [str(each.message) for each in caught] == [message]


def test_extra_columns_do_not_replace_lacking_ones():
    nb = weigh.NaiveBayes().fit(PETS, "pet")
    with pytest.raises(errors.ColumnError, match=r"^The rows lack the column 'weight'"):
        nb.predict({"legs": 2, "wieght": 3.0})


def test_extra_columns_of_a_file_are_not_parsed(tmp_path):
    (tmp_path / "rows.csv").write_text("id,legs,weight,pet\n1,2,0.5,bird\n2,4,3.5,cat\n")
    nb = weigh.NaiveBayes().fit(PETS, "pet")
    with pytest.warns(errors.ExtraColumns):
        (chunk,) = nb.schema_.chunks(weigh.open(tmp_path / "rows.csv", "pet"))
    assert list(chunk.columns) == ["legs", "weight"]


@pytest.mark.parametrize("learner", [weigh.NaiveBayes(), weigh.Perceptron(), weigh.LogisticRegression()])
def test_evaluate_explain_and_score_ignore_extra_columns(learner):
    learner.fit(PETS, "pet")
    more = {"id": [7, 8, 9, 10], **PETS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.ExtraColumns)
        assert (
            weigh.evaluate(learner, more, "pet").to_dict() == weigh.evaluate(learner, PETS, "pet").to_dict()
        )
        assert learner.score(more, "pet") == learner.score(PETS, "pet")
        assert learner.explain(more) == learner.explain(PETS)


def test_an_array_of_another_width_is_still_an_error():
    nb = weigh.NaiveBayes().fit(np.arange(8.0).reshape(4, 2), [0, 1, 0, 1])
    with pytest.raises(errors.ColumnError, match="X has 3 features, but NaiveBayes is expecting 2 features"):
        nb.predict(np.ones((1, 3)))


def test_columns_that_files_read_as_numbers_are_numeric() -> None:
    assert {kind.name for kind in NUMERIC_KINDS} == NUMBER_KINDS | {"flag"}
