"""Numbers with units of any name, limits, multiples, durations, pairs and words that mean missing."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weigh
from weigh import errors
from weigh.features.cells import NumberReading, reading_from_json
from weigh.features.inference.schema import infer_schema
from weigh.features.kinds import Category, Number, Skip
from weigh.features.text_kinds import Text
from weigh.source.missing_words import MISSING_WORDS, means_missing

N = 400
VALUES = np.round(np.exp(np.random.default_rng(0).normal(5, 0.6, N)), 2).tolist()
STREETS = ["Oak", "Elm", "Ash", "Fir", "Bay", "Ivy", "Yew", "Fig", "Gum", "Nut", "Box", "Haw"]
DRAWS = np.random.default_rng(2).integers(len(STREETS), size=N).tolist()
Write = Callable[[float], str]


def read(cells: list[Any], columns: Any = "auto", name: str = "x") -> tuple[Any, Any, list[str], list[float]]:
    """Return the kind, the reading, the warnings and the numbers of a column."""
    source = weigh.rows({name: cells})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        schema = infer_schema(source, columns)
        [chunk] = schema.chunks(source)
    numbers = chunk.columns[name].tolist() if isinstance(schema.kinds[0], Number) else []
    return schema.kinds[0], schema.readings.get(name), [str(each.message) for each in caught], numbers


@pytest.mark.parametrize(
    ("write", "reading", "convert"),
    [
        (lambda x: f"{x} ch", NumberReading(suffixes=("ch",)), lambda x: x),
        (lambda x: f"{x} m²", NumberReading(suffixes=("m²",)), lambda x: x),
        (lambda x: f"{x} L/100km", NumberReading(suffixes=("L/100km",)), lambda x: x),
        (lambda x: f"{x} days ago", NumberReading(suffixes=("days ago",)), lambda x: x),
        (lambda x: f"{x:.1f}k", NumberReading(forms=("multiples",)), lambda x: round(x, 1) * 1e3),
        (lambda x: f"${x:.1f}k", NumberReading(unit="$", forms=("multiples",)), lambda x: round(x, 1) * 1e3),
        (lambda x: f"{x} Mio €", NumberReading(unit="€", forms=("multiples",)), lambda x: x * 1e6),
        (
            lambda x: f"{x}k" if x < 150 else f"{x}M",
            NumberReading(forms=("multiples",)),
            lambda x: x * (1e3 if x < 150 else 1e6),
        ),
        (
            lambda x: f"{x}".replace(".", ",") + ("-" if x > 150 else ""),
            NumberReading(",", forms=("trailing minus",)),
            lambda x: -x if x > 150 else x,
        ),
        (lambda x: f"~{x}", NumberReading(forms=("limits",)), lambda x: x),
    ],
)
def test_numbers_with_marks_are_read(write: Write, reading: NumberReading, convert: Any) -> None:
    kind, found, notes, numbers = read([write(x) for x in VALUES])
    assert (kind, found, notes) == (Number(), reading, [])
    assert np.allclose(numbers, [convert(x) for x in VALUES])
    assert reading_from_json(reading.to_json()) == reading


def test_singular_and_plural_are_one_unit() -> None:
    kind, reading, _, _ = read(["1 day"] * 20 + [f"{k} days" for k in range(2, 60)] * 5)
    assert (kind, set(reading.suffixes)) == (Number(), {"day", "days"})


def test_limits_are_numbers_with_a_note() -> None:
    cells = [f"<{100}" if x < 100 else ">400" if x > 400 else f"{x}" for x in VALUES]
    kind, reading, notes, numbers = read(cells)
    assert (kind, reading) == (Number(), NumberReading(forms=("limits",)))
    assert np.allclose(numbers, [50 if x < 100 else 400 if x > 400 else x for x in VALUES])
    n = sum(x < 100 or x > 400 for x in VALUES)
    example = next(cell for cell in cells if cell[0] in "<>")
    assert notes == [
        f"Column 'x': {n} of 400 cells are limits such as '{example}'. A number after '<' is read as its "
        "half, and one after '>' as itself."
    ]


def test_few_marks_are_read_too() -> None:
    kind, _, notes, numbers = read([*map(str, VALUES), "500-", "<4"])
    assert (kind, numbers[-2:]) == (Number(), [-500, 2])
    assert notes == [
        "Column 'x': 1 of 402 cells is a limit such as '<4'. A number after '<' is read as its half, and one "
        "after '>' as itself."
    ]


def test_a_frequent_word_for_missing_is_missing_in_a_column_of_numbers() -> None:
    cells = ["n.d." if k % 20 == 3 else f"{x}" for k, x in enumerate(VALUES)]
    kind, reading, notes, numbers = read(cells)
    assert (kind, reading) == (Number(), NumberReading(missing=("n.d.",)))
    assert np.isnan(numbers).sum() == 20
    assert notes == [
        "Column 'x' contains numbers except for 'n.d.' (20 of 400 cells), a word for missing values; these "
        "cells are treated as missing. To state this, use missing=['n.d.']. If the column is a category, use "
        "columns={'x': 'category'}."
    ]


@pytest.mark.parametrize("word", ["broken", "high"])
def test_other_frequent_words_make_a_category(word: str) -> None:
    kind, _, notes, _ = read([word if k % 20 == 3 else f"{x}" for k, x in enumerate(VALUES)])
    assert kind == Category()
    assert f"except for '{word}' (20 of 400 cells), so it is treated as a category" in notes[0]


def test_words_among_few_codes_or_few_numbers_stay_categories() -> None:
    assert read(["1", "2", "3", "4", "unknown"] * 80)[0] == Category()
    assert read(["unknown" if k % 2 else f"{x}" for k, x in enumerate(VALUES)])[0] == Category()


def test_the_words_of_a_reading_are_missing_in_later_rows_in_any_case(tmp_path: Path) -> None:
    cells = ["n.d." if k % 20 == 3 else f"{x} ch" for k, x in enumerate(VALUES)]
    path = tmp_path / "power.csv"
    path.write_text("x,y\n" + "".join(f"{cell},{k % 2}\n" for k, cell in enumerate(cells)))
    with pytest.warns(errors.OddCells):
        model = weigh.NaiveBayes().fit(weigh.open(path, "y"))
    assert (model.predict_proba({"x": ["N.D."]}) == model.predict_proba({"x": [None]})).all()
    assert (model.predict_proba({"x": ["120 ch"]}) == model.predict_proba({"x": [120.0]})).all()


@pytest.mark.parametrize(
    "value", ["N/A", " unknown ", "<NA>", "(unbekannt)", "K.A.", "Non communiqué", "--", "ERR", "abs."]
)
def test_words_that_mean_missing(value: str) -> None:
    assert means_missing(value)


@pytest.mark.parametrize("value", ["", "high", "none of these", "5", None, 5.0, "x" * 100])
def test_other_values_do_not_mean_missing(value: object) -> None:
    assert not means_missing(value)


def test_no_word_for_missing_is_a_number() -> None:
    assert not any(re.search(r"\d", word) for word in MISSING_WORDS - {"#div/0!"})


def test_pairs_are_read_as_their_first_number_with_a_note() -> None:
    kind, reading, notes, numbers = read([f"{x:.0f}/{x / 2:.0f}" for x in VALUES])
    assert (kind, reading) == (Number(), NumberReading(forms=("pairs",)))
    assert numbers == [round(x) for x in VALUES]
    assert notes == [
        f"Column 'x' has two numbers per cell, such as '{VALUES[0]:.0f}/{VALUES[0] / 2:.0f}', and only the "
        "first is used. To use both, split the column into two."
    ]


@pytest.mark.parametrize(
    ("write", "unit"),
    [
        (lambda x: f"{int(x) // 60}h {int(x) % 60}m", "minutes"),
        (lambda x: f"{int(x) // 60}:{int(x) % 60:02}", "the unit after the colon"),
    ],
)
def test_durations_are_numbers_with_a_note(write: Write, unit: str) -> None:
    kind, reading, notes, numbers = read([write(x) for x in VALUES])
    assert (kind, reading) == (Number(), NumberReading(forms=("durations",)))
    assert numbers == [int(x) for x in VALUES]
    assert notes == [
        f"Column 'x' holds lengths of time such as '{write(VALUES[0])}', which are read as numbers in {unit}."
    ]


def test_mixed_units_make_a_category_with_a_note() -> None:
    cells = [f"{x}F" if k % 4 == 0 else f"{x}" for k, x in enumerate(VALUES)]
    kind, _, notes, _ = read(cells[:200] * 2)
    assert kind == Category()
    assert notes == [
        f"Column 'x' is treated as a category, although 100 % of its cells begin with a number: they are "
        f"written like '{cells[1]}' (75 %), '{cells[0]}' (25 %). If the numbers are in one unit, use "
        "columns={'x': 'number'}, which leaves out what follows them; otherwise convert them to one unit "
        "first."
    ]
    kind, _, _, numbers = read(cells, {"x": "number"})
    assert kind == Number()
    assert numbers == VALUES


@pytest.mark.parametrize(
    "values",
    [
        [f"10.{k % 7}.0.{k % 50}" for k in range(N)],
        [f"{k % 40:05}" for k in range(N)],
        [f"{k % 60} {STREETS[draw]} Road" for k, draw in enumerate(DRAWS)],
        ["3 rooms", "4 rooms", "5 rooms"] * 100,
        ["2-", "3", "3-", "4", "1"] * 80,
    ],
)
def test_codes_and_addresses_have_no_note(values: list[str]) -> None:
    kind, _, notes, _ = read(values)
    assert kind in (Category(), Text(), Skip())
    assert not any("begin with a number" in note for note in notes)


def test_telephone_numbers_have_no_note_but_amounts_in_two_currencies_do() -> None:
    phones = [f"{200 + k % 700}-{1000 + 7 * k}" for k in range(N)]
    amounts = [f"{'€' if k % 3 else '$'}{x}" for k, x in enumerate(VALUES)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        infer_schema(weigh.rows({"phone": phones, "amount": amounts, "x": VALUES}))
    notes = [str(each.message) for each in caught if "begin with a number" in str(each.message)]
    assert len(notes) == 1
    assert notes[0].startswith("Column 'amount' is skipped, although 100 % of its cells begin with a number")


def test_a_stated_number_leaves_out_common_suffixes_and_words_for_missing() -> None:
    cells = ["unknown" if k % 10 == 0 else f"{x} {'hp' if k % 3 else 'PS'}" for k, x in enumerate(VALUES)]
    kind, reading, _, numbers = read(cells, {"x": "number"})
    assert (kind, set(reading.suffixes), reading.missing) == (Number(), {"hp", "PS"}, ("unknown",))
    known = [x for k, x in enumerate(VALUES) if k % 10]
    assert [x for x in numbers if x == x] == known


def test_codes_in_groups_are_identifiers() -> None:
    draw = np.random.default_rng(1).integers(1000, 9999, (N, 4)).tolist()
    ibans = [f"DE{a % 90 + 10} {b} {c} {d} {a}" for a, b, c, d in draw]
    source = weigh.rows({"account": ibans, "x": VALUES})
    with pytest.warns(errors.SkippedColumns, match="Column 'account' is skipped"):
        assert infer_schema(source).kinds == [Skip(), Number()]
    texts = [f"CALL {a} AND {b} OR WRITE TO {c}" for a, b, c, _ in draw]
    assert infer_schema(weigh.rows({"note": texts})).kinds == [Text()]


@pytest.mark.parametrize("blank", [" ", "\u00a0", "\u202f"])
def test_french_numbers_are_read_in_a_file_with_decimal_commas(blank: str, tmp_path: Path) -> None:
    path = tmp_path / "autos.csv"
    to_french = str.maketrans({",": blank, ".": ","})
    lines = [
        f"{100 * x:,.2f};{1000 * x:,.0f} km;{x:.1f};{k % 2}".translate(to_french)
        for k, x in enumerate(VALUES)
    ]
    path.write_text("\n".join(["prix;km;conso;y", *lines, ""]))
    for options in ({}, {"decimal": ","}):
        source = weigh.open(path, label="y", **options)  # type: ignore[arg-type]
        schema = infer_schema(source)
        assert schema.kinds == [Number()] * 3
        assert schema.readings["prix"] == NumberReading(",", " ")
        assert schema.readings["km"] == NumberReading(",", " ", "km")
        [chunk] = schema.chunks(source)
        assert np.allclose(chunk.columns["prix"], 100 * np.array(VALUES))
        assert np.allclose(chunk.columns["km"], np.round(1000 * np.array(VALUES)))


def test_samples_of_a_column_may_have_a_few_more_odd_cells_by_chance() -> None:
    def fit(n_rows: int, n_odd: int) -> None:
        cells = ["many"] * n_odd + [str(k) for k in range(n_rows - n_odd)]
        table = {"x": cells, "y": ["a", "b"] * (n_rows // 2)}
        weigh.NaiveBayes(columns={"x": weigh.Number()}).fit(table, "y")

    with pytest.warns(errors.OddCells):
        fit(94, 3)
    for n_rows, n_odd in ((94, 4), (8, 1), (2000, 21)):
        with pytest.raises(errors.ColumnError, match="more than 1 %"):
            fit(n_rows, n_odd)
