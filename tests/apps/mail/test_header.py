"""The header that tells a verdict stands last, replaces forged ones and changes nothing else."""

from __future__ import annotations

import email
import email.header
import email.policy
import re
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.apps.mail.header import with_failure, with_header


@dataclass(frozen=True)
class Judged:
    label: str = "spam"
    probability: float = 0.99987


@dataclass(frozen=True)
class Telling:
    name: str
    contribution: float = 1.0


PLAIN = b"X-Weigh: spam, probability 0.999870"
MESSAGE = b"From: a@example.org\nSubject: tea\n\nAt five.\n"


def test_the_verdict_is_the_last_header():
    assert with_header(MESSAGE, Judged()) == (
        b"From: a@example.org\nSubject: tea\nX-Weigh: spam, probability 0.999870\n\nAt five.\n"
    )


def test_evidence_is_told_in_order_and_folded_between_its_pieces():
    evidence = [Telling(f"subject:word number {at}", 2.5 - at) for at in range(5)]
    assert with_header(b"\n", Judged("unsure", 0.5), evidence).decode() == (
        'X-Weigh: unsure, probability 0.500000; "subject:word number 0" +2.50;\n'
        ' "subject:word number 1" +1.50; "subject:word number 2" +0.50;\n'
        ' "subject:word number 3" -0.50; "subject:word number 4" -1.50\n\n'
    )


def test_a_name_cannot_end_its_quotation():
    assert with_header(b"", Judged(), [Telling('say "tea\n\x00')]) == PLAIN + b'; "say \'tea ?" +1.00\n'


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", PLAIN + b"\n"),
        (b"\n", PLAIN + b"\n\n"),
        (b"\r\n", PLAIN + b"\r\n\r\n"),
        (b"A: 1", b"A: 1\n" + PLAIN + b"\n"),
        (b"A: 1\n", b"A: 1\n" + PLAIN + b"\n"),
        (b"A: 1\r\n folded\r\n\r\nbody\r\n", b"A: 1\r\n folded\r\n" + PLAIN + b"\r\n\r\nbody\r\n"),
        (b"From x@y Mon\nA: 1\n\nbody", b"From x@y Mon\nA: 1\n" + PLAIN + b"\n\nbody"),
        (b"no header at all\n\nbody", PLAIN + b"\nno header at all\n\nbody"),
        (b"A: 1\nno header\nX-Weigh: ham\n\n", b"A: 1\n" + PLAIN + b"\nno header\n\n"),
        (b"A: 1\n\nX-Weigh: ham\n", b"A: 1\n" + PLAIN + b"\n\nX-Weigh: ham\n"),
        (b"x-WEIGH : ham\n more\n\tmore\nB: 2\n\n", b"B: 2\n" + PLAIN + b"\n\n"),
        (b"X-Weigh: a\nX-Weigh: b\nX-Weighty: c\n\n", b"X-Weighty: c\n" + PLAIN + b"\n\n"),
        (b"A: 1\rX-Weigh: a\rX-Weigh: b\n\nbody", b"A: 1\r\n" + PLAIN + b"\n\nbody"),
        (b"odd\rX-Weigh: a\n\nX-Weigh: ham\n", PLAIN + b"\nodd\r\n\nX-Weigh: ham\n"),
    ],
)
def test_it_stands_where_every_program_finds_it(content, expected):
    assert with_header(content, Judged()) == expected


def test_a_failure_is_told_in_the_same_place():
    assert with_failure(b"A: 1\r\nX-Weigh: ham\r\n\r\nx") == b"A: 1\r\nX-Weigh: unsure, error\r\n\r\nx"


def test_twice_is_once():
    once = with_header(MESSAGE, Judged("ham", 0.01), [Telling("tea", -3.0)])
    assert with_header(once, Judged("ham", 0.01), [Telling("tea", -3.0)]) == once


def test_names_in_other_letters_are_decoded_by_mail_programs():
    message = email.message_from_bytes(with_header(MESSAGE, Judged(), [Telling("чай=?x"), Telling("=?x?=")]))
    told = str(email.header.make_header(email.header.decode_header(message["X-Weigh"])))
    assert told == "spam, probability 0.999870; чай=?x +1.00; =?x?= +1.00"


@given(st.lists(st.builds(Telling, st.text(max_size=80), st.floats(-99, 99)), max_size=6))
def test_no_evidence_writes_more_than_one_header(evidence):
    told = with_header(b"A: 1\n\n", Judged(), evidence)
    head = told.removeprefix(b"A: 1\n").removesuffix(b"\n\n")
    assert head.isascii()
    assert re.fullmatch(rb"X-Weigh: [ -~]+(\n [ -~]*[!-~][ -~]*)*", head)
    assert max(map(len, head.split(b"\n"))) < 78


PIECES = st.sampled_from(
    [b"\r", b"\n", b"\r\n", b"A: 1", b"X-Weigh: ham", b"x-weigh\t:", b" ", b"odd", b"From ", b":", b"\0\xff"]
)


@given(st.lists(PIECES, max_size=14).map(b"".join))
def test_mail_programs_read_one_verdict_and_the_same_body(content):
    told = with_header(content, Judged())
    head = re.split(rb"\r\n\r?\n|\n\r?\n|\r\r|\n\r|\A(?=\r|\n)", told, maxsplit=1)[0]
    assert len(re.findall(rb"(?im)^x-weigh[ \t]*:", head.replace(b"\r", b"\n"))) == 1
    parsed = email.message_from_bytes(told, policy=email.policy.compat32)
    assert parsed.get_all("X-Weigh") == ["spam, probability 0.999870"]
