"""The native context reader against its reference, and operations on occurrences."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weigh
from tests.apps.spelling.reference_contexts import Occurrence, contexts, count_words
from tests.splitting import split_all
from weigh import _core
from weigh.apps.spelling.contexts import ContextReader, Occurrences
from weigh.errors import ParameterError

SETS = [["weather", "whether"], ["its", "it's"], ["été", "ete"], ["a", "i̇"], ["σας", "σασ"]]

UNUSUAL = [
    "",
    "its",
    "Its it's IT'S It’s ITS’ 'its' ‘its’ “its” its's i'ts its''s",
    "I didn't know weather to laugh or cry.\nThe Weather—was GOOD, whether-or-not.",
    "its-own its--own --its -its its- its/her his/its me@its its@me #its =its its+ its~ its^",
    "its| \\its its\\ |its ~its",
    "its.py its. its: its:3 3:its .its a.its ...its its...all its.é é.its a‐its its‑b",
    "its\n\nits\n its\n \t\nits\r\n\r\nits\r\rits\n\n\n\n its",
    "\n\nits\n\n",
    "its ¶ its ¶¶ its¶ a b",
    "its \x1a\x1a its\x1aits \x1a\n\x1a its",
    "its \x1d its\x1dits \x1d\n\x1d its\nits \x1d\x1d its its\n its \n its",
    "\x1d\x1d its \x1d its\r\n \n its \x1d \x1d its\n its \x1d\x1d\n\x1d\x1d\nits\nits \x1c its \x1f\n its",
    "_its __its its_ _ its _ __ its ___ _'its its'_x a'_ its’_b",
    "123 its 12a its 1,000 its ١٢ its ² its",
    f"{'x' * 40} its {'y' * 41} its {'é' * 40} its {'é' * 41} its {'1' * 50} its",
    "Été ÉTÉ étÉ ete Ete éTE its ÉTÉ été",
    "A a İ i̇ its İ ẞ its Ǆ its ǅ its K its 𝐀b its",
    "ΣΑΣ σας its Σ its ΣΑΣ' its",
    "abc its abcd its ABCD its éabc its Abcd",
    "its, its; its! its? its… its — its – its ― its - its -- its « its » „ its",
    "a b c d e f g its h i j k l m n . , ; . , ; o p q",
    "its its its its its its its its its its its its its",
    "[t]its its(elf) f(its) (its) {its} x{its} its]b its) b its\u0300 its\u036f its\u0370 \u02ff its\u2060",
    "e\u0301te its ete\u0301 its\u00ad its\u200bits its\u00a0its\u2028its\u0085its",
]

INVALID = [
    b"\xff its \x80\x80 its \xc3",
    b"its\xff its\xe2\x82 its\xe2\x80 \xe2\x80\x99its",
    b"\xed\xa0\x80 its \xed\xb0\x80its \xf4\x90\x80\x80 its",
    b"its\xef\xbf\xbd\xef\xbf\xbd its \xef\xbf its -\xffits \x80-its \xe2-\x80its",
    b"\xc3\xa9.its \xa9.its \xe9.its its.\xc3\xa9 its.\xc3 its\xf0\x9f\x98\x80 its",
]


def read_occurrences(reader: ContextReader) -> list[Occurrence]:
    """Return the occurrences of a reader in the format of the reference, in text order."""
    every = [
        Occurrence(number, member, begin, size, at, rows.context(i))
        for number, rows in enumerate(reader.occurrences())
        for i, (member, begin, size, at) in enumerate(
            zip(rows.members, rows.byte_offsets, rows.byte_lengths, rows.positions, strict=True)
        )
    ]
    return sorted(every, key=lambda each: each.begin)


def assert_equals_reference(piece: bytes, window: int = 6) -> None:
    reader = ContextReader(SETS, window)
    assert reader.read(piece, 0) == count_words(piece)
    assert read_occurrences(reader) == list(contexts(piece, SETS, window))


@pytest.mark.parametrize("text", UNUSUAL)
def test_reader_equals_the_reference(text: str) -> None:
    for window in (0, 1, 2, 6, 100):
        assert_equals_reference(text.encode(), window)


@pytest.mark.parametrize("piece", INVALID)
def test_invalid_utf8_equals_the_reference(piece: bytes) -> None:
    assert_equals_reference(piece)


ALPHABET = st.sampled_from(
    [
        *"aAbzé É'’‘“”-‐—–_.,:/@()[{1٣¶\n\r\t \x1a\x1dİΣσKß…\ufffd中𝐀😀\u0301\u2028\u00ad",
        *("its", "It’s", "it's", "WHETHER", "été", "ΣΑΣ", "\n\n", " \n \n", "\x1d\x1d", "--", " ", " ", " "),
        *("x" * 40, "é" * 41),
    ]
)


@given(st.lists(ALPHABET, max_size=60).map("".join), st.integers(0, 8))
def test_random_texts_equal_the_reference(text: str, window: int) -> None:
    assert_equals_reference(text.encode(), window)


@given(st.lists(st.one_of(st.binary(max_size=4), ALPHABET.map(str.encode)), max_size=40).map(b"".join))
def test_random_bytes_equal_the_reference(piece: bytes) -> None:
    assert_equals_reference(piece)


@pytest.mark.parametrize("part", ["its\u0301", "its\xadelf", "its\u200delf", "[b]its", "(b)its", "its(elf)"])
def test_parts_of_words_are_not_occurrences(part: str) -> None:
    reader = ContextReader(SETS)
    reader.read(f"a {part} b".encode(), 0)
    assert len(reader.occurrences()[1]) == 0


def test_features_of_a_context() -> None:
    reader = ContextReader([["weather", "whether"]], 3)
    assert reader.read("I didn’t know Weather—to laugh loudly or cry.".encode(), 0) == 9
    (rows,) = reader.occurrences()
    assert rows.context(0) == [
        "before:know",
        "after:—",
        "before:didn't know",
        "after:— to",
        "around:know _ —",
        "before2:didn't",
        "after2:to",
        "ending-before:now",
        "capital",
        "near:know",
        "near:didn't",
        "near:i",
        "near:to",
        "near:laugh",
        "near:loudly",
    ]


def test_positions_and_offsets_continue_across_pieces() -> None:
    reader = ContextReader(SETS)
    first, second = "Été its été\n".encode(), b"a whether b"
    words = reader.read(first, 3)
    assert words == 3
    assert reader.read(second, 3, words, len(first)) == 3
    assert reader.read(b"x its", 4) == 2
    weather, its = reader.occurrences()[:2]
    assert weather.positions.tolist() == [4]
    assert weather.byte_offsets.tolist() == [len(first) + 2]
    assert weather.byte_lengths.tolist() == [7]
    assert its.documents.tolist() == [3, 4]
    assert its.positions.tolist() == [1, 1]
    assert its.names is weather.names


def test_reader_continues_after_reading_occurrences() -> None:
    reader = ContextReader(SETS)
    reader.read(b"its", 0)
    before = reader.occurrences()[1]
    reader.read(b"it's", 1)
    assert len(before) == 1
    assert reader.occurrences()[1].members.tolist() == [0, 1]


def make_occurrences(n: int) -> Occurrences:
    """Return occurrences of two words in many contexts."""
    reader = ContextReader([["its", "it's"]])
    for i in range(n):
        reader.read(f"word{i} {'its' if i % 3 else 'It’s'} other{i % 5} last".encode(), i)
    return reader.occurrences()[0]


def test_select_accepts_masks_and_indices() -> None:
    rows = make_occurrences(20)
    numbers = np.array([7, 3, 3, 19])
    selected = rows.select(numbers)
    assert len(selected) == 4
    assert [selected.context(i) for i in range(4)] == [rows.context(i) for i in numbers]
    for name in ("members", "documents", "positions", "byte_offsets", "byte_lengths"):
        assert np.array_equal(getattr(selected, name), getattr(rows, name)[numbers])
    odd = rows.select(rows.documents % 2 == 1)
    assert odd.documents.tolist() == list(range(1, 20, 2))
    assert [odd.context(i) for i in range(10)] == [rows.context(i) for i in range(1, 20, 2)]
    assert len(rows.select(np.zeros(20, bool))) == 0
    assert len(rows.select(np.array([], dtype=np.int64)).features.indices) == 0


def test_chunk_and_source_have_the_same_rows() -> None:
    rows = make_occurrences(20).select(np.arange(4, 20))
    expected = [rows.context(i) for i in range(16)]
    labels = [rows.words[member] for member in rows.members]
    chunk = rows.to_chunk()
    assert chunk.columns["context"].to_pylist() == expected
    assert chunk.labels is not None
    assert chunk.labels.to_pylist() == labels
    source = rows.to_source()
    assert (source.names, source.n_rows, dict(source.kinds)) == (("context",), 16, {"context": "tokens"})
    chunks = list(source.chunks(size=5))
    assert [row for each in chunks for row in each.columns["context"].to_pylist()] == expected
    assert [label for each in chunks for label in each.labels.to_pylist()] == labels


def test_learners_see_the_names_of_a_source() -> None:
    rows = make_occurrences(60)
    expected = [rows.context(i) for i in range(60)]
    assert split_all(rows.to_source(), {"context": weigh.Tokens()}) == expected


def hash_number(number: int) -> int:
    """Hash a number as the reader does (the finaliser of MurmurHash3)."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        number = (number ^ number >> 33) * factor % 2**64
    return number ^ number >> 33


@pytest.mark.parametrize("max_occurrences", [2, 3, 4, 7, 8])
def test_full_set_keeps_half_then_a_quarter(max_occurrences: int) -> None:
    reader = ContextReader([["its"], ["whether"]], max_occurrences=max_occurrences)
    stride = 1
    for n in range(1, 70):
        reader.read(f"a{n - 1} its".encode() + b" whether" * (n == 1), n - 1)
        its, whether = reader.occurrences()
        while (
            len(kept := [number for number in range(n) if hash_number(number) % stride == 0])
            > max_occurrences
        ):
            stride *= 2
        assert its.documents.tolist() == kept
        assert its.sampling_fraction == 1 / stride
        assert [its.context(i)[0] for i in range(len(its))] == [f"before:a{d}" for d in its.documents]
        assert (len(whether), whether.sampling_fraction) == (1, 1.0)


def test_alternating_words_are_sampled_evenly() -> None:
    reader = ContextReader([["its", "it's"]], max_occurrences=1_000)
    reader.read(b"its own it's " * 20_000, 0)
    rows = reader.occurrences()[0]
    assert 400 < len(rows) <= 1_000
    assert len(rows) / rows.sampling_fraction == pytest.approx(40_000, rel=0.1)
    assert np.bincount(rows.members) / len(rows) == pytest.approx([0.5, 0.5], abs=0.05)


def test_names_of_dropped_occurrences_are_removed() -> None:
    reader = ContextReader([["its"]], max_occurrences=2)
    for n in range(1000):
        reader.read(f"a{n} its".encode(), n)
    names = reader.occurrences()[0].names
    assert sum(name.startswith("before:a") for name in names) < 20


def test_a_long_line_takes_linear_time() -> None:
    reader = ContextReader([["its"]])
    hostile = b"its" + b".,;" * 100_000 + b"its" + b"x" * 300_000 + b" its" + b"'" * 300_000 + b"its"
    assert reader.read(hostile, 0) == 4
    assert len(reader.occurrences()[0]) == 3


def test_reader_is_thread_safe() -> None:
    reader = ContextReader(SETS)
    piece = b"its own it's whether a b c d e\n" * 500
    threads = [threading.Thread(target=reader.read, args=(piece, i)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    its = reader.occurrences()[1]
    assert np.bincount(its.documents).tolist() == [1000] * 8
    assert all(len(list(rows)) == 1000 for _, rows in itertools.groupby(its.documents.tolist()))


@pytest.mark.parametrize(
    "settings", [{"window": -1}, {"window": 1.0}, {"window": True}, {"window": 101}, {"max_occurrences": 1}]
)
def test_invalid_parameters_raise(settings: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match="a whole number"):
        ContextReader(SETS, **settings)


def test_word_in_two_sets_raises() -> None:
    with pytest.raises(ValueError, match="a word is in the sets twice: its"):
        ContextReader([["its", "it's"], ["its"]])


def test_unknown_set_index_raises() -> None:
    native = _core.ContextReader([["its"]], 6, 2)
    for ask in (native.columns, native.stride):
        with pytest.raises(ValueError, match="no such set"):
            ask(1)
