"""Tests of Debian's bogofilter as a filter under test, if it is installed."""

from __future__ import annotations

import gc
import math
from pathlib import Path

import pytest

from weigh import errors
from weigh.apps.mail.evaluation.filters import Bogofilter
from weigh.apps.mail.evaluation.mail_stream import Mail
from weigh.apps.mail.evaluation.online_evaluation import evaluate_filters

needs_bogofilter = pytest.mark.skipif(
    not Bogofilter.is_installed(),
    reason="NO BOGOFILTER: install it to test the peer of the mail evaluation.",
)


def mail(words: str, label: str, number: int = 0) -> Mail:
    return Mail(
        f"From: a@example.org\nSubject: {words}\n\n{words}\n".encode(), f"m{number}", label, float(number)
    )


MAILS = [
    mail(
        f"{'pills cheap buy' if at % 2 else 'meeting agenda minutes'} number{at}",
        "spam" if at % 2 else "ham",
        at,
    )
    for at in range(24)
]


@needs_bogofilter
def test_it_is_unsure_at_first_and_learns() -> None:
    bogofilter = Bogofilter()
    assert bogofilter.judge(MAILS[0]).verdict == "unsure"
    for each in MAILS:
        bogofilter.learn(each, each.label)
    ham, spam = (
        bogofilter.judge(mail("meeting agenda minutes", "ham")),
        bogofilter.judge(mail("pills cheap buy", "spam")),
    )
    assert (ham.verdict, spam.verdict) == ("ham", "spam")
    assert ham.score < 0 < spam.score
    assert (ham.probability or 0.0) < 0.01
    assert (spam.probability or 0.0) >= 0.99


@needs_bogofilter
def test_its_score_is_finite_and_increases_with_the_spamicity() -> None:
    bogofilter = Bogofilter()
    for each in MAILS:
        bogofilter.learn(each, each.label)
    words = [
        "meeting agenda minutes",
        "meeting pills",
        "agenda",
        "pills cheap",
        "pills cheap buy",
        "unknown",
        "",
    ]
    judgements = [bogofilter.judge(mail(text, "ham")) for text in words]
    assert all(math.isfinite(each.score) for each in judgements)
    by_score = [each.probability for each in sorted(judgements, key=lambda each: each.score)]
    assert by_score == sorted(by_score, key=lambda probability: probability or 0.0)


@needs_bogofilter
def test_it_can_be_evaluated() -> None:
    result = evaluate_filters([Bogofilter()], MAILS).result("bogofilter")
    assert result.ham_errors == 0
    assert result.measure("1-roca").value < 10


@needs_bogofilter
def test_options_are_passed_on() -> None:
    bogofilter = Bogofilter(["--spam-cutoff=0.4", "--ham-cutoff=0.1"])
    bogofilter.learn(MAILS[0], "ham")
    assert bogofilter.judge(mail("unknown", "ham")).verdict == "spam"


@needs_bogofilter
def test_any_bytes_can_be_judged() -> None:
    bogofilter = Bogofilter()
    bogofilter.learn(MAILS[0], "ham")
    bogofilter.learn(MAILS[1], "spam")
    for content in (
        b"",
        b"\x00\xff" * 50,
        b"Content-Type: multipart/mixed; boundary=x\n\n--x",
        b"From \n" * 9,
    ):
        assert bogofilter.judge(Mail(content, "odd", "ham")).verdict in ("ham", "unsure", "spam")


@needs_bogofilter
def test_its_word_list_is_removed_with_it() -> None:
    bogofilter = Bogofilter()
    folder = Path(bogofilter._command[3])
    bogofilter.learn(MAILS[0], "ham")
    assert any(folder.iterdir())
    del bogofilter
    gc.collect()
    assert not folder.exists()
    second = Bogofilter()
    folder = Path(second._command[3])
    second.close()
    assert not folder.exists()


@needs_bogofilter
def test_an_error_names_the_mail_but_does_not_quote_it() -> None:
    bogofilter = Bogofilter(["-d", "/dev/null/nowhere"])
    with pytest.raises(errors.DataError, match=r"bogofilter -n failed on m0 \(\d+ bytes\)") as caught:
        bogofilter.learn(mail("confidential", "ham"), "ham")
    assert "confidential" not in str(caught.value)


def test_a_missing_program_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not Bogofilter.is_installed()
    with pytest.raises(errors.Unsupported, match="apt-get install bogofilter"):
        Bogofilter()
