"""Predict, evaluate, explain, verify and diff: whole outputs of small cases."""

from __future__ import annotations

import json

import pytest

import weigh


def test_predict_writes_csv(fitted):
    result = fitted("predict", "mails.weigh", "new.csv")
    assert (result.exit_code, result.output) == (
        0,
        "prediction,probability\nnot-spam,0.516129\nspam,0.645756\n",
    )


def test_predict_ignores_a_label_column(fitted):
    assert fitted("predict", "mails.weigh", "mails.csv").output.count("\n") == 6


def test_predict_gives_all_probabilities_and_flags_odd_rows(run, tmp_path):
    (tmp_path / "mails.csv").write_text("familiarity,spam\n" + 100 * "high,no\nhigh,no\nlow,yes\n")
    (tmp_path / "new.csv").write_text("familiarity\nlow\nunheard-of\n")
    run("fit", "mails.csv", "--label", "spam")
    result = run("predict", "mails.weigh", "new.csv", "--check")
    assert result.stdout.splitlines()[2].endswith(",familiarity = unheard-of: never seen")
    assert result.stdout.splitlines()[1].endswith(",")
    assert result.stderr == (
        "1 row of 2 unlike the training rows (false alarms: about 1 %).\nToo few rows to test the columns.\n"
    )


def test_five_training_rows_are_too_few_to_call_a_value_odd(fitted):
    result = fitted("predict", "mails.weigh", "new.csv", "--proba", "--check")
    assert result.stdout == (
        "prediction,probability,P(not-spam),P(spam),unfamiliar\n"
        "not-spam,0.516129,0.516129,0.483871,\n"
        "spam,0.645756,0.354244,0.645756,\n"
    )
    assert result.stderr == (
        "0 rows of 2 unlike the training rows (false alarms: about 17 %).\n"
        "Too few rows to test the columns.\n"
    )


def test_predict_writes_json_lines_equal_to_the_models_answers(fitted):
    lines = fitted("predict", "mails.weigh", "new.csv", "--json", "--proba").output.splitlines()
    model = weigh.load("mails.weigh")
    shares = model.predict_proba(weigh.open("new.csv"))
    for line, row in zip(map(json.loads, lines), shares.tolist(), strict=True):
        assert list(line["probabilities"].values()) == row
        assert line["probability"] == max(row)


def test_predict_writes_a_file_only_when_all_is_well(fitted, tmp_path):
    assert fitted("predict", "mails.weigh", "new.csv", "-o", "out.csv").stdout == ""
    before = (tmp_path / "out.csv").read_text()
    (tmp_path / "bad.csv").write_text("CS373\n1\n")
    assert fitted("predict", "mails.weigh", "bad.csv", "-o", "out.csv").exit_code == 1
    assert (tmp_path / "out.csv").read_text() == before
    assert not list(tmp_path.glob(".weigh-*"))


@pytest.mark.parametrize("options", [(), ("--unsure", "0.1"), ("--proba", "--json")])
def test_predict_scores_every_row_once(fitted, monkeypatch, options):
    from weigh.model import BayesModel

    scored = []
    plain = BayesModel.score_chunk
    monkeypatch.setattr(BayesModel, "score_chunk", lambda *a: scored.append(a[1].n_rows) or plain(*a))
    assert fitted("predict", "mails.weigh", "new.csv", *options).exit_code == 0
    assert scored == [2]


def test_predict_says_unsure_where_an_error_may_cost_more(fitted):
    assert fitted("predict", "mails.weigh", "new.csv", "--unsure", "0.4").output.splitlines()[1:] == [
        "unsure,0.516129",
        "spam,0.645756",
    ]


def test_predict_weighs_costs(fitted):
    verdicts = fitted("predict", "mails.weigh", "new.csv", "--cost", "not-spam:spam=9").output
    assert verdicts.splitlines()[1:] == ["not-spam,0.516129", "not-spam,0.354244"]


def test_digits_in_a_short_file_are_read_as_the_texts_of_training(run, tmp_path):
    (tmp_path / "train.csv").write_text("room,y\n12,p\n12,p\nhall,q\n14,q\n")
    (tmp_path / "short.csv").write_text("room\n12\n")
    run("fit", "train.csv", "--label", "y")
    assert "never seen" not in run("predict", "train.weigh", "short.csv", "--check").output


def test_evaluate_prints_the_evaluation(fitted):
    model = weigh.load("mails.weigh")
    expected = str(weigh.evaluate(model, weigh.open("mails.csv", "spam")))
    assert fitted("evaluate", "mails.weigh", "mails.csv").stdout == expected + "\n"
    as_json = json.loads(fitted("evaluate", "mails.weigh", "mails.csv", "--json").stdout)
    assert as_json["n"] == 5


@pytest.mark.parametrize("learner", ["naive-bayes", "joint", "logistic", "perceptron"])
def test_evaluating_the_training_rows_is_noted(run, tmp_path, learner):
    assert run("fit", "mails.csv", "--label", "spam", "--learner", learner).exit_code == 0
    note = "The model was trained on these rows, so the figures are too good. Evaluate it on\nother rows.\n"
    assert note in run("evaluate", "mails.weigh", "mails.csv").stdout
    as_json = json.loads(run("evaluate", "mails.weigh", "mails.csv", "--json").stdout)
    assert (as_json["is_training_data"], as_json["training_share"]) == (True, 1.0)
    (tmp_path / "others.csv").write_text((tmp_path / "mails.csv").read_text().replace("medium", "low"))
    assert "trained on" not in run("evaluate", "mails.weigh", "others.csv").stdout


def test_other_numbers_of_rows_are_read_once(fitted, tmp_path, monkeypatch):
    from weigh.model import BayesModel

    monkeypatch.setattr(BayesModel, "has_learned", None)
    (tmp_path / "fewer.csv").write_text("".join((tmp_path / "mails.csv").read_text().splitlines(True)[:4]))
    assert fitted("evaluate", "mails.weigh", "fewer.csv").exit_code == 0


def test_evaluate_draws_the_selected_picture(fitted, tmp_path):
    printed = fitted("evaluate", "mails.weigh", "mails.csv", "--plot", "roc.svg", "--what", "roc").stdout
    assert printed.endswith("\n\nThe picture is in roc.svg.\n")
    assert "area" in (tmp_path / "roc.svg").read_text()
    assert fitted("evaluate", "mails.weigh", "mails.csv", "--plot", "c.png", "--json").stdout[0] == "{"
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--plot", "roc.pdf"), 2, "'roc.pdf' does not end in .svg, .png or .html."),
        (("--what", "roc"), 2, "--what selects a picture; give --plot FILE too."),
        (("--plot", "a.svg", "--what", "rocks"), 2, "'rocks' is not one of"),
        (("--plot", "a.svg", "--what", "residuals"), 1, "what must be one of 'confusion'"),
    ],
)
def test_evaluate_refuses_pictures_that_cannot_be_drawn(fitted, tmp_path, options, code, words):
    result = fitted("evaluate", "mails.weigh", "mails.csv", *options)
    assert result.exit_code == code
    assert words in " ".join(result.output.split())
    assert not (tmp_path / "a.svg").exists()


EXPLAINED = """not-spam: probability 51.61 % against spam

  class prior           +0.4055  ++++++++
  CS373 = 1             +0.4700  +++++++++
  investment = 1        −0.6286  −−−−−−−−−−−−
  familiarity = high    −0.1823  −−−
  total                 +0.0645  nats
"""
WORKED = """                             not-spam                 spam
P(class)                     3/5                      2/5
P(CS373=1 | class)           (1 + 1) / (3 + 2) = 2/5  (0 + 1) / (2 + 2) = 1/4
P(investment=1 | class)      (1 + 1) / (3 + 2) = 2/5  (2 + 1) / (2 + 2) = 3/4
P(familiarity=high | class)  (1 + 1) / (3 + 3) = 2/6  (1 + 1) / (2 + 3) = 2/5
product                      24/750                   12/400
                             = 4/125 = 0.032          = 3/100 = 0.03
posterior                    16/31 = 0.516129         15/31 = 0.483871
verdict: not-spam
"""
STRONGEST = """What speaks for spam:
                       nats  in class  in the rest
  investment = 1      +0.63   75.00 %      40.00 %
  CS373 = 0           +0.22   75.00 %      60.00 %
  familiarity = high  +0.18   40.00 %      33.33 %
"""


def test_explain_shows_the_evidence_of_a_row(fitted):
    assert fitted("explain", "mails.weigh", "new.csv", "--row", "0").output == EXPLAINED


def test_explain_works_a_row_out_in_fractions(fitted):
    assert fitted("explain", "mails.weigh", "new.csv", "--row", "0", "--worked").output == WORKED
    latex = fitted("explain", "mails.weigh", "new.csv", "--row", "0", "--latex").output
    assert r"\frac{24}{750}" in latex


def test_a_row_may_be_json_and_absent_columns_are_missing(fitted):
    values = '{"CS373": 1, "investment": 1, "familiarity": "high"}'
    assert fitted("explain", "mails.weigh", "--values", values).output == EXPLAINED
    result = fitted("explain", "mails.weigh", "--values", '{"CS373": 1}', "--json")
    assert [row["feature"] for row in json.loads(result.output)["evidence"]] == ["class prior", "CS373"]


def test_explain_without_a_row_lists_the_strongest_features(fitted):
    assert fitted("explain", "mails.weigh", "--class", "spam", "--most", "3").output == STRONGEST


VERIFIED = """Counted 5 rows again: everything agrees.

  checked                                numbers  result
  the file's digest                            1   agree
  rows of each class                           2   agree
  CS373 (category)                             3   agree
  investment (category)                        3   agree
  familiarity (category)                       5   agree
  class probabilities sum to 1                 1   agree
  probabilities within classes sum to 1        6   agree
  posteriors of the first rows sum to 1        5   agree
"""


def test_verify_agrees_with_the_training_file(fitted):
    result = fitted("verify", "mails.weigh", "mails.csv")
    assert (result.exit_code, result.output) == (0, VERIFIED)


def test_verify_exits_with_1_when_the_data_differ(fitted, tmp_path):
    (tmp_path / "mails.csv").write_text((tmp_path / "mails.csv").read_text().replace("medium", "high"))
    result = fitted("verify", "mails.weigh", "mails.csv")
    assert result.exit_code == 1
    assert result.output.startswith("Counted 5 rows again: 1 of 8 checks failed.")
    assert result.output.endswith(
        "  familiarity (category)                 model  data\n"
        "  count of 'high' in class 'not-spam'        1     2\n"
        "  count of 'medium' in class 'not-spam'      1     0\n"
    )
    assert json.loads(fitted("verify", "mails.weigh", "mails.csv", "--json").output)["ok"] is False


def test_a_damaged_model_file_is_refused(fitted, tmp_path):
    whole = (tmp_path / "mails.weigh").read_bytes()
    (tmp_path / "mails.weigh").write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    result = fitted("verify", "mails.weigh", "mails.csv")
    assert result.exit_code == 1
    assert result.output.startswith("weigh: mails.weigh ")


def test_diff_prints_what_changed(fitted):
    fitted("fit", "mails.csv", "mails.csv", "--label", "spam", "-o", "two.weigh", "--set", "prior=2")
    result = fitted("diff", "mails.weigh", "two.weigh")
    assert result.output.startswith(
        "Settings:\n  prior: 1.0 → 2.0\n\nRows:\n"
        "  class     old  new  change\n"
        "  not-spam    3    6      +3\n"
        "  spam        2    4      +2\n"
        "  all         5   10      +5\n"
    )
    assert fitted("diff", "mails.weigh", "mails.weigh").output == "The models are the same, byte for byte.\n"
    assert json.loads(fitted("diff", "mails.weigh", "two.weigh", "--json").output)["same"] is False


@pytest.mark.parametrize(
    "command",
    [
        *(
            "demo",
            "split",
            "fit",
            "tune",
            "predict",
            "evaluate",
            "explain",
            "learn",
            "forget",
            "merge",
            "verify",
        ),
        "diff",
    ],
)
def test_help_fits_80_columns_and_teaches_by_examples(run, command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Examples:\n  weigh " + command in result.output
    assert max(map(len, result.output.splitlines())) <= 82


def test_audit_names_the_option_for_rows_of_unknown_origin(run, tmp_path):
    rows = [f"{'ab'[k % 2]},{k % 3},{'yn'[k % 5 < 2]}" for k in range(60)]
    (tmp_path / "all.csv").write_text("\n".join(["x,n,y", *rows]) + "\n")
    (tmp_path / "part.csv").write_text("\n".join(["x,n,y", *rows[:30]]) + "\n")
    run("fit", "all.csv", "--label", "y", "--learner", "naive-bayes")
    result = run("audit", "all.weigh", "part.csv")
    assert result.exit_code == 0, result.output
    assert "too little. Then give --seen." in " ".join(result.output.split())


def test_audit_writes_the_format_of_the_ending(fitted, tmp_path):
    for name in ("out.csv", "out.jsonl"):
        result = fitted("audit", "mails.weigh", "mails.csv", "-o", name)
        assert result.exit_code == 0, result.output
    header, first = (tmp_path / "out.csv").read_text().splitlines()[:2]
    cells = dict(zip(header.split(","), first.split(","), strict=True))
    line = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert list(line) == ["row", "label", "probability", "said"]
    assert cells == {name: str(value) for name, value in line.items()}
    refused = fitted("audit", "mails.weigh", "mails.csv", "-o", "out.ods")
    assert "'out.ods' ends in .ods, which cannot be written." in refused.stderr
