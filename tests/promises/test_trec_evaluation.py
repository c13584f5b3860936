"""Spam filters are evaluated as at TREC, on the user's own mailbox, before one is trusted."""

from __future__ import annotations

import json
import mailbox
import math
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from weigh.apps.mail.evaluation.mail_stream import Feedback, Judgement, Mail
from weigh.apps.mail.evaluation.online_evaluation import evaluate_filters
from weigh.cli.main import app


class FixedFilter:
    """Scores a mail by the number in it, and calls it spam above 5."""

    name = "fixed"

    def __init__(self) -> None:
        self.learned: list[bytes] = []

    def judge(self, mail: Mail) -> Judgement:
        score = float(mail.content)
        return Judgement(score, "spam" if score > 5 else "ham")

    def learn(self, mail: Mail, label: str) -> None:
        self.learned.append(mail.content)


SCORES = {"ham": [0, 1, 2, 3, 6, 4, 0, 1, 2, 3], "spam": [9, 8, 7, 6, 4, 9, 8, 7, 6, 9]}


@pytest.fixture
def stream() -> list[Mail]:
    """Ten hams, one with a high score, and ten spams, one with a low score, taking turns."""
    pairs = zip(SCORES["ham"], SCORES["spam"], strict=True)
    scored = [(label, score) for pair in pairs for label, score in zip(("ham", "spam"), pair, strict=True)]
    return [Mail(b"%d" % score, f"{k}", label, at=float(k)) for k, (label, score) in enumerate(scored)]


def test_the_measures_are_those_of_trec(stream: list[Mail]) -> None:
    found = evaluate_filters([FixedFilter()], stream, order="time").result("fixed")
    assert (found.ham_errors, found.spam_errors) == (1, 1)
    assert found.measure("hm").value == pytest.approx(10.0)
    assert found.measure("sm").value == pytest.approx(10.0)
    # The logistic average of two equal rates is that rate.
    assert found.measure("lam").value == pytest.approx(10.0)
    above = sum((ham > spam) + (ham == spam) / 2 for ham in SCORES["ham"] for spam in SCORES["spam"])
    assert found.measure("1-roca").value == pytest.approx(100 * above / 100)
    # Losing none of ten hams takes a threshold of more than 6, which misses the spams up to 6.
    missed = sum(spam <= max(SCORES["ham"]) for spam in SCORES["spam"])
    assert found.measure("sm_at_hm").value == pytest.approx(10 * missed)
    for name in ("hm", "sm", "lam", "1-roca"):
        assert found.measure(name).low < found.measure(name).value < found.measure(name).high


def test_every_mail_is_judged_before_its_label_is_given(stream: list[Mail]) -> None:
    learner = FixedFilter()
    evaluate_filters([learner], stream, order="time", feedback=Feedback(delay=5))
    assert learner.learned == [mail.content for mail in stream[: len(learner.learned)]]
    assert len(learner.learned) < len(stream)
    errors_only = FixedFilter()
    evaluate_filters([errors_only], stream, order="time", feedback=Feedback(errors_only=True))
    assert errors_only.learned == [b"6", b"4"]


def write_mailbox(path: Path, texts: list[str]) -> None:
    box = mailbox.mbox(path)
    for k, text in enumerate(texts):
        message = EmailMessage()
        message["From"], message["Subject"] = f"someone{k}@example.org", text.split()[0]
        message["Date"] = f"Mon, {1 + k % 28:02} Jan 2024 10:{k % 60:02}:00 +0000"
        message.set_content(text)
        box.add(message)
    box.close()


def test_all_learners_are_tried_on_the_users_own_mailboxes(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    write_mailbox(tmp_path / "inbox.mbox", [f"lunch meeting report {k}" for k in range(40)])
    write_mailbox(tmp_path / "junk.mbox", [f"cheap pills offer {k}" for k in range(40)])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    options = ["--spam", "junk.mbox", "--ham", "inbox.mbox", "--no-bogofilter", "--json"]
    result = CliRunner().invoke(app, ["mail", "evaluate", *options])
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert (facts["hams"], facts["spams"]) == (40, 40)
    assert {each["filter"] for each in facts["filters"]} == {"naive-bayes", "logistic", "perceptron"}
    for each in facts["filters"]:
        measures = {measure["name"]: measure["value"] for measure in each["measures"]}
        assert all(map(math.isfinite, measures.values()))
        assert measures["1-roca"] < 5
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
