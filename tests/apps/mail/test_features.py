"""Tests of feature extraction against a reference implementation in Python."""

from __future__ import annotations

import hashlib
import os
import re
import struct

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.apps.mail.reference_canonical import canonical
from tests.apps.mail.reference_features import MAX_DISTANCE, body_names, header_names
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


def assert_matches_reference(raw: bytes, kind: str, size: int) -> None:
    message = read(canonical(raw))
    features = FeatureExtractor(pairs=kind, characters=size).named_features(raw)
    assert {each.name for each in features if each.view == 0} == header_names(message, kind, size)
    assert {each.name for each in features if each.view == 1} == body_names(message, kind, size)
    assert len(features) == len({(each.view, each.key) for each in features})


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
kinds = st.sampled_from(sorted(MAX_DISTANCE))


@settings(max_examples=500)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=40), kind=kinds, size=st.sampled_from([0, 1, 4]))
def test_names_match_the_reference(pieces: list[str], kind: str, size: int) -> None:
    assert_matches_reference("".join(pieces).encode(), kind, size)


@given(tree=trees(), kind=kinds)
def test_names_of_multipart_messages_match_the_reference(tree: Tree, kind: str) -> None:
    assert_matches_reference(to_bytes(tree), kind, 0)


@given(raw=st.binary(max_size=300), size=st.sampled_from([0, 3]))
def test_features_of_any_bytes_match_the_reference(raw: bytes, size: int) -> None:
    assert_matches_reference(raw, "pairs", size)


def test_feature_names_are_readable() -> None:
    features = FeatureExtractor().named_features(MAIL)
    headers, body = ({each.name for each in features if each.view == view} for view in (0, 1))
    assert {"domain:shop.example.com", "domain:example.com", "order:from received"} <= {*headers}
    assert {"subject:Free Money", "from:Ann", "received:10.20", "flag:missing-date"} <= headers
    assert {"Dear", "FRIEND", "dear friend", "flag:percent", "flag:money", "flag:exclaiming"} <= body
    assert {"url:www.example.com", "url:example.com", "url:10.1.2", "link:numeric-host", "path:a-b"} <= {
        *body
    }
    assert {"attr:align=center", "tag:p", "part:text/html", "hidden:secret", "flag:hidden-text"} <= body
    assert {"free money", "Free"} <= body
    assert not [name for name in headers if "spam" in name]


IGNORED = ["Status", "X-Status", "X-Keywords", "X-UID", "X-UIDL", "Content-Length", "Lines", "X-Gmail-Labels"]
IGNORED += [
    "X-Weigh",
    "X-Weigh-Id",
    "X-Bogosity",
    "X-Spam",
    "X-Spam-Status",
    "X-DSPAM-Result",
    "X-CRM114-Status",
]
IGNORED += ["X-Rspamd", "X-Antispam", "X-Mozilla-Status", "X-Evolution", "X-GM-THRID", "X-IMAPbase"]


@pytest.mark.parametrize("name", IGNORED)
def test_headers_of_filters_and_mailboxes_are_ignored(name: str) -> None:
    features = FeatureExtractor(characters=4)
    plain, with_header = b"To: you\n\nhi", b"To: you\n" + name.encode() + b": spam at last\n\nhi"
    assert features.hashed_features([with_header]) == features.hashed_features([plain])
    assert features.hashed_features([b"To: you\nX-Other: spam\n\nhi"]) != features.hashed_features([plain])


def test_changed_features_need_a_new_version() -> None:
    """If this fails, raise FEATURES_VERSION and update the digest of features and identities."""
    mails = [MAIL, MAIL.replace(b"text/html", b"text/plain"), b"", b"\xff>From \0"]
    digest = hashlib.sha256()
    for kind, size in (("none", 0), ("pairs", 0), ("sparse", 4)):
        for identity, hashed in FeatureExtractor(pairs=kind, characters=size, salt=7).identify(mails):
            digest.update(identity + hashed)
    assert (FEATURES_VERSION, digest.hexdigest()[:16]) == (1, "f3fe23b6706b3952")


def test_hashed_features_have_the_sorted_keys_of_both_views() -> None:
    features = FeatureExtractor(pairs="sparse", characters=4, salt=7)
    (hashed,) = features.hashed_features([MAIL])
    views = [
        sorted(each.key for each in features.named_features(MAIL) if each.view == view) for view in (0, 1)
    ]
    sizes = [len(keys) for keys in views]
    assert hashed == struct.pack(f"<2I{sum(sizes)}Q", *sizes, *views[0], *views[1])


@given(st.binary(max_size=200))
@example(MAIL)
@example(b"")
def test_a_parsed_message_has_the_same_features_hashed_and_named(content: bytes) -> None:
    features = FeatureExtractor(pairs="sparse", characters=4, salt=7)
    mail, named = features.parse(content), features.named_features(content)
    assert [mail.hashed_features] == features.hashed_features([content])
    names = {(each.view, each.key): each.name for each in named}
    assert mail.names(names) == names
    assert mail.names(list(names)[:2]) == dict(list(names.items())[:2])


@given(st.lists(st.binary(max_size=60), max_size=12), st.integers(1, 5))
def test_the_number_of_threads_does_not_change_the_result(contents: list[bytes], threads: int) -> None:
    expected = [FeatureExtractor().hashed_features([content], threads=1)[0] for content in contents]
    assert (
        FeatureExtractor().hashed_features(contents, threads=threads)
        == expected
        == FeatureExtractor().hashed_features(contents)
    )


def test_keys_depend_on_salt_and_view() -> None:
    first, second = (
        {each.key for each in FeatureExtractor(salt=salt).named_features(MAIL)} for salt in (1, 2)
    )
    assert not first & second
    both = [
        each
        for each in FeatureExtractor().named_features(b"Path: x\n\nhttp://a.example/x")
        if each.name == "path:x"
    ]
    assert [each.view for each in both] == [0, 1]
    assert both[0].key != both[1].key


def test_keys_never_change() -> None:
    assert FeatureExtractor(salt=1).named_features(b"\nhello")[-1] == MailFeature(
        1, "hello", 16875018605528948829
    )


def test_a_view_has_a_bounded_number_of_features() -> None:
    many = " ".join(f"w{number}" for number in range(MAX_FEATURES_PER_VIEW)).encode()
    (hashed,) = FeatureExtractor(pairs="sparse", characters=4).hashed_features(
        [b"Subject: " + many + b"\n\n" + many]
    )
    assert struct.unpack_from("<2I", hashed) == (MAX_FEATURES_PER_VIEW, MAX_FEATURES_PER_VIEW)


def test_long_header_names_are_truncated() -> None:
    features = FeatureExtractor().named_features(b"N" * 200_000 + b": " + b"a b " * 10_000)
    assert max(len(each.name) for each in features) < 100


def test_attributes_are_truncated_between_characters() -> None:
    html = f"Content-Type: text/html; charset=utf-8\n\n<p {'A' * 50}='{'B' * 39}é' title='x y'>".encode()
    assert read(html).attributes == (("a" * 40, "b" * 39), ("title", "x y"))
    names = {each.name for each in FeatureExtractor().named_features(html)}
    assert {f"attr:{'a' * 40}={'b' * 39}", "attr:title=x"} <= names


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pairs": "all"}, "FeatureExtractor: pairs must be 'none', 'pairs' or 'sparse', got 'all'."),
        ({"characters": 17}, "FeatureExtractor: characters must be a whole number up to 16, got 17."),
        ({"characters": 2.0}, "FeatureExtractor: characters must be a whole number up to 16, got 2.0."),
        ({"salt": -1}, "FeatureExtractor: salt must be a whole number of at most 64 bits, got -1."),
    ],
)
def test_invalid_parameters_are_rejected(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=f"^{re.escape(message)}$"):
        FeatureExtractor(**parameters)  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
def test_invalid_numbers_of_threads_are_rejected(threads: object) -> None:
    message = f"FeatureExtractor: threads must be a whole number of at least 1, got {threads!r}."
    with pytest.raises(ParameterError, match=f"^{re.escape(message)}$"):
        FeatureExtractor().hashed_features([], threads=threads)  # type: ignore[arg-type]


@pytest.mark.parametrize(("threads", "expected"), [(None, 0), (1, 1), (10**30, CORES)])
def test_no_more_threads_than_cores_are_started(
    monkeypatch: pytest.MonkeyPatch, threads: int | None, expected: int
) -> None:
    passed: list[int] = []
    monkeypatch.setattr(_core, "hash_mail_features", lambda *arguments: passed.append(arguments[-1]))
    FeatureExtractor().hashed_features([MAIL], threads=threads)
    assert passed == [expected]


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
def test_dates_and_times_are_not_features(header: str) -> None:
    names = {each.name for each in FeatureExtractor(characters=4).named_features(f"{header}\n\n".encode())}
    assert f"has:{header.split(':')[0].lower()}" in names
    assert not [name for name in names if re.search("Jan|Mon|2024|1704|added", name)]


def test_other_words_of_dated_headers_are_features() -> None:
    mail = b"\n".join(
        each.encode() for each in [*DATED, "Update: Mon", "Authentication-Results: a; t=2024", ""]
    )
    names = {each.name for each in FeatureExtractor().named_features(mail)}
    assert {"received:from a", "received:by f", "received:d e", "x-received:by g", "update:Mon"} <= names
    assert {"dkim-signature:d shop.example", "dkim-signature:s key1", "arc-seal:shop.example"} <= names
    assert "authentication-results:2024" in names
