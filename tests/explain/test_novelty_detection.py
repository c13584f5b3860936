"""`unfamiliar`: rows and columns unlike those of training."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import weigh
from weigh import errors
from weigh.explain.distribution_shift import g_test
from weigh.explain.novelty_detection import NoveltyDetector

RNG = np.random.default_rng(0)
N = 2000
TABLE = {
    "animal": RNG.choice(["cat", "dog"], N).tolist(),
    "height": RNG.normal(0.5, 0.1, N),
    "tame": RNG.random(N) < 0.8,
    "name": ["felix the cat" if k % 2 else "rex barks loud" for k in range(N)],
    "y": RNG.choice(["p", "q"], N).tolist(),
}
MODEL = weigh.NaiveBayes(columns={"name": "text"}).fit(TABLE, "y").model_
ROWS = {key: TABLE[key] for key in ("animal", "height", "tame", "name")}


def one(**changes):
    return {"animal": "cat", "height": 0.5, "tame": True, "name": "felix"} | changes


def reasons(**changes):
    result = weigh.unfamiliar(MODEL, one(**changes)).rows
    return [str(reason) for row in result for reason in row.reasons]


def test_the_training_rows_are_familiar():
    result = weigh.unfamiliar(MODEL, ROWS)
    assert (result.n_rows, result.rows, result.shifted) == (N, (), ())
    assert str(result) == "0 rows of 2,000 unlike the training rows.\n\nNo column of 4 has shifted."


def test_a_level_never_seen_is_flagged():
    assert reasons(animal="giraffe") == ["animal = giraffe: never seen"]


def test_a_number_far_from_every_class_is_flagged():
    assert reasons(height=1.0) == []
    (told,) = reasons(height=5.5)
    assert told.startswith("height = 5.5: ")
    assert told.endswith("standard deviations from the nearest class")


def test_texts_of_unknown_words_are_flagged_by_their_share():
    assert reasons(name="felix barks unheard") == []
    assert reasons(name="unheard") == ["name = unheard: all words never seen"]
    assert reasons(name="felix unheard words") == ["name = felix …: 2 of 3 words never seen"]


def test_flagged_rows_are_counted_by_type_of_reason():
    rows = [
        one(animal="giraffe"),
        one(animal="ant", height=5.5),
        one(height=9.0),
        one(height=8.0),
        one(name="unheard"),
    ]
    assert weigh.unfamiliar(MODEL, rows).kinds == {
        "a number far from every class": 3,
        "a value never seen": 2,
        "mostly new words": 1,
    }


def test_missing_values_are_not_unfamiliar():
    assert reasons(animal=None, height=None, tame=None, name=None) == []


def test_columns_that_shift_are_found_and_others_are_not():
    rows = ROWS | {"height": TABLE["height"] + 0.2, "animal": ["cat"] * N}
    result = weigh.unfamiliar(MODEL, rows)
    assert [each.column for each in result.shifted] == ["height", "animal"]
    assert result.shifted[0].effect == pytest.approx(2.0, abs=0.1)
    assert "2 columns of 4 shifted:" in str(result)
    assert max(map(len, str(result).splitlines())) <= 80


def test_a_flag_that_shifts_is_found():
    result = weigh.unfamiliar(MODEL, ROWS | {"tame": np.zeros(N, dtype=bool)})
    assert [(each.column, each.now) for each in result.shifted] == [("tame", "1 0.00 %")]


def test_the_g_test_is_that_of_scipy():
    table = np.array([[30.0, 50.0, 20.0], [45.0, 35.0, 20.0]])
    expected = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").pvalue
    assert g_test(table) == pytest.approx(expected, rel=1e-12)


def test_rare_values_are_pooled():
    table = np.array([[100.0, 90.0, 1.0, 1.0], [110.0, 95.0, 0.0, 2.0]])
    pooled = np.array([[100.0, 90.0, 2.0], [110.0, 95.0, 2.0]])
    expected = stats.chi2_contingency(pooled, correction=False, lambda_="log-likelihood").pvalue
    assert g_test(table) == pytest.approx(expected, rel=1e-12)


def test_few_rows_are_not_tested():
    assert weigh.unfamiliar(MODEL, one()).columns == ()
    assert str(weigh.unfamiliar(MODEL, one())).endswith("Too few rows to test the columns.")


def test_chunks_give_the_same_answer_as_the_whole():
    rows = ROWS | {"animal": ["ant" if k % 500 == 7 else "cat" for k in range(N)]}
    whole = weigh.unfamiliar(MODEL, rows)
    watch = NoveltyDetector(MODEL)
    source = weigh.rows(rows)
    result = [row for chunk in source.chunks(size=300) for row in watch.flag_rows(chunk)]
    assert [row.row for row in result] == [7, 507, 1007, 1507]
    again = watch.result(result)
    assert (again.rows, again.n_rows) == (whole.rows, whole.n_rows)
    assert [each.p for each in again.columns] == pytest.approx([each.p for each in whole.columns])
    assert watch.n_flagged == 4


def test_html_has_a_table_of_the_reasons():
    html = weigh.unfamiliar(MODEL, ROWS | {"animal": ["unicorn"] * N})._repr_html_()
    for heading in ("row", "column", "value", "why"):
        assert f">{heading}</th>" in html
    assert ">unicorn</td>" in html
    assert f"… and {N - 10:,} more" in html


def test_json_holds_everything():
    data = json.loads(json.dumps(weigh.unfamiliar(MODEL, ROWS | {"height": TABLE["height"] + 9}).to_dict()))
    assert len(data["rows"]) == N
    assert {column["column"]: column["shifted"] for column in data["columns"]}["height"] is True


def test_models_without_training_rows_are_rejected():
    with pytest.raises(errors.Unsupported, match="got LinearModel, which does not remember"):
        weigh.unfamiliar(
            weigh.NaiveBayes().fit({"a": ["x", "y"], "y": [0, 1]}, "y").model_.linear(), {"a": "x"}
        )
