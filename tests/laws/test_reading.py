"""Values of a file are read with the types of the model, independently of the other rows of the file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import weigh
from weigh.cli.main import app

WORDS = "c,d,y\n1,a,no\n1,b,no\nx,a,yes\nx,b,yes\n1,a,no\n"
DIGITS = "c,d\n1,a\n01,b\n1,b\n"
WHOLE = "c,d,y\n1,a,no\n1,b,no\n2,a,yes\n2,b,yes\n1,a,no\n"
ODD = "c,d\n1,a\n02,a\n 2,b\n2.0,b\nx,b\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str) -> str:
    Path(name).write_text(text)
    return name


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments, prog_name="weigh")
    assert result.exit_code == 0, result.output
    return result.stdout


def fitted(learner: Any, text: str) -> Any:
    return learner(columns={"c": "category"}).fit(weigh.open(write("train.csv", text), "y"))


@pytest.mark.parametrize("learner", [weigh.NaiveBayes, weigh.JointBayes])
@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
def test_digits_in_a_file_match_the_strings_of_training(learner):
    nb = fitted(learner, WORDS)
    probabilities = nb.predict_proba(weigh.open(write("new.csv", DIGITS)))
    np.testing.assert_array_equal(
        probabilities, nb.predict_proba({"c": ["1", "01", "1"], "d": ["a", "b", "b"]})
    )


@pytest.mark.parametrize("learner", [weigh.NaiveBayes, weigh.JointBayes])
@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
def test_one_odd_value_does_not_turn_integers_of_a_file_into_strings(learner):
    nb = fitted(learner, WHOLE)
    probabilities = nb.predict_proba(weigh.open(write("new.csv", ODD)))
    same = {"c": [1, 2, 2, 2, "x"], "d": ["a", "a", "b", "b", "b"]}
    np.testing.assert_array_equal(probabilities, nb.predict_proba(same))


@pytest.mark.parametrize(("train", "new"), [(WORDS, DIGITS), (WHOLE, ODD), (WHOLE, DIGITS), (WORDS, ODD)])
def test_the_command_line_predicts_like_the_library(train, new):
    write("train.csv", train)
    write("new.csv", new)
    run("fit", "train.csv", "--label", "y", "-o", "m.weigh")
    predictions = list(csv.DictReader(run("predict", "m.weigh", "new.csv").splitlines()))
    proba = weigh.load("m.weigh").predict_proba(weigh.open("new.csv")).max(axis=1)
    assert [float(row["probability"]) for row in predictions] == pytest.approx(proba, abs=1e-6)


def test_numeric_looking_labels_match_string_classes():
    model = weigh.NaiveBayes().fit(weigh.open(write("train.csv", "c,y\na,1\nb,x\na,1\n"), "y"))
    assert model.score(weigh.open(write("new.csv", "c,y\na,1\n"), "y")) == 1.0


def test_learning_and_forgetting_a_file_of_digits_keeps_strings():
    whole = weigh.NaiveBayes(columns={"c": "category"}).fit(
        {"c": ["1", "x", "1"], "d": ["a", "b", "a"], "y": ["no", "yes", "no"]}, "y"
    )
    first = weigh.NaiveBayes(columns={"c": "category"}).fit(
        {"c": ["1", "x"], "d": ["a", "b"], "y": ["no", "yes"]}, "y"
    )
    before = first.model_.to_bytes()
    more = write("more.csv", "c,d,y\n1,a,no\n")
    assert first.partial_fit(weigh.open(more, "y")).model_.to_bytes() == whole.model_.to_bytes()
    assert first.forget(weigh.open(more, "y")).model_.to_bytes() == before


def test_a_text_column_may_contain_only_numbers():
    path = write("train.csv", "t,y\n12 13,no\n14,yes\n14,yes\n")
    nb = weigh.NaiveBayes(columns={"t": "text"}).fit(weigh.open(path, "y"))
    assert nb.predict(weigh.open(write("new.csv", "t\n14\n"))).tolist() == ["yes"]


@pytest.mark.parametrize("learner", [weigh.NaiveBayes, weigh.JointBayes, weigh.Threshold])
@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
def test_score_is_the_accuracy_with_missing_markers(learner):
    x = [1.0, 2.0, -999.0, 8.0, 9.0, -999.0, -999.0, -999.0]
    y = np.array(["no", "no", "no", "yes", "yes", "yes", "yes", "yes"])
    nb = learner(columns={"x": "number"} if learner is not weigh.JointBayes else "auto", missing=[-999])
    nb.fit({"x": x}, y)
    assert nb.score({"x": x}, y) == np.mean(nb.predict({"x": x}) == y)


def test_missing_markers_of_a_source_are_saved_with_the_model():
    path = write("train.csv", "c,y\na,no\n?,no\nb,yes\n?,yes\nb,yes\n")
    nb = weigh.NaiveBayes().fit(weigh.open(path, label="y", missing=["?"]))
    assert nb.schema_.missing == ("?",)
    np.testing.assert_array_equal(nb.predict_proba({"c": "?"}), nb.predict_proba({"c": None}))


@pytest.mark.parametrize("learner", [weigh.NaiveBayes, weigh.JointBayes, weigh.Threshold])
@pytest.mark.parametrize("marker", [-999, -999.0, np.int64(-999)])
@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
def test_a_single_number_is_accepted_as_missing_marker(learner, marker):
    table = {"x": [1.0, 2.0, -999.0, 8.0, 9.0], "y": ["no", "no", "no", "yes", "yes"]}
    one, listed = (learner(missing=missing).fit(table, "y") for missing in (marker, [-999]))
    assert one.schema_.missing == listed.schema_.missing
    np.testing.assert_array_equal(one.predict_proba({"x": -999}), listed.predict_proba({"x": None}))


def test_a_missing_marker_must_be_a_string_or_number():
    with pytest.raises(weigh.errors.ParameterError, match=r"NaiveBayes.*missing.*strings or numbers"):
        weigh.NaiveBayes(missing=None).fit({"x": [1, 2]}, [0, 1])


@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
def test_a_file_of_digits_is_evaluated_like_the_strings_of_training():
    nb = fitted(weigh.NaiveBayes, "c,d,y\n1,a,0\n1,b,0\nx,a,no\nx,b,no\n1,a,0\n")
    same = {"c": ["1", "01"], "d": ["a", "b"], "y": ["0", "0"]}
    evaluation = weigh.evaluate(nb, weigh.open(write("new.csv", "c,d,y\n1,a,0\n01,b,0\n"), "y"))
    assert evaluation.to_dict() == weigh.evaluate(nb, same).to_dict()


def test_a_model_of_strings_verifies_against_a_file_of_digits():
    nb = weigh.NaiveBayes(columns={"c": "category"}).fit({"c": ["1", "02"], "y": ["0", "1"]}, "y")
    assert weigh.verify(nb.model_, weigh.open(write("same.csv", "c,y\n1,0\n02,1\n"), "y")).ok


MARKED = "x,c,y\n1,a,no\n-999,?,no\n2,a,no\n-999,b,yes\n8,b,yes\n9,?,yes\n"
KINDS = {"x": "number"}


def test_missing_markers_of_a_learner_apply_to_files_and_tables():
    write("train.csv", MARKED)
    rows = list(csv.DictReader(MARKED.splitlines()))
    table = {"x": [float(row["x"]) for row in rows], "c": [row["c"] for row in rows]}
    sources = [weigh.open("train.csv", "y"), weigh.open("train.csv", "y", missing=["?", -999])]
    models = [weigh.NaiveBayes(columns=KINDS, missing=["?", -999]).fit(source) for source in sources]
    models.append(weigh.NaiveBayes(columns=KINDS, missing=["?", -999]).fit(table, [row["y"] for row in rows]))
    scores = [model.predict_proba(table) for model in models]
    np.testing.assert_array_equal(scores[0], scores[2])
    np.testing.assert_array_equal(scores[1], scores[2])


def test_missing_markers_of_a_model_apply_to_files_opened_without_them():
    write("train.csv", MARKED)
    nb = weigh.NaiveBayes(columns=KINDS).fit(weigh.open("train.csv", "y", missing=["?", -999]))
    plain, marked = weigh.open("train.csv", "y"), weigh.open("train.csv", "y", missing=["?", -999])
    np.testing.assert_array_equal(nb.predict_proba(plain), nb.predict_proba(marked))
    assert nb.score(plain) == nb.score(marked)
    assert weigh.verify(nb.model_, plain).ok
    assert weigh.evaluate(nb, plain).to_dict() == weigh.evaluate(nb, marked).to_dict()
