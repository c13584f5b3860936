"""`weigh learn`, `forget` and `merge`: exact, atomic, and clear about models that cannot."""

from __future__ import annotations

import json

import pytest

import weigh

MORE = "CS373,investment,familiarity,spam\n1,1,new,spam\n0,0,low,ad\n"


@pytest.fixture
def updated(fitted, tmp_path):
    """Run `weigh` in a folder with mails.weigh, more.csv and all.csv, which has the rows of both."""
    (tmp_path / "more.csv").write_text(MORE)
    (tmp_path / "all.csv").write_text((tmp_path / "mails.csv").read_text() + MORE.split("\n", 1)[1])
    kinds = ("--kind", "CS373=category", "--kind", "investment=category", "--kind", "familiarity=category")
    assert fitted("fit", "all.csv", "--label", "spam", *kinds).exit_code == 0
    return fitted


def test_learning_rows_gives_the_model_of_all_rows(updated, tmp_path):
    result = updated("learn", "mails.weigh", "more.csv", "-o", "new/more.weigh")
    assert result.output == (
        "Learned 2 rows of more.csv.\n\n"
        "class     rows before  rows\n"
        "not-spam            3     3\n"
        "spam                2     3\n"
        "ad                  0     1\n\n"
        "The model is in new/more.weigh.\n"
    )
    assert (tmp_path / "new" / "more.weigh").read_bytes() == (tmp_path / "all.weigh").read_bytes()


def test_forgetting_rows_gives_the_model_without_them(updated, tmp_path):
    before = (tmp_path / "mails.weigh").read_bytes()
    result = updated("forget", "all.weigh", "more.csv")
    assert result.output == (
        "Forgot 2 rows of more.csv.\n\n"
        "class     rows before  rows\n"
        "ad                  1     0\n"
        "not-spam            3     3\n"
        "spam                3     2\n\n"
        "The model is in all.weigh (replaced).\n"
    )
    assert (tmp_path / "all.weigh").read_bytes() == before


def test_merging_models_gives_the_model_of_their_rows(updated, tmp_path):
    assert updated("learn", "mails.weigh", "more.csv", "-o", "both.weigh").exit_code == 0
    assert updated("forget", "both.weigh", "mails.csv", "-o", "more.weigh").exit_code == 0
    result = updated("merge", "mails.weigh", "more.weigh", "-o", "merged.weigh")
    assert result.output == (
        "Merged 2 models: mails.weigh, more.weigh.\n\n"
        "class     rows\nad           1\nnot-spam     3\nspam         3\n\n"
        "The model is in merged.weigh.\n"
    )
    assert (tmp_path / "merged.weigh").read_bytes() == (tmp_path / "all.weigh").read_bytes()


def test_json_has_the_rows_before_and_after(updated):
    result = updated("learn", "mails.weigh", "mails.csv", "mails.csv", "--json")
    assert json.loads(result.output) == {
        "model": "mails.weigh",
        "replaced": True,
        "data": ["mails.csv", "mails.csv"],
        "rows_before": 5,
        "rows": 15,
        "classes": [
            {"class": "not-spam", "before": 3, "rows": 9},
            {"class": "spam", "before": 2, "rows": 6},
        ],
    }
    assert weigh.load("mails.weigh").counts.rows.tolist() == [9, 6]


def test_a_refused_update_leaves_the_model_as_it_was(updated, tmp_path):
    before = (tmp_path / "mails.weigh").read_bytes()
    result = updated("forget", "mails.weigh", "more.csv")
    assert (result.exit_code, result.output) == (
        1,
        "weigh: These rows were not all learned by this model: subtracting them makes some counts negative. "
        "The model is unchanged.\n",
    )
    (tmp_path / "bad.csv").write_text(MORE + '0,"\n')
    assert updated("learn", "mails.weigh", "bad.csv").exit_code == 1
    assert (tmp_path / "mails.weigh").read_bytes() == before


@pytest.mark.parametrize("learner", ["perceptron", "logistic", "threshold"])
@pytest.mark.parametrize(("command", "verb"), [("learn", "learn more rows"), ("forget", "forget rows")])
def test_other_models_say_that_they_cannot_and_what_to_do(run, tmp_path, learner, command, verb):
    (tmp_path / "t.csv").write_text("x,y\n1.5,a\n2.5,b\n1.25,a\n2.25,b\n3.5,a\n")
    assert run("fit", "t.csv", "--label", "y", "--learner", learner).exit_code == 0
    result = run(command, "t.weigh", "t.csv")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"weigh: t.weigh is a {learner} model, which cannot {verb}: its ")
    assert result.stderr.endswith(
        "Train one that can, on the rows that it should know: weigh fit DATA... --learner naive-bayes (or "
        "joint).\n"
    )


def test_a_calibration_is_dropped_with_a_note(fitted):
    fitted("fit", "mails.csv", "--label", "spam", "--set", "calibration=temperature", "-o", "sure.weigh")
    result = fitted("learn", "sure.weigh", "mails.csv", "-o", "more.weigh")
    assert result.stderr == (
        "weigh: note: The calibration of sure.weigh is dropped, because it is valid only for the rows it was "
        "fitted to. Calibrate the new model with `weigh calibrate`.\n"
    )
    assert weigh.load("more.weigh").counts.rows.tolist() == [6, 4]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("merge", "mails.weigh", "-o", "m.weigh"), "Give two models or more."),
        (("merge", "mails.weigh", "mails.weigh", "-o", "mails.weigh"), "mails.weigh is also an input"),
        (("learn", "mails.weigh", "mails.csv", "-o", "mails.csv"), "mails.csv is also an input"),
        (("learn", "mails.weigh", "new.csv"), "new.csv has no column 'spam'"),
    ],
)
def test_wrong_uses_are_refused(fitted, arguments, message):
    result = fitted(*arguments)
    assert result.exit_code in (1, 2)
    assert message in result.stderr


def test_models_of_other_columns_are_not_merged(fitted):
    assert (
        fitted("fit", "mails.csv", "--label", "spam", "--kind", "CS373=flag", "-o", "f.weigh").exit_code == 0
    )
    result = fitted("merge", "mails.weigh", "f.weigh", "-o", "m.weigh")
    assert result.stderr == (
        "weigh: The models cannot merge: column 'CS373' is Category() in the first and Flag() in the second. "
        "Train the second with the --kind options of the first.\n"
    )
