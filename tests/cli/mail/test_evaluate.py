"""`weigh mail evaluate` and `audit`: what would have happened, and what may lie in the wrong folder."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.cli.mail.conftest import ham, spam
from weigh._core import MailLedger
from weigh.apps.mail.audit import audit_mails
from weigh.apps.mail.evaluation.filters import Bogofilter
from weigh.apps.mail.features import FeatureExtractor
from weigh.apps.mail.verdict import logistic
from weigh.errors import DataError, ParameterError
from weigh.source.mail import batches, messages

SIDES = ("--spam", "spam", "--ham", "ham")


def filters(told):
    assert told.exit_code == 0, told.output
    return [each["filter"] for each in json.loads(told.stdout)["filters"]]


def test_all_learners_are_tried_side_by_side(run):
    told = run("evaluate", *SIDES, "--no-bogofilter", "--json")
    assert filters(told) == ["naive-bayes", "logistic", "perceptron"]
    found = json.loads(told.stdout)
    assert (found["hams"], found["spams"], found["order"]) == (4, 4, "time")
    assert [each["learned"] for each in found["filters"]] == [7, 7, 7]


def test_mails_of_both_kinds_are_told(run):
    told = run("evaluate", *SIDES, "spam/0.eml", "--no-bogofilter", "--json")
    assert told.exit_code == 0
    assert told.stderr == (
        "weigh: 1 mail was given as both spam and ham. No filter can be right about both.\n"
    )
    assert run("evaluate", *SIDES, "--no-bogofilter", "--json").stderr == ""


@pytest.mark.skipif(not Bogofilter.is_installed(), reason="bogofilter is not installed")
def test_bogofilter_is_tried_too(run):
    assert filters(run("evaluate", *SIDES, "--learner", "logistic", "--json")) == ["logistic", "bogofilter"]


def test_a_store_is_asked_and_not_changed(taught, folder):
    before = {path.name: path.read_bytes() for path in (folder / "store").iterdir()}
    told = taught(
        "evaluate", *SIDES, "--no-bogofilter", "--learner", "naive-bayes", "--store", "store", "--json"
    )
    assert filters(told) == ["naive-bayes", "your store"]
    # It has learned these very mails.
    assert [json.loads(told.stdout)["filters"][1][name] for name in ("ham_errors", "spam_errors")] == [0, 0]
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
    told = run("evaluate", *SIDES, "--no-bogofilter", "--learner", "naive-bayes", *options, "--json")
    found = json.loads(told.stdout)
    assert (found["feedback"], found["warm"], found["order"]) == (expected, 2, "shuffled")


@pytest.mark.parametrize("rule", ["late", "delayed", "delayed=x", "partial=", "errors=1", "immediate="])
def test_other_rules_of_feedback_are_refused(run, rule):
    refused = run("evaluate", *SIDES, "--feedback", rule)
    assert refused.exit_code == 2
    assert refused.stderr.endswith(
        f"Error: Invalid value for '--feedback': {rule!r} is none of "
        "immediate, delayed=N, partial=SHARE, errors.\n"
    )


def test_a_trial_can_be_drawn(run, folder):
    told = run("evaluate", *SIDES, "--no-bogofilter", "--plot", "trial.svg", "--what", "roc")
    assert told.exit_code == 0
    assert (folder / "trial.svg").read_text().startswith("<svg")
    refused = run("evaluate", *SIDES, "--plot", "trial.gif")
    assert refused.stderr.endswith("'trial.gif' does not end in .svg, .png or .html.\n")


def test_an_explanation_tells_the_verdict_and_can_be_drawn(taught, folder):
    told = taught("explain", "spam/0.eml", "--plot", "why.svg")
    assert told.exit_code == 0
    assert told.stdout.startswith("spam, probability of spam ")
    assert (folder / "why.svg").exists()
    found = json.loads(taught("explain", "--json", input=spam(0)).stdout)
    parts = sum(each["contribution"] for each in found["reasons"]) + sum(found["biases"].values())
    assert found["score"] == pytest.approx(parts)


def test_a_mail_in_the_wrong_folder_comes_first(run, folder):
    (folder / "ham" / "wrong.eml").write_bytes(spam(1).replace(b"today", b"tomorrow"))
    told = run("audit", *SIDES, "--most", "1")
    assert told.exit_code == 0
    head, _, names, row = told.stdout.splitlines()
    assert head.startswith("Each mail judged by all others: doubted are ")
    assert names.split() == ["mail", "is", "P(label)"]
    assert row.split()[:2] == ["ham/wrong.eml", "ham"]
    found = json.loads(run("audit", *SIDES, "--json").stdout)
    assert found["mails"] == {"spam": 4, "ham": 5}
    assert len(found["doubts"]) == 9
    assert found["doubts"][0]["place"] == "ham/wrong.eml"
    assert run("audit", *SIDES, "--plot", "doubts.svg").stdout.endswith("\nThe picture is in doubts.svg.\n")
    assert (folder / "doubts.svg").exists()


def test_an_audit_judges_each_mail_as_learning_all_others_would(folder):
    mails = [(spam(at), 1) for at in range(4)] + [(ham(at), 0) for at in range(4)]
    prints = FeatureExtractor().hashed_features([content for content, _ in mails])
    expected = []
    for left_out, (_, is_spam) in enumerate(mails):
        ledger = MailLedger("naive-bayes")
        rest = [at for at in range(8) if at != left_out]
        ledger.learn([prints[at] for at in rest], bytes(mails[at][1] for at in rest))
        score = ledger.judge([prints[left_out]])[0]
        expected.append(logistic(score if is_spam else -score))
    found = audit_mails({"spam": lambda: messages("spam"), "ham": lambda: messages("ham")})
    assert [doubt.probability for doubt in found.doubts] == pytest.approx(sorted(expected), rel=1e-12)
    assert found.doubted["spam"] == sum(each < 0.5 for each in expected[:4])
    assert found.doubted["ham"] == sum(each < 0.5 for each in expected[4:])


@pytest.mark.parametrize("rows", [1, 256])
def test_copies_do_not_vouch_for_each_other(folder, monkeypatch, rows):
    monkeypatch.setattr("weigh.apps.mail.audit.batches", partial(batches, rows=rows))
    looks = {"spam": lambda: messages("spam"), "ham": lambda: messages("ham")}
    before = audit_mails(looks)
    (folder / "ham" / "copy.eml").write_bytes(b"From x Mon\nX-Weigh: ham\n" + ham(0))
    after = audit_mails(looks)
    assert (before.copies, after.copies) == (0, 1)
    assert (after.mails, after.doubts) == (before.mails, before.doubts)


def test_a_mail_of_both_kinds_is_told_as_such(folder):
    (folder / "ham" / "twin.eml").write_bytes(spam(0))
    found = audit_mails({"spam": lambda: messages("spam"), "ham": lambda: messages("ham")})
    assert {each.place for each in found.doubts if each.has_both} == {"ham/twin.eml", "spam/0.eml"}
    assert [line.split()[1] for line in str(found).splitlines() if "twin" in line] == ["both"]


def test_an_audit_prints_within_80_columns(folder):
    long = folder / "ham" / ("long" * 50 + ".eml")
    long.write_bytes(b"Subject: hello\n\nhello\n")
    found = audit_mails({"spam": lambda: messages("spam"), "ham": lambda: messages("ham")})
    assert max(map(len, str(found).splitlines())) <= 80
    assert "long.eml" in str(found)
    assert "<table" in found._repr_html_()


def test_an_audit_takes_mail_of_both_kinds(folder):
    with pytest.raises(DataError, match=r"^There is no ham\. An audit takes mail of both kinds\.$"):
        audit_mails({"spam": lambda: messages("spam"), "ham": lambda: iter(())})
    with pytest.raises(ParameterError, match="most"):
        audit_mails({}, most=0)


@pytest.mark.parametrize("command", ["evaluate", "audit"])
def test_mail_of_both_kinds_is_needed(run, folder, command):
    (folder / "empty").mkdir()
    told = run(command, "--spam", "empty", "--ham", "ham")
    assert (told.exit_code, told.stderr) == (1, "weigh: There is no mail in empty.\n")


@pytest.mark.parametrize("command", ["evaluate", "audit"])
def test_a_picture_that_cannot_be_written_is_refused_before_the_work(run, command):
    told = run(command, "--spam", "nowhere", "--ham", "ham", "--plot", "nowhere/x.svg")
    assert told.exit_code == 2
    assert "'nowhere/x.svg' cannot be written: 'nowhere' is not a folder." in told.stderr
