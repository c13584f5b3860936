"""Debian's bogofilter, where it is installed."""

from __future__ import annotations

import gc
import math
from pathlib import Path

import pytest

from weigh import errors
from weigh.apps.mail.evaluation.filters import Bogofilter
from weigh.apps.mail.evaluation.mail_stream import Mail
from weigh.apps.mail.evaluation.online_evaluation import evaluate_filters

needed = pytest.mark.skipif(
    not Bogofilter.is_installed(),
    reason="NO BOGOFILTER: install it, or the peer of the mail trial is not tested.",
)


def mail(words: str, label: str, at: int = 0) -> Mail:
    return Mail(f"From: a@example.org\nSubject: {words}\n\n{words}\n".encode(), f"m{at}", label, float(at))


MAILS = [
    mail(
        f"{'pills cheap buy' if at % 2 else 'meeting agenda minutes'} number{at}",
        "spam" if at % 2 else "ham",
        at,
    )
    for at in range(24)
]


@needed
def test_it_knows_nothing_at_first_and_learns() -> None:
    tried = Bogofilter()
    assert tried.judge(MAILS[0]).verdict == "unsure"
    for each in MAILS:
        tried.learn(each, each.label)
    ham, spam = (
        tried.judge(mail("meeting agenda minutes", "ham")),
        tried.judge(mail("pills cheap buy", "spam")),
    )
    assert (ham.verdict, spam.verdict) == ("ham", "spam")
    assert ham.score < 0 < spam.score
    assert (ham.probability or 0.0) < 0.01
    assert (spam.probability or 0.0) >= 0.99


@needed
def test_its_score_is_finite_and_rises_with_its_spamicity() -> None:
    tried = Bogofilter()
    for each in MAILS:
        tried.learn(each, each.label)
    words = [
        "meeting agenda minutes",
        "meeting pills",
        "agenda",
        "pills cheap",
        "pills cheap buy",
        "unknown",
        "",
    ]
    found = [tried.judge(mail(each, "ham")) for each in words]
    assert all(math.isfinite(each.score) for each in found)
    by_score = [each.probability for each in sorted(found, key=lambda each: each.score)]
    assert by_score == sorted(by_score, key=lambda share: share or 0.0)


@needed
def test_it_takes_part_in_a_trial() -> None:
    found = evaluate_filters([Bogofilter()], MAILS).result("bogofilter")
    assert found.ham_errors == 0
    assert found.measure("1-roca").value < 10


@needed
def test_options_are_passed_on() -> None:
    tried = Bogofilter(["--spam-cutoff=0.4", "--ham-cutoff=0.1"])
    tried.learn(MAILS[0], "ham")
    assert tried.judge(mail("unknown", "ham")).verdict == "spam"


@needed
def test_any_bytes_can_be_judged() -> None:
    tried = Bogofilter()
    tried.learn(MAILS[0], "ham")
    tried.learn(MAILS[1], "spam")
    for content in (
        b"",
        b"\x00\xff" * 50,
        b"Content-Type: multipart/mixed; boundary=x\n\n--x",
        b"From \n" * 9,
    ):
        assert tried.judge(Mail(content, "odd", "ham")).verdict in ("ham", "unsure", "spam")


@needed
def test_its_word_list_is_gone_with_it() -> None:
    tried = Bogofilter()
    folder = Path(tried._command[3])
    tried.learn(MAILS[0], "ham")
    assert any(folder.iterdir())
    del tried
    gc.collect()
    assert not folder.exists()
    another = Bogofilter()
    folder = Path(another._command[3])
    another.close()
    assert not folder.exists()


@needed
def test_a_failure_names_the_mail_and_not_its_words() -> None:
    tried = Bogofilter(["-d", "/dev/null/nowhere"])
    with pytest.raises(errors.DataError, match=r"bogofilter -n failed on m0 \(\d+ bytes\)") as caught:
        tried.learn(mail("confidential", "ham"), "ham")
    assert "confidential" not in str(caught.value)


def test_where_it_is_not_installed_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not Bogofilter.is_installed()
    with pytest.raises(errors.Unsupported, match="apt-get install bogofilter"):
        Bogofilter()
