"""The native parser of numbers in further forms against a reference with regular expressions."""

from __future__ import annotations

import math
import random
import re

import pytest

from weigh import _core
from weigh.features.cells import FORMS

EXPONENTS = {
    "k": 3,
    "K": 3,
    "Tsd": 3,
    "Tsd.": 3,
    "M": 6,
    "MM": 6,
    "Mio": 6,
    "Mio.": 6,
    "mn": 6,
    "Mrd": 9,
    "bn": 9,
    "B": 9,
}
MINUTES = {"d": 1440.0, "h": 60.0, "m": 1.0, "min": 1.0, "s": 1 / 60}
PIECES = [
    *"0123456789",
    "12",
    ".",
    " ",
    "-",
    "<",
    ">",
    "~",
    "≤",
    "≈",
    "/",
    "k",
    "M",
    "Mio",
    "bn",
    "kg",
    ":",
    "h",
    "m",
    "d",
]


def parse_form(text: str, form: str, unit: str = "kg") -> float | None:
    """Return the number of a text with decimal points and an optional unit, None if it does not fit."""
    try:
        # A plain number fits every form but durations, also with blanks around it.
        if form != "durations":
            return float(text) if not text.startswith("_") else None
    except ValueError:
        pass
    text = text.strip()
    if form == "durations":
        return parse_duration(text)
    mark = r"(?P<mark><=|>=|[<>~≤≥≈])? *" if form == "limits" else "(?P<mark>(?!))?"
    multiple = (
        "|".join(sorted(map(re.escape, EXPONENTS), key=len, reverse=True)) if form == "multiples" else "(?!)"
    )
    minus = "-?" if form == "trailing minus" else ""
    second = r"(?: */ *(?:\d+\.?\d*|\.\d+))?" if form == "pairs" else ""
    pattern = (
        rf"{mark}(?P<signs>(?:(?:-|{unit}) *)*)(?P<number>\d+\.?\d*|\.\d+){second} *"
        rf"(?P<multiple>{multiple})? *(?P<minus>{minus} *(?P<unit>{unit})? *{minus})"
    )
    found = re.fullmatch(pattern, text)
    if found is None:
        return None
    n_signs = found["signs"].count("-") + found["minus"].count("-")
    n_units = found["signs"].count(unit) + found["minus"].count(unit)
    if n_signs > 1 or n_units > 1:
        return None
    number = float(f"{found['number']}e{EXPONENTS.get(found['multiple'] or '', 0)}")
    if (found["mark"] or "") in ("<", "<=", "≤") and found["mark"] and not n_signs:
        number *= 0.5
    return -number if n_signs else number


def parse_duration(text: str) -> float | None:
    if re.fullmatch(r"\d{1,9}(:[0-5]\d){1,2}", text):
        number = 0.0
        for part in text.split(":"):
            number = 60 * number + int(part)
        return number
    parts = re.findall(r"(\d{1,9}) *(min|[dhms]) *", text)
    sizes = [MINUTES[unit] for _, unit in parts]
    is_whole = re.fullmatch(r"(\d{1,9} *(min|[dhms]) *)+", text) is not None
    if not is_whole or sizes != sorted(set(sizes), reverse=True):
        return None
    return sum(int(count) * size for (count, _), size in zip(parts, sizes, strict=True))


@pytest.mark.parametrize("form", FORMS)
def test_random_texts_give_the_numbers_of_the_reference(form: str) -> None:
    rng = random.Random(5)
    texts = ["".join(rng.choices(PIECES, k=rng.randint(1, 6))) for _ in range(30_000)]
    numbers, fits = _core.parse_number_texts(texts, (".", "", ("kg",), False, (form,), ()))
    found = {t: n for t, n, f in zip(texts, numbers.tolist(), fits.tolist(), strict=True) if f}
    expected = {text: number for text in texts if (number := parse_form(text, form)) is not None}
    assert found.keys() == expected.keys()
    assert all(math.isclose(found[text], number) for text, number in expected.items())
    plain = {text for text in texts if re.fullmatch(r" *-?[\d.]+ *", text)}
    assert len(expected.keys() - plain) > 100


@pytest.mark.parametrize(
    ("text", "form", "number"),
    [
        ("<0.01", "limits", 0.005),
        ("≤ 4", "limits", 2.0),
        ("<-4", "limits", -4.0),
        (">200", "limits", 200.0),
        ("~160 kg", "limits", 160.0),
        ("63.11-", "trailing minus", -63.11),
        ("63.11- kg", "trailing minus", -63.11),
        ("63.11 kg-", "trailing minus", -63.11),
        ("-63.11-", "trailing minus", None),
        ("43.4k", "multiples", 43_400.0),
        ("1.6 Mio kg", "multiples", 1_600_000.0),
        ("1e3k", "multiples", None),
        ("120/80", "pairs", 120.0),
        ("120/80 kg", "pairs", 120.0),
        ("120/", "pairs", None),
        ("2:40", "durations", 160.0),
        ("2:60", "durations", None),
        ("1:02:03", "durations", 3723.0),
        ("2h 40m", "durations", 160.0),
        ("1d 2 hours 5min", "durations", 1565.0),
        ("40m 2h", "durations", None),
        ("5", "durations", None),
    ],
)
def test_numbers_with_marks(text: str, form: str, number: float | None) -> None:
    numbers, fits = _core.parse_number_texts([text], (".", "", ("kg",), False, (form,), ()))
    assert (numbers.tolist() if fits[0] else [None]) == [number]
    numbers, fits = _core.parse_number_texts([text], (".", "", ("kg",), False, (), ()))
    assert not fits[0] or text == "5"


def test_words_that_mean_missing_fit_and_are_nan() -> None:
    numbers, fits = _core.parse_number_texts(
        ["n.d.", " N.D. ", "n.d", "Né", "NÉ", "5"], (".", "", (), False, (), ("n.d.", "né"))
    )
    assert fits.tolist() == [1, 1, 0, 1, 0, 1]
    assert [number for number in numbers.tolist() if number == number] == [5.0]


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown form of numbers"):
        _core.parse_number_texts(["5"], (".", "", (), False, ("roman",), ()))
