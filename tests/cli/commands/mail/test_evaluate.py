"""Tests of `weigh mail evaluate`, `explain` and `audit`."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli.commands.mail.conftest import ham, spam
from weigh._core import MailLedger
from weigh.apps.mail.audit import audit_mails
from weigh.apps.mail.evaluation.filters import Bogofilter
from weigh.apps.mail.features import FeatureExtractor
from weigh.apps.mail.verdict import logistic
from weigh.errors import DataError, ParameterError
from weigh.source.mail import batches, messages

LABELLED = ("--spam", "spam", "--ham", "ham")


def filter_names(result):
    assert result.exit_code == 0, result.output
    return [each["filter"] for each in json.loads(result.stdout)["filters"]]


def test_all_learners_are_evaluated_by_default(run):
    result = run("evaluate", *LABELLED, "--no-bogofilter", "--json")
    assert filter_names(result) == ["naive-bayes", "logistic", "perceptron"]
    output = json.loads(result.stdout)
    assert (output["hams"], output["spams"], output["order"]) == (4, 4, "time")
    assert [each["learned"] for each in output["filters"]] == [7, 7, 7]


def test_mails_with_both_labels_are_reported(run):
    result = run("evaluate", *LABELLED, "spam/0.eml", "--no-bogofilter", "--json")
    assert result.exit_code == 0
    assert result.stderr == (
        "weigh: 1 mail was given as both spam and ham. No filter can be right about both.\n"
    )
    assert run("evaluate", *LABELLED, "--no-bogofilter", "--json").stderr == ""


@pytest.mark.skipif(not Bogofilter.is_installed(), reason="bogofilter is not installed")
def test_bogofilter_is_evaluated_if_it_is_installed(run):
    assert filter_names(run("evaluate", *LABELLED, "--learner", "logistic", "--json")) == [
        "logistic",
        "bogofilter",
    ]


def test_a_store_is_evaluated_without_changing_it(trained, folder):
    before = {path.name: path.read_bytes() for path in (folder / "store").iterdir()}
    result = trained(
        "evaluate", *LABELLED, "--no-bogofilter", "--learner", "naive-bayes", "--store", "store", "--json"
    )
    assert filter_names(result) == ["naive-bayes", "your store"]
    # It has learned exactly these mails.
    assert [json.loads(result.stdout)["filters"][1][name] for name in ("ham_errors", "spam_errors")] == [0, 0]
    assert {path.name: path.read_bytes() for path in (folder / "store").iterdir()} == before


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("immediate", {"delay": 0, "share": 1.0, "errors_only": False, "seed": 7}),
        ("delayed=3", {"delay": 3, "share": 1.0, "errors_only": False, "seed": 7}),
        ("partial=0.5", {"delay": 0, "share": 0.5, "errors_only": False, "seed": 7}),
        ("errors", {"delay": 0, "share": 1.0, "errors_only": True, "seed": 7}),
    ],
)
def test_feedback_has_four_rules(run, rule, expected):
    options = ("--feedback", rule, "--order", "shuffled", "--seed", "7", "--warm", "0.25")
    result = run("evaluate", *LABELLED, "--no-bogofilter", "--learner", "naive-bayes", *options, "--json")
    output = json.loads(result.stdout)
    assert (output["feedback"], output["warm"], output["order"]) == (expected, 2, "shuffled")


@pytest.mark.parametrize("rule", ["late", "delayed", "delayed=x", "partial=", "errors=1", "immediate="])
def test_unknown_feedback_rules_are_rejected(run, rule):
    result = run("evaluate", *LABELLED, "--feedback", rule)
    assert result.exit_code == 2
    assert result.stderr.endswith(
        f"Error: Invalid value for '--feedback': {rule!r} is not one of "
        "immediate, delayed=N, partial=SHARE, errors.\n"
    )


def test_an_evaluation_can_be_plotted(run, folder):
    result = run("evaluate", *LABELLED, "--no-bogofilter", "--plot", "plot.svg", "--what", "roc")
    assert result.exit_code == 0
    assert (folder / "plot.svg").read_text().startswith("<svg")
    result = run("evaluate", *LABELLED, "--plot", "plot.gif")
    assert result.stderr.endswith("'plot.gif' does not end in .svg, .png or .html.\n")


def test_an_explanation_gives_the_verdict_and_can_be_plotted(trained, folder):
    result = trained("explain", "spam/0.eml", "--plot", "why.svg")
    assert result.exit_code == 0
    assert result.stdout.startswith("spam, probability of spam ")
    assert (folder / "why.svg").exists()
    output = json.loads(trained("explain", "--json", input=spam(0)).stdout)
    parts = sum(each["contribution"] for each in output["reasons"]) + sum(output["biases"].values())
    assert output["score"] == pytest.approx(parts)


def test_a_mail_in_the_wrong_folder_comes_first(run, folder):
    (folder / "ham" / "wrong.eml").write_bytes(spam(1).replace(b"today", b"tomorrow"))
    result = run("audit", *LABELLED, "--most", "1")
    assert result.exit_code == 0
    header, _, titles, row = result.stdout.splitlines()
    assert header.startswith("Each mail judged by all others: doubtful are ")
    assert titles.split() == ["mail", "label", "P(label)"]
    assert row.split()[:2] == ["ham/wrong.eml", "ham"]
    output = json.loads(run("audit", *LABELLED, "--json").stdout)
    assert output["mails"] == {"spam": 4, "ham": 5}
    assert len(output["doubts"]) == 9
    assert output["doubts"][0]["place"] == "ham/wrong.eml"
    assert run("audit", *LABELLED, "--plot", "doubts.svg").stdout.endswith(
        "\nThe picture is in doubts.svg.\n"
    )
    assert (folder / "doubts.svg").exists()


def test_an_audit_equals_learning_all_other_mails_from_scratch(folder):
    mails = [(spam(i), 1) for i in range(4)] + [(ham(i), 0) for i in range(4)]
    hashed = FeatureExtractor().hashed_features([content for content, _ in mails])
    expected = []
    for left_out, (_, is_spam) in enumerate(mails):
        ledger = MailLedger("naive-bayes")
        others = [i for i in range(8) if i != left_out]
        ledger.learn([hashed[i] for i in others], bytes(mails[i][1] for i in others))
        score = ledger.judge([hashed[left_out]])[0]
        expected.append(logistic(score if is_spam else -score))
    audit = audit_mails({"spam": lambda: messages("spam"), "ham": lambda: messages("ham")})
    assert [mail.probability for mail in audit.doubts] == pytest.approx(sorted(expected), rel=1e-12)
    assert audit.doubted["spam"] == sum(each < 0.5 for each in expected[:4])
    assert audit.doubted["ham"] == sum(each < 0.5 for each in expected[4:])


@pytest.mark.parametrize("rows", [1, 256])
def test_copies_of_a_mail_count_once(folder, monkeypatch, rows):
    monkeypatch.setattr("weigh.apps.mail.audit.batches", partial(batches, rows=rows))
    readers = {"spam": lambda: messages("spam"), "ham": lambda: messages("ham")}
    before = audit_mails(readers)
    (folder / "ham" / "copy.eml").write_bytes(b"From x Mon\nX-Weigh: ham\n" + ham(0))
    after = audit_mails(readers)
    assert (before.copies, after.copies) == (0, 1)
    assert (after.mails, after.doubts) == (before.mails, before.doubts)


def test_a_mail_with_both_labels_is_reported_as_both(folder):
    (folder / "ham" / "copy.eml").write_bytes(spam(0))
    audit = audit_mails({"spam": lambda: messages("spam"), "ham": lambda: messages("ham")})
    assert {each.place for each in audit.doubts if each.has_both} == {"ham/copy.eml", "spam/0.eml"}
    assert [line.split()[1] for line in str(audit).splitlines() if "copy" in line] == ["both"]


def test_an_audit_prints_within_80_columns(folder):
    long = folder / "ham" / ("long" * 50 + ".eml")
    long.write_bytes(b"Subject: hello\n\nhello\n")
    audit = audit_mails({"spam": lambda: messages("spam"), "ham": lambda: messages("ham")})
    assert max(map(len, str(audit).splitlines())) <= 80
    assert "long.eml" in str(audit)
    assert "<table" in audit._repr_html_()


def test_an_audit_needs_both_labels(folder):
    with pytest.raises(DataError, match=r"^There is no ham\. An audit needs both spam and ham\.$"):
        audit_mails({"spam": lambda: messages("spam"), "ham": lambda: iter(())})
    with pytest.raises(ParameterError, match="most"):
        audit_mails({}, most=0)


@pytest.mark.parametrize("command", ["evaluate", "audit"])
def test_a_folder_without_mail_is_rejected(run, folder, command):
    (folder / "empty").mkdir()
    result = run(command, "--spam", "empty", "--ham", "ham")
    assert (result.exit_code, result.stderr) == (1, "weigh: There is no mail in empty.\n")


@pytest.mark.parametrize("command", ["evaluate", "audit"])
def test_an_unwritable_plot_is_rejected_before_the_work(run, command):
    Path("file").write_text("")
    result = run(command, "--spam", "nowhere", "--ham", "ham", "--plot", "file/x.svg")
    assert result.exit_code == 2
    assert "'file/x.svg' cannot be written: 'file' is not a folder." in result.stderr
