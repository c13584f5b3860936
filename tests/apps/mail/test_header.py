"""Tests of the verdict header: it comes first, replaces forged ones and changes nothing else."""

from __future__ import annotations

import email
import email.header
import email.policy
import re
import time
from dataclasses import dataclass

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from weigh.apps.mail.header import add_error_header, add_verdict_header


@dataclass(frozen=True)
class FakeVerdict:
    label: str = "spam"
    probability: float = 0.99987


@dataclass(frozen=True)
class FakeReason:
    name: str
    contribution: float = 1.0


PLAIN = b"X-Weigh: spam, probability 0.999870"
MESSAGE = b"From: a@example.org\nSubject: tea\n\nAt five.\n"


def test_the_verdict_is_the_first_header():
    assert add_verdict_header(MESSAGE, FakeVerdict()) == PLAIN + b"\n" + MESSAGE


def test_evidence_keeps_its_order_and_is_folded_between_pieces():
    evidence = [FakeReason(f"subject:word number {i}", 2.5 - i) for i in range(5)]
    assert add_verdict_header(b"\n", FakeVerdict("unsure", 0.5), evidence).decode() == (
        'X-Weigh: unsure, probability 0.500000; "subject:word number 0" +2.50;\n'
        ' "subject:word number 1" +1.50; "subject:word number 2" +0.50;\n'
        ' "subject:word number 3" -0.50; "subject:word number 4" -1.50\n\n'
    )


def test_quotes_in_names_are_replaced():
    assert (
        add_verdict_header(b"", FakeVerdict(), [FakeReason('say "tea\n\x00')])
        == PLAIN + b'; "say \'tea \\x00" +1.00\n'
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", PLAIN + b"\n"),
        (b"\n", PLAIN + b"\n\n"),
        (b"\r\n", PLAIN + b"\r\n\r\n"),
        (b"A: 1", PLAIN + b"\nA: 1"),
        (b"A: 1\r\n folded\r\n\r\nbody\n", PLAIN + b"\r\nA: 1\r\n folded\r\n\r\nbody\n"),
        (b"From x@y Mon\nA: 1\n\nbody", b"From x@y Mon\n" + PLAIN + b"\nA: 1\n\nbody"),
        (b"From x\r\n>From y\r\nA: 1\r\n", b"From x\r\n" + PLAIN + b"\r\n>From y\r\nA: 1\r\n"),
        (b">From y\nA: 1\n\n", PLAIN + b"\n>From y\nA: 1\n\n"),
        (b"From x\ry\nA: 1\n\n", PLAIN + b"\nFrom x\ry\nA: 1\n\n"),
        (b"From x\r\r\nA: 1\n\n", PLAIN + b"\r\nFrom x\r\r\nA: 1\n\n"),
        (b" odd\n\n", PLAIN + b"\nX-Weigh-Note: the message begins with a folded line\n odd\n\n"),
        (b"no header at all\n\nbody", PLAIN + b"\nno header at all\n\nbody"),
        (b"A: 1\nno header\nX-Weigh: ham\n\n", PLAIN + b"\nA: 1\nno header\n\n"),
        (b"A: 1\n\nX-Weigh: ham\n", PLAIN + b"\nA: 1\n\nX-Weigh: ham\n"),
        (b"A: 1\r\n\r\nX-Weigh: ham\n\n", PLAIN + b"\r\nA: 1\r\n\r\nX-Weigh: ham\n\n"),
        (b"A: 1\n\r\nX-Weigh: ham\n\n", PLAIN + b"\nA: 1\n\r\n\n"),
        (b"x-WEIGH : ham\n more\n\tmore\nB: 2\n\n", PLAIN + b"\nB: 2\n\n"),
        (b"X-Weigh: a\nX-Weigh: b\nX-Weighty: c\n\n", PLAIN + b"\nX-Weighty: c\n\n"),
        (b"A: 1\rX-Weigh: a\rX-Weigh: b\n\nbody", PLAIN + b"\nA: 1\n\nbody"),
        (b"A: 1\rX-Weigh: a\n b\rB: 2\r\rX-Weigh: c", PLAIN + b"\nA: 1\rB: 2\r\rX-Weigh: c"),
        (b"A: 1\r\r\nX-Weigh: ham\r\nB: 2\n\n", PLAIN + b"\r\nA: 1\r\r\nB: 2\n\n"),
        (b"X-Weigh: a\rA: 1\rB: 2\r\rbody\r", PLAIN + b"\nA: 1\rB: 2\r\rbody\r"),
    ],
)
def test_every_program_finds_the_header(content, expected):
    assert add_verdict_header(content, FakeVerdict()) == expected


def test_the_error_header_replaces_the_verdict():
    assert add_error_header(b"A: 1\r\nX-Weigh: ham\r\n\r\nx") == b"X-Weigh: unsure, error\r\nA: 1\r\n\r\nx"


def test_adding_the_header_is_idempotent():
    once = add_verdict_header(MESSAGE, FakeVerdict("ham", 0.01), [FakeReason("tea", -3.0)])
    assert add_verdict_header(once, FakeVerdict("ham", 0.01), [FakeReason("tea", -3.0)]) == once


def test_non_ascii_names_are_decoded_by_mail_programs():
    message = email.message_from_bytes(
        add_verdict_header(MESSAGE, FakeVerdict(), [FakeReason("чай=?x"), FakeReason("=?x?=")])
    )
    decoded = str(email.header.make_header(email.header.decode_header(message["X-Weigh"])))
    assert decoded == "spam, probability 0.999870; чай=?x +1.00; =?x?= +1.00"


NAMES = st.text(max_size=80) | st.text("…ä", max_size=80)


@given(st.lists(st.builds(FakeReason, NAMES, st.floats(allow_nan=False)), max_size=6))
def test_any_evidence_gives_a_single_header(evidence):
    result = add_verdict_header(b"A: 1\n\n", FakeVerdict(), evidence)
    head = result.removesuffix(b"\nA: 1\n\n")
    assert head.isascii()
    assert re.fullmatch(rb"X-Weigh: [ -~]+(\n [ -~]*[!-~][ -~]*)*", head)
    assert max(map(len, head.split(b"\n"))) < 78


@pytest.mark.parametrize(
    ("probability", "text"), [(1.0, b"0.999999"), (0.0, b"0.000001"), (0.9999994, b"0.999999")]
)
def test_probabilities_are_clipped(probability, text):
    assert (
        add_verdict_header(b"", FakeVerdict("ham", probability)) == b"X-Weigh: ham, probability %b\n" % text
    )


PIECES = st.sampled_from(
    [b"\r", b"\n", b"\r\n", b"\n\n", b"\r\n\r\n", b"\r\r\n", b"A: 1", b"X-Weigh: ham", b"x-weigh\t:", b" ",
     b"odd", b"From ", b">From x", b":", b"\0\xff", b"\x0b", b"\x85"]
)  # fmt: skip
LINES = st.builds(
    lambda text, ending: text + ending,
    st.sampled_from([b"A: 1", b"X-Weigh: ham", b"x-WEIGH :ham", b" folded", b"odd", b""]),
    st.sampled_from([b"\n", b"\r\n", b"\r", b"\r\r\n"]),
)
MESSAGES = st.lists(PIECES, max_size=14).map(b"".join) | st.lists(LINES, max_size=6).map(b"".join)
FORGED = re.compile(rb"x-weigh[ \t]*:", re.IGNORECASE)


def verdicts_by_line_feed(content, is_empty):
    """Return the verdicts, with folded lines, that a program finds that reads lines up to LF."""
    fields, is_verdict = [], False
    for line in content.split(b"\n"):
        if is_empty(line):
            break
        if line[:1] in (b" ", b"\t"):
            if is_verdict:
                fields[-1] += line
        else:
            is_verdict = bool(FORGED.match(line))
            fields += [line.rstrip(b"\r")] * is_verdict
    return fields


@settings(max_examples=600)
@given(MESSAGES)
@example(b"A: 1\n\r\nX-Weigh: ham\n\n")
def test_all_programs_read_a_single_verdict(content):
    result = add_verdict_header(content, FakeVerdict())
    for is_empty in (lambda line: line in (b"", b"\r"), lambda line: not line.strip(b"\r")):
        assert verdicts_by_line_feed(result, is_empty) == [PLAIN]
    head = re.split(rb"\r?\n\r\n", result, maxsplit=1)[0]
    if head.count(b"\n") != head.count(b"\r\n"):
        assert verdicts_by_line_feed(result, lambda line: not line) == [PLAIN]
    parsed = email.message_from_bytes(result, policy=email.policy.compat32)
    assert parsed.get_all("X-Weigh") == ["spam, probability 0.999870"]


@given(MESSAGES)
def test_nothing_else_changes(content):
    result = add_verdict_header(content, FakeVerdict())
    start = result.index(PLAIN)
    added = re.match(rb"%b\r?\n(X-Weigh-Note: [^\r\n]*\r?\n)?" % PLAIN, result[start:])
    remainder = result[:start] + result[start:][added.end() :]
    if not FORGED.search(content):
        assert remainder == content
    assert add_verdict_header(result, FakeVerdict()) == result
    content_bytes = iter(content)
    assert all(byte in content_bytes for byte in remainder)


def test_a_message_of_only_headers_is_searched_in_linear_time():
    head = b"A: 1\nX-Weigh: ham\n" * 400_000
    start = time.perf_counter()
    assert add_verdict_header(head, FakeVerdict()) == PLAIN + b"\n" + b"A: 1\n" * 400_000
    assert time.perf_counter() - start < 2
