"""`verify`: an independent recount agrees for every kind of column, and detects every change."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import weigh
from tests.splitting import split
from weigh import errors
from weigh.features import Text
from weigh.judge.verification.recount import tokenise_text

TABLE = {
    "colour": ["red", "green", None, "red", "?", "blue"],
    "size": [1.1, 2.2, 3.3, np.nan, 5.5, 1e-300],
    "wet": [True, False, None, True, True, False],
    "hot": [1, 0, 1, 0, 1, 0],
    "hits": [0, 3, 1, 0, 0, 7],
    "age": [10.0, 20.0, 30.0, 40.0, 50.0, np.nan],
    "body": ["a cat sat", "The CAT's mat", None, "naïve café_1", "", "dog dog dog"],
    "tags": [["x", "y"], ["x"], [], ["z", "z"], None, ["y"]],
    "y": ["p", "q", "p", "q", "p", "p"],
}
KINDS = {
    "colour": "category",
    "wet": "flag",
    "hot": "flag",
    "hits": "count",
    "age": weigh.Number(bins=(15.0, 35.0)),
    "body": weigh.Text(ngrams=(1, 2)),
    "tags": weigh.Tokens(counts=False),
}


def fit_model(table=TABLE, **parameters):
    return weigh.NaiveBayes(columns=KINDS, missing=["?"], **parameters).fit(table, "y")


def change_cell(column, row, value):
    values = list(TABLE[column])
    values[row] = value
    return TABLE | {column: values}


def test_every_kind_of_column_agrees_with_a_recount():
    result = weigh.verify(fit_model(), TABLE)
    assert result.ok, str(result)
    assert [check.name for check in result.checks] == [
        "rows of each class",
        "colour (category)",
        "size (number)",
        "flags (flag)",
        "hits (count)",
        "age (number)",
        "body (text)",
        "tags (tokens)",
        "class probabilities sum to 1",
        "probabilities within classes sum to 1",
        "posteriors of the first rows sum to 1",
    ]


@pytest.mark.parametrize(
    ("column", "row", "value", "check"),
    [
        ("y", 0, "q", "rows of each class"),
        ("colour", 0, "green", "colour (category)"),
        ("colour", 2, "red", "colour (category)"),
        ("size", 5, 2e-300, "size (number)"),
        ("size", 0, np.nextafter(1.1, 2), "size (number)"),
        ("wet", 0, False, "flags (flag)"),
        ("wet", 2, False, "flags (flag)"),
        ("hits", 1, 4, "hits (count)"),
        ("age", 1, 36.0, "age (number)"),
        ("body", 4, "word", "body (text)"),
        ("tags", 2, ["x"], "tags (tokens)"),
    ],
)
def test_one_changed_cell_is_detected(column, row, value, check):
    result = weigh.verify(fit_model(), change_cell(column, row, value))
    assert not result.ok
    assert check in [c.name for c in result.checks if not c.ok]


def test_numeric_missing_markers_are_missing_in_the_recount():
    table = {"a": [1, 2, -999, 1], "b": [1.5, -999.0, 2.5, 3.5], "c": ["u", "?", "-999", "v"]}
    kinds = {"a": "category"}
    model = weigh.NaiveBayes(columns=kinds, missing=[-999, "?"]).fit(table, ["p", "q", "p", "q"]).model_
    result = weigh.verify(model, table, ["p", "q", "p", "q"])
    assert result.ok, str(result)
    assert not weigh.verify(model, table | {"c": ["u", "v", "-999", "v"]}, ["p", "q", "p", "q"]).ok


def test_a_tampered_count_is_detected_and_named():
    model = weigh.NaiveBayes().fit({"x": ["a", "b", "a"], "y": [0, 1, 1]}, "y").model_
    counts = model.counts.parts[0]
    changed_counts = replace(counts, table=counts.table + np.array([[0, 0], [0, 1]]))
    tampered = replace(model, counts=replace(model.counts, parts=[changed_counts]))
    result = weigh.verify(tampered, {"x": ["a", "b", "a"], "y": [0, 1, 1]})
    (check,) = [c for c in result.checks if not c.ok]
    assert [vars(c) for c in check.differing] == [
        {"what": "count of 'b' in class 1", "model": "2", "data": "1"}
    ]
    assert json.loads(json.dumps(result.to_dict()))["checks"][1]["ok"] is False


def test_a_model_file_is_compared_with_its_digest(tmp_path):
    path = tmp_path / "m.weigh"
    fit_model().model_.save(path)
    assert weigh.verify(path, TABLE).checks[0].name == "the file's digest"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(errors.ModelFileError):
        weigh.verify(path, TABLE)


def test_sparse_and_dense_rows_verify_each_others_models():
    X, y = np.array([[0, 2, 0], [1, 0, 0], [0, 0, 3]]), np.array([0, 1, 1])
    for kind in ("flag", "count"):
        for trained in (X, sparse.csr_array(X)):
            model = weigh.NaiveBayes(columns=kind).fit(trained, y).model_
            for rows in (X, sparse.csc_array(X)):
                assert weigh.verify(model, rows, y).ok
            assert not weigh.verify(model, X + np.eye(3, dtype=int), y).ok


def test_weights_are_counted_exactly_or_up_to_rounding():
    table, weights = {"x": ["a", "b", "a"], "z": [0.1, 0.2, 0.7], "y": [0, 1, 1]}, [0.1, 0.2, 0.3]
    for scale in (1, 10):
        scaled_weights = [scale * weight for weight in weights]
        nb = weigh.NaiveBayes().fit(table, "y", scaled_weights)
        assert weigh.verify(nb, weigh.rows(table, "y", scaled_weights)).ok
        assert not weigh.verify(nb, table).ok


def test_classes_without_rows_are_not_a_mismatch():
    nb = weigh.NaiveBayes().partial_fit({"x": ["a", "b"], "y": [0, 1]}, "y", classes=[0, 1, 2])
    assert weigh.verify(nb, {"x": ["a", "b"], "y": [0, 1]}).ok


def test_joint_tables_are_recounted():
    table = {
        "a": ["x", "y", None, "x"],
        "b": [True, False, True, True],
        "c": [1.0, 2.0, 3.0, 4.0],
        "y": [0, 1, 1, 0],
    }
    nb = weigh.JointBayes(columns={"c": weigh.Number(bins=(2.5,))})
    with pytest.warns(errors.UnfilledTable):
        nb.fit(table, "y")
    assert weigh.verify(nb, table).ok
    assert not weigh.verify(nb, table | {"b": [True, True, True, True]}).ok


def test_the_sides_of_a_threshold_are_recounted():
    table = {"x": [1.5, 2.2, 1.8, 1.2, 0.9], "y": [True, True, True, False, False]}
    stump = weigh.Threshold().fit(table, "y")
    assert weigh.verify(stump, table).ok
    result = weigh.verify(stump, table | {"x": [1.5, 2.2, 1.0, 1.2, 0.9]})
    assert [c.name for c in result.checks if not c.ok] == ["sides of x"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(-1e9, 1e9), st.booleans()), min_size=1, max_size=30)
)
def test_any_table_verifies(rows):
    table = {"level": [r[0] for r in rows], "number": [r[1] for r in rows], "y": [r[2] for r in rows]}
    assert weigh.verify(weigh.NaiveBayes().fit(table, "y"), table).ok


@settings(max_examples=200)
@given(st.text(max_size=30))
def test_words_are_split_like_the_regular_expression_does(text):
    assert tokenise_text(text, Text()) == split(text, Text())


def test_it_prints_within_80_columns():
    text = str(weigh.verify(fit_model(), change_cell("body", 4, "word " * 30)))
    assert text.startswith("Counted 6 rows again: 1 of 11 checks failed.")
    assert max(map(len, text.splitlines())) <= 80


def test_models_without_counts_are_rejected():
    model = weigh.NaiveBayes().fit({"a": ["x", "y"], "y": [0, 1]}, "y").model_
    with pytest.raises(errors.Unsupported, match=r"against their rows, got LinearModel\."):
        weigh.verify(model.linear(), {"a": ["x"]}, [0])
    with pytest.raises(errors.LabelError, match="no labels to count by"):
        weigh.verify(weigh.NaiveBayes().fit(np.eye(2), [0, 1]), np.eye(2))
