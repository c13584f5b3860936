"""The features of mail against a twin in Python that tells their names from what the reader found."""

from __future__ import annotations

import hashlib
import os
import re
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.apps.mail.reference_canonical import canonical
from tests.apps.mail.reference_features import REACH, body_names, header_names
from tests.source.mail.trees import Tree, to_bytes, trees
from weigh import _core
from weigh.apps.mail.features import FEATURES_VERSION, MAX_FEATURES_PER_VIEW, FeatureExtractor, MailFeature
from weigh.errors import ParameterError
from weigh.source.mail import read

CORES = os.cpu_count()
MAIL = b"""From: Ann <ann@shop.example.com>
Received: from x ([10.20.30.40]) by y
Subject: Free Money
X-Spam-Flag: YES
Content-Type: text/html

<p align=Center>Dear FRIEND, <b>100%</b> for $5!! http://www.example.com/a-b?c=d
<a href="http://10.1.2.3:80/">x</a><span style="display:none">secret words</span></p>
"""


def assert_as_the_twin_says(raw: bytes, kind: str, size: int) -> None:
    message = read(canonical(raw))
    found = FeatureExtractor(pairs=kind, characters=size).named_features(raw)
    assert {each.name for each in found if each.view == 0} == header_names(message, kind, size)
    assert {each.name for each in found if each.view == 1} == body_names(message, kind, size)
    assert len(found) == len({(each.view, each.key) for each in found})


PIECES = [
    "Date: ",
    "X-OriginalArrivalTime: ",
    "X-Received: ",
    "DKIM-Signature: ",
    "ARC-Seal: ",
    "d=a ",
    " s = b",
    "t=1 ",
    "(",
    ")",
    "; ",
    "From: ",
    "Subject: ",
    "Received: ",
    "X-Spam-Flag: ",
    "\n",
    "\n\n",
    " ",
    "a@B.example.co.uk ",
]
PIECES += ["Word", "ÉTÉ ", "ΟΔΟΣ ", "İ", "\u00a0", "\u3000", "'", "-", ".", "_", "$5 ", "£9", "9% ", "!! "]
PIECES += ["Content-Type: text/html\n", "<b>", "<p align='A b'>", "</a>", "x" * 31, "10.20.30.40 "]
PIECES += ["<a href='http://U.example.org/p/q?r=S'>", "http://10.1.2.3/", "www.shop.example.com/buy "]
PIECES += ["<a href='http://a.b.c.d.e.f.example.org/'>", "Reply-To: x@a.b.c.d.e.f.example "]
PIECES += ["<span style='display:none'>", "SHOUTING LOUDLY NOW AGAIN "]
kinds = st.sampled_from(sorted(REACH))


@settings(max_examples=500)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=40), kind=kinds, size=st.sampled_from([0, 1, 4]))
def test_names_are_those_of_the_twin(pieces: list[str], kind: str, size: int) -> None:
    assert_as_the_twin_says("".join(pieces).encode(), kind, size)


@given(tree=trees(), kind=kinds)
def test_names_of_trees_of_parts_are_those_of_the_twin(tree: Tree, kind: str) -> None:
    assert_as_the_twin_says(to_bytes(tree), kind, 0)


@given(raw=st.binary(max_size=300), size=st.sampled_from([0, 3]))
def test_any_bytes_have_features(raw: bytes, size: int) -> None:
    assert_as_the_twin_says(raw, "pairs", size)


def test_a_message_is_told_in_words_for_people() -> None:
    found = FeatureExtractor().named_features(MAIL)
    headers, body = ({each.name for each in found if each.view == view} for view in (0, 1))
    assert {"domain:shop.example.com", "domain:example.com", "order:from received"} <= {*headers}
    assert {"subject:Free Money", "from:Ann", "received:10.20", "flag:missing-date"} <= headers
    assert {"Dear", "FRIEND", "dear friend", "flag:percent", "flag:money", "flag:exclaiming"} <= body
    assert {"url:www.example.com", "url:example.com", "url:10.1.2", "link:numeric-host", "path:a-b"} <= {
        *body
    }
    assert {"attr:align=center", "tag:p", "part:text/html", "hidden:secret", "flag:hidden-text"} <= body
    assert {"free money", "Free"} <= body
    assert not [name for name in headers if "spam" in name]


OWN = ["Status", "X-Status", "X-Keywords", "X-UID", "X-UIDL", "Content-Length", "Lines", "X-Gmail-Labels"]
OWN += ["X-Weigh", "X-Weigh-Id", "X-Bogosity", "X-Spam", "X-Spam-Status", "X-DSPAM-Result", "X-CRM114-Status"]
OWN += ["X-Rspamd", "X-Antispam", "X-Mozilla-Status", "X-Evolution", "X-GM-THRID", "X-IMAPbase"]


@pytest.mark.parametrize("name", OWN)
def test_what_filters_and_mailboxes_write_is_not_looked_at(name: str) -> None:
    features = FeatureExtractor(characters=4)
    plain, written = b"To: you\n\nhi", b"To: you\n" + name.encode() + b": spam at last\n\nhi"
    assert features.hashed_features([written]) == features.hashed_features([plain])
    assert features.hashed_features([b"To: you\nX-Other: spam\n\nhi"]) != features.hashed_features([plain])


def test_features_that_change_have_another_version() -> None:
    """Whoever changes a mail's features, or what it is known by, raises VERSION and pins both anew."""
    mails = [MAIL, MAIL.replace(b"text/html", b"text/plain"), b"", b"\xff>From \0"]
    pinned = hashlib.sha256()
    for kind, size in (("none", 0), ("pairs", 0), ("sparse", 4)):
        for identity, print_ in FeatureExtractor(pairs=kind, characters=size, salt=7).identify(mails):
            pinned.update(identity + print_)
    assert (FEATURES_VERSION, pinned.hexdigest()[:16]) == (1, "f3fe23b6706b3952")


def test_a_print_has_the_keys_of_both_views_in_order() -> None:
    features = FeatureExtractor(pairs="sparse", characters=4, salt=7)
    (print_,) = features.hashed_features([MAIL])
    views = [
        sorted(each.key for each in features.named_features(MAIL) if each.view == view) for view in (0, 1)
    ]
    sizes = [len(keys) for keys in views]
    assert print_ == struct.pack(f"<2I{sum(sizes)}Q", *sizes, *views[0], *views[1])


@given(st.lists(st.binary(max_size=60), max_size=12), st.integers(1, 5))
def test_threads_change_nothing(contents: list[bytes], threads: int) -> None:
    alone = [FeatureExtractor().hashed_features([content], threads=1)[0] for content in contents]
    assert (
        FeatureExtractor().hashed_features(contents, threads=threads)
        == alone
        == FeatureExtractor().hashed_features(contents)
    )


def test_another_salt_and_another_view_give_other_keys() -> None:
    here, there = ({each.key for each in FeatureExtractor(salt=salt).named_features(MAIL)} for salt in (1, 2))
    assert not here & there
    both = [
        each
        for each in FeatureExtractor().named_features(b"Path: x\n\nhttp://a.example/x")
        if each.name == "path:x"
    ]
    assert [each.view for each in both] == [0, 1]
    assert both[0].key != both[1].key


def test_keys_stay_the_same_for_ever() -> None:
    assert FeatureExtractor(salt=1).named_features(b"\nhello")[-1] == MailFeature(
        1, "hello", 16875018605528948829
    )


def test_a_view_has_a_bounded_number_of_features() -> None:
    many = " ".join(f"w{number}" for number in range(MAX_FEATURES_PER_VIEW)).encode()
    (print_,) = FeatureExtractor(pairs="sparse", characters=4).hashed_features(
        [b"Subject: " + many + b"\n\n" + many]
    )
    assert struct.unpack_from("<2I", print_) == (MAX_FEATURES_PER_VIEW, MAX_FEATURES_PER_VIEW)


def test_a_long_name_of_a_header_costs_no_more_than_a_short_one() -> None:
    found = FeatureExtractor().named_features(b"N" * 200_000 + b": " + b"a b " * 10_000)
    assert max(len(each.name) for each in found) < 100


def test_attributes_are_cut_between_characters() -> None:
    html = f"Content-Type: text/html; charset=utf-8\n\n<p {'A' * 50}='{'B' * 39}é' title='x y'>".encode()
    assert read(html).attributes == (("a" * 40, "b" * 39), ("title", "x y"))
    names = {each.name for each in FeatureExtractor().named_features(html)}
    assert {f"attr:{'a' * 40}={'b' * 39}", "attr:title=x"} <= names


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"pairs": "all"}, "Features: pairs must be 'none', 'pairs' or 'sparse', got 'all'."),
        ({"characters": 17}, "Features: characters must be a whole number up to 16, got 17."),
        ({"characters": 2.0}, "Features: characters must be a whole number up to 16, got 2.0."),
        ({"salt": -1}, "Features: salt must be a whole number of at most 64 bits, got -1."),
    ],
)
def test_settings_that_cannot_be_are_refused(chosen: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=f"^{re.escape(message)}$"):
        FeatureExtractor(**chosen)  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
def test_threads_that_cannot_be_are_refused(threads: object) -> None:
    message = f"prints: threads must be a whole number from 1 on, got {threads!r}."
    with pytest.raises(ParameterError, match=f"^{re.escape(message)}$"):
        FeatureExtractor().hashed_features([], threads=threads)  # type: ignore[arg-type]


@pytest.mark.parametrize(("given", "asked"), [(None, 0), (1, 1), (10**30, CORES)])
def test_there_are_no_more_threads_than_cores(
    monkeypatch: pytest.MonkeyPatch, given: int | None, asked: int
) -> None:
    seen: list[int] = []
    monkeypatch.setattr(_core, "hash_mail_features", lambda *told: seen.append(told[-1]))
    FeatureExtractor().hashed_features([MAIL], threads=given)
    assert seen == [asked]


DATED = [
    "Received: from a by b; Mon, 1 Jan 2024 00:00:00",
    "Received: from a (b; c (d; e)) by f; Mon, 1 Jan 2024; added",
    "X-Received: by g; Mon, 1 Jan 2024",
    "Date: Mon, 1 Jan 2024",
    "Resent-Date: Mon, 1 Jan 2024",
    "X-OriginalArrivalTime: 01 Jan 2024",
    "DKIM-Signature: v=1; a=rsa-sha256; d=shop.example; s=key1; t=1704067200; x=1704672000; bh=Mon2024",
    "X-Google-DKIM-Signature: v=1; d=shop.example; t = 1704067200",
    "DomainKey-Signature: a=rsa-sha1; s=key1; d=shop.example; t=1704067200",
    "ARC-Seal: i=1; t=1704067200; d=shop.example; s=key1",
    "ARC-Message-Signature: i=1; d = shop.example; t=1704067200",
]


@pytest.mark.parametrize("header", DATED)
def test_days_and_hours_are_no_features(header: str) -> None:
    found = {each.name for each in FeatureExtractor(characters=4).named_features(f"{header}\n\n".encode())}
    assert f"has:{header.split(':')[0].lower()}" in found
    assert not [name for name in found if re.search("Jan|Mon|2024|1704|added", name)]


def test_what_is_no_day_stays() -> None:
    mail = b"\n".join(
        each.encode() for each in [*DATED, "Update: Mon", "Authentication-Results: a; t=2024", ""]
    )
    found = {each.name for each in FeatureExtractor().named_features(mail)}
    assert {"received:from a", "received:by f", "received:d e", "x-received:by g", "update:Mon"} <= found
    assert {"dkim-signature:d shop.example", "dkim-signature:s key1", "arc-seal:shop.example"} <= found
    assert "authentication-results:2024" in found
