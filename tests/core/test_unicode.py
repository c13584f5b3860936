"""Lower case and accent removal against Python, for every character and for invalid bytes."""

from __future__ import annotations

import codecs
import random
import unicodedata
from collections.abc import Callable

import pytest

from weigh import _core

pytestmark = pytest.mark.skipif(
    unicodedata.unidata_version != _core.UNICODE_VERSION,
    reason=f"Python has Unicode {unicodedata.unidata_version}, the tables have {_core.UNICODE_VERSION}",
)

FOLDINGS = [(lower, strip) for lower in (False, True) for strip in (False, True)]
# Only the lower case of sigma depends on its context.
CONTEXTS: list[Callable[[str], str]] = [
    lambda c: c,
    lambda c: f"aΣ{c}",
    lambda c: f"aΣ{c}a",
    lambda c: f"{c}Σ",
    lambda c: f"a{c}Σ",
    lambda c: f"a{c}Σ{c}a",
]
LETTERS = "abXYZ .,'’ΑΣσςΣΣİIıÀéÜßПриМИР각힣ㄱ中ǅȺKﷺ𝐀😀\ud800\udfff\ufffd"
EDGES = b"A\x80\x8f\x90\x9f\xa0\xa3\xbf\xc0\xc2\xce\xe0\xe1\xed\xef\xf0\xf4\xf5\xff"


def fold_reference(text: str, lower: bool, strip: bool) -> bytes:
    """Return the text as folded by Python."""
    text = text.lower() if lower else text
    if strip:
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return text.encode("utf-8", "surrogatepass")


def replace_invalid(error: UnicodeError) -> tuple[str, int]:
    """Replace invalid bytes by U+FFFD, but keep encoded surrogates."""
    assert isinstance(error, UnicodeDecodeError)
    try:
        sign = error.object[error.start : error.start + 3].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return "\ufffd", error.end
    is_surrogate = len(sign) == 1 and "\ud800" <= sign <= "\udfff"
    return (sign, error.start + 3) if is_surrogate else ("\ufffd", error.end)


codecs.register_error("keep-surrogates", replace_invalid)


def check(text: str, lower: bool, strip: bool) -> None:
    assert _core.fold(text.encode("utf-8", "surrogatepass"), lower, strip) == fold_reference(
        text, lower, strip
    )


@pytest.mark.parametrize(("lower", "strip"), FOLDINGS)
def test_every_character_is_folded_as_in_python(lower: bool, strip: bool) -> None:
    contexts = CONTEXTS if lower and not strip else CONTEXTS[:1]
    for start in range(0, 0x110000, 4096):
        signs = [chr(c) for c in range(start, start + 4096)]
        for context in contexts:
            check("\n".join(map(context, signs)), lower, strip)


@pytest.mark.parametrize(("lower", "strip"), FOLDINGS)
def test_combining_marks_are_handled_as_in_python(lower: bool, strip: bool) -> None:
    marks = [chr(c) for c in range(0x110000) if unicodedata.combining(chr(c))]
    rng = random.Random(3)
    for _ in range(300):
        syllables = [
            rng.choice("aeΣÀ각") + "".join(rng.choices(marks, k=rng.randint(0, 6))) for _ in range(5)
        ]
        check("".join(syllables), lower, strip)
    check("".join(f"a{mark}" for mark in marks), lower, strip)


@pytest.mark.parametrize(("lower", "strip"), FOLDINGS)
def test_random_texts_are_folded_as_in_python(lower: bool, strip: bool) -> None:
    rng = random.Random(1)
    for _ in range(3000):
        check("".join(rng.choices(LETTERS, k=rng.randint(0, 80))), lower, strip)


@pytest.mark.parametrize(("lower", "strip"), FOLDINGS)
def test_invalid_bytes_are_replaced_as_in_python(lower: bool, strip: bool) -> None:
    rng = random.Random(2)
    for n in range(6000):
        pool = EDGES if n % 2 else bytes(range(256))
        data = bytes(rng.choices(pool, k=rng.randint(0, 40)))
        assert _core.fold(data, lower, strip) == fold_reference(
            data.decode("utf-8", "keep-surrogates"), lower, strip
        )


def test_all_sequences_of_three_boundary_bytes_are_folded_as_in_python() -> None:
    for a in EDGES:
        for b in EDGES:
            for c in EDGES:
                data = bytes([a, b, c])
                expected = fold_reference(data.decode("utf-8", "keep-surrogates"), True, True)
                assert _core.fold(data, True, True) == expected
