"""Text cells that mean numbers or flags, and cells of number columns that mean neither."""

from __future__ import annotations

import datetime as dt
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import weigh
from weigh import errors
from weigh.features.cells import FlagReading, NumberReading, find_unit, reading_from_json
from weigh.features.inference.schema import infer_schema
from weigh.features.kinds import Category, Flag, Number
from weigh.features.schema import Schema
from weigh.source import rows

N = 300


def schema_of(values: Sequence[Any], columns: Any = "auto") -> Schema:
    return infer_schema(weigh.rows({"x": list(values)}), columns)


def read(values: Sequence[Any], columns: Any = "auto") -> list[Any]:
    """Return the column as the kind sees it, missing numbers as None."""
    source = weigh.rows({"x": list(values)})
    [chunk] = infer_schema(source, columns).chunks(source)
    return [None if value != value else value for value in chunk.columns["x"].tolist()]


def numbers(fmt: str, n: int = N) -> list[str]:
    """Return numbers of one to eight digits, two of them decimals, in a format."""
    rng = np.random.default_rng(0)
    return [fmt.format(value) for value in np.round(10.0 ** rng.uniform(0, 6, n), 2).tolist()]


def swap(texts: list[str], decimal: str, thousands: str) -> list[str]:
    table = str.maketrans({".": decimal, ",": thousands})
    return [text.translate(table) for text in texts]


PLAIN_TEXTS = numbers("{:.2f}")
GROUPED = numbers("{:,.2f}")
EXPECTED = [float(text) for text in PLAIN_TEXTS]


@pytest.mark.parametrize(
    ("texts", "reading"),
    [
        (PLAIN_TEXTS, None),
        (GROUPED, NumberReading(".", ",")),
        (swap(GROUPED, ",", "."), NumberReading(",", ".")),
        (swap(GROUPED, ",", " "), NumberReading(",", " ")),
        (swap(GROUPED, ",", "\u00a0"), NumberReading(",", " ")),
        (swap(GROUPED, ",", "\u202f"), NumberReading(",", " ")),
        (swap(GROUPED, ".", "'"), NumberReading(".", "'")),
        (swap(PLAIN_TEXTS, ",", ""), NumberReading(",")),
        ([f"${text}" for text in GROUPED], NumberReading(".", ",", "$")),
        ([f"US$ {text}" for text in GROUPED], NumberReading(".", ",", "$")),
        ([f"{text} €" for text in swap(GROUPED, ",", ".")], NumberReading(",", ".", "€")),
        ([f"EUR {text}" for text in swap(GROUPED, ",", ".")], NumberReading(",", ".", "€")),
        ([f"{text}%" for text in PLAIN_TEXTS], NumberReading(".", "", "%")),
        ([f"{text} %" for text in PLAIN_TEXTS], NumberReading(".", "", "%")),
        ([f"{text} kg" for text in PLAIN_TEXTS], NumberReading(".", "", "kg")),
    ],
)
def test_the_format_of_a_column_is_found(texts: list[str], reading: NumberReading | None) -> None:
    schema = schema_of(texts)
    assert schema.kinds == [Number()]
    assert schema.readings == ({} if reading is None else {"x": reading})
    assert read(texts) == EXPECTED


def test_brackets_and_minus_signs_of_all_kinds_are_negative() -> None:
    texts = [f"({text})" for text in GROUPED[:100]] + [f"\u2212{text}" for text in GROUPED[100:200]]
    assert read(texts + [f"-${text}" for text in GROUPED[200:]]) == [-number for number in EXPECTED]


@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        lambda table: pd.DataFrame(table).astype("string[pyarrow]"),
        lambda table: pd.DataFrame(table).astype("category"),
        pl.DataFrame,
        pa.table,
        lambda table: [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)],
    ],
)
def test_the_numbers_are_the_same_in_all_storages(make: Any) -> None:
    source = weigh.rows(make({"x": [f"${text}" for text in GROUPED]}))
    schema = infer_schema(source)
    assert (schema.kinds, schema.readings) == ([Number()], {"x": NumberReading(".", ",", "$")})
    assert np.concatenate([chunk.columns["x"] for chunk in schema.chunks(source)]).tolist() == EXPECTED


def test_a_comma_before_three_digits_everywhere_separates_thousands() -> None:
    texts = [f"{k},{100 + k}" for k in range(1, 101)]
    assert read(texts)[:2] == [1101, 2102]
    assert read([*texts, "1,5"])[:2] == [1.101, 2.102]
    assert read([*texts, "0,123"])[:2] == [1.101, 2.102]
    assert read([text.replace(",", ".") for text in texts])[:2] == [1.101, 2.102]
    assert read([f"{text}.000" for text in (t.replace(",", ".") for t in texts)])[:2] == [
        1_101_000,
        2_102_000,
    ]


def test_the_minority_of_a_mixture_of_units_is_odd() -> None:
    with pytest.warns(errors.OddCells, match=re.escape("3 of 303 cells are not numbers")):
        assert fit_values([f"${text}" for text in PLAIN_TEXTS] + ["€5.00", "€6.00", "7%"]) == Number(
            shape="auto"
        )
    with pytest.warns(errors.OddCells, match=re.escape("It looks like a number in another format or unit")):
        assert fit_values([f"{text} %" for text in PLAIN_TEXTS] + ["0.45"]) == Number(shape="auto")
    assert fit_values([f"${text}" for text in PLAIN_TEXTS] + ["5.00"] * 100) == Number(shape="auto")


def fit_values(values: Sequence[Any]) -> Any:
    """Train on a column, and return the kind that it has."""
    table = {"x": list(values), "y": [k % 2 for k in range(len(values))]}
    return weigh.NaiveBayes().fit(table, "y").schema_.kinds[0]


@pytest.mark.parametrize(
    "values",
    [
        [f"{k % 20:05d}" for k in range(N)],  # postcodes
        ["a1", "b2", "c3", "d4"] * 50,
        ["1", "2", "3"] * 50,  # few distinct whole numbers
        ["192.168.1.1", "10.0.0.1", "10.0.0.2", "10.0.0.3"] * 50,
        ["12:30", "12:45", "13:00", "13:15"] * 50,
        ["10-20", "20-30", "30-40", "40-50"] * 50,
        ["3 rooms", "4 rooms", "5 rooms", "6 rooms"] * 50,
        ["yes", "no", "maybe"] * 50,
    ],
)
def test_other_texts_stay_categories(values: list[str]) -> None:
    assert (schema_of(values).kinds, schema_of(values).readings) == ([Category()], {})


def test_a_stated_kind_takes_precedence() -> None:
    assert schema_of(GROUPED, {"x": "category"}).kinds == [Category()]
    assert read(["$5", "$6"], {"x": "number"}) == [5.0, 6.0]
    assert read(["yes", "No"], {"x": "flag"}) == [1.0, 0.0]
    assert read(["1,5", "2,25"], "number") == [1.5, 2.25]


def test_a_bare_array_of_texts_is_not_read() -> None:
    array = np.array([[text] for text in GROUPED], dtype=object)
    schema = infer_schema(weigh.rows(array))
    assert (schema.kinds, schema.readings) == ([Category()], {})


@pytest.mark.parametrize(
    ("words", "reading"),
    [
        (("yes", "no"), FlagReading("yes", "no")),
        (("Y", "N"), FlagReading("y", "n")),
        (("TRUE", "False"), FlagReading("true", "false")),
        (("t", "f"), FlagReading("t", "f")),
        (("on", "off"), FlagReading("on", "off")),
        (("ja", "Nein"), FlagReading("ja", "nein")),
        (("oui", "non"), FlagReading("oui", "non")),
        (("Si", "No"), FlagReading("si", "no")),
    ],
)
def test_two_words_that_mean_yes_and_no_are_a_flag(words: tuple[str, str], reading: FlagReading) -> None:
    values = [*words, None, words[0].lower()] * 50
    schema = schema_of(values)
    assert (schema.kinds, schema.readings) == ([Flag()], {"x": reading})
    assert read(values)[:4] == [1.0, 0.0, None, 1.0]


def test_the_words_of_a_small_table_stay_categories() -> None:
    assert schema_of(["yes", "no"] * 20).kinds == [Category()]
    assert schema_of(["yes", "off"] * 100).kinds == [Category()]


@pytest.mark.parametrize("learner", [weigh.NaiveBayes, weigh.LogisticRegression, weigh.LinearRegression])
def test_explanations_show_the_words_of_flags(learner: Any) -> None:
    is_ill = np.random.default_rng(0).random(N) < 0.5
    smokes = ["Yes" if ill or k % 3 == 0 else "No" for k, ill in enumerate(is_ill)]
    model = learner().fit({"smokes": smokes, "ill": is_ill.astype(int).tolist()}, "ill")
    assert "smokes = yes " in str(model.explain({"smokes": "YES"})[0])


def test_readings_survive_a_round_trip_and_are_absent_without_any() -> None:
    schema = schema_of([f"${text}" for text in GROUPED])
    assert Schema.from_json(schema.to_json()).readings == schema.readings
    assert "readings" not in schema_of([1.5, 2.5]).to_json()
    flags = FlagReading("ja", "nein")
    assert reading_from_json(flags.to_json()) == flags


NUMBERS: dict[str, Any] = {"reading": "number", "decimal": ".", "thousands": "", "unit": ""}
FLAGS: dict[str, Any] = {"reading": "flag", "present": "yes", "absent": "no"}


@pytest.mark.parametrize(
    "data",
    [
        *(
            NUMBERS | change
            for change in ({"decimal": "x"}, {"thousands": "."}, {"unit": "zz"}, {"junk": "1"})
        ),
        *(NUMBERS | change for change in ({"reading": "zz"}, {"reading": ["flag"]}, {"decimal": [".", 1]})),
        *(
            FLAGS | change
            for change in ({"present": "no"}, {"present": "YES"}, {"absent": None}, {"unit": ""})
        ),
        *({"reading": "flag"}, {"reading": "number"}, {}, "number", None),
    ],
)
def test_stored_readings_that_no_schema_writes_are_refused(data: Any) -> None:
    assert reading_from_json(NUMBERS) == NumberReading()
    assert reading_from_json(FLAGS) == FlagReading()
    with pytest.raises(ValueError, match="the reading"):
        reading_from_json(data)


@pytest.mark.parametrize(
    "readings",
    [[["other", NUMBERS]], [["word", NUMBERS]], [["x", NUMBERS]] * 2, None, {"x": NUMBERS}, "ab", 5],
)
def test_stored_readings_belong_to_one_column_of_numbers_each(readings: Any) -> None:
    schema = infer_schema(rows({"x": [0.5, 1.5], "word": ["a", "b"]}), {"x": "number", "word": "category"})
    data = schema.to_json() | {"readings": [["x", FLAGS]]}
    assert Schema.from_json(data).readings == {"x": FlagReading()}
    with pytest.raises((ValueError, TypeError)):
        Schema.from_json(data | {"readings": readings})


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        *[("$5", "$"), ("5 EUR", "€"), ("45 %", "%"), ("980,31", ""), (3.5, ""), ("2024-01-05", None)],
        *[(word, None) for word in ("n/a", "-", "?", "unknown", "#N/A", "5 $ 5", True)],
    ],
)
def test_what_looks_like_a_number(value: object, unit: str | None) -> None:
    assert find_unit(value) == unit


ODD = (
    "If that means missing, use missing=['unknown']. If the column is a category, use "
    "columns={'x': 'category'}."
)


def write_rows(path: Path, n: int, odd_rows: Sequence[int], word: str = "unknown") -> Path:
    odd = set(odd_rows)
    lines = (f"{word if k in odd else k / 2},{'ab'[k % 2]}\n" for k in range(n))
    path.write_text("x,y\n" + "".join(lines))
    return path


@pytest.mark.parametrize("learner", [weigh.NaiveBayes, weigh.LogisticRegression, weigh.Perceptron])
@pytest.mark.parametrize(
    ("n", "odd_rows", "places"),
    [
        (200, [30], "'unknown' (line 32)"),
        (3_000, [30, 300], "'unknown' (line 32), 'unknown' (line 302)"),
        (
            160_000,
            [30, 300, 100_000, 150_000],
            "'unknown' (line 32), 'unknown' (line 302), 'unknown' (line 100,002) and 1 more",
        ),
    ],
)
def test_a_few_odd_cells_are_missing_and_named_once(
    learner: Any, n: int, odd_rows: list[int], places: str, tmp_path: Path
) -> None:
    source = weigh.open(write_rows(tmp_path / "data.csv", n, odd_rows), "y", block=100_000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = learner().fit(source)
    assert model.schema_.kinds[0].name in ("number", "value")
    state = "is not a number and is" if len(odd_rows) == 1 else "are not numbers and are"
    counted = f"{len(odd_rows)} of {n:,} cells {state} treated as missing"
    messages = [str(each.message) for each in caught if isinstance(each.message, errors.OddCells)]
    assert messages == [f"Column 'x': {counted}: {places}. {ODD}"]


def test_odd_cells_equal_missing_cells(tmp_path: Path) -> None:
    odd_rows = [30, 300, 20_000]
    with pytest.warns(errors.OddCells):
        odd = weigh.NaiveBayes().fit(weigh.open(write_rows(tmp_path / "odd.csv", 30_000, odd_rows), "y"))
    empty = weigh.NaiveBayes().fit(weigh.open(write_rows(tmp_path / "empty.csv", 30_000, odd_rows, ""), "y"))
    assert odd.model_.to_bytes() == empty.model_.to_bytes()


def test_many_odd_cells_in_the_first_rows_make_a_category(tmp_path: Path) -> None:
    source = weigh.open(write_rows(tmp_path / "data.csv", 1_000, range(11), "broken"), "y")
    message = (
        "Column 'x' contains numbers except for 'broken' (11 of 1,000 cells), so it is treated as a "
        "category. If that means missing, use missing=['broken']."
    )
    with pytest.warns(errors.OddValues, match=re.escape(message)):
        assert infer_schema(source).kinds == [Category()]
    source = weigh.open(write_rows(tmp_path / "data.csv", 1_000, range(11), '"980,31"'), "y")
    with pytest.warns(errors.OddValues, match="It looks like a number in another format") as caught:
        infer_schema(source)
    assert "missing=" not in str(caught[0].message)


def test_many_odd_cells_in_later_rows_are_an_error(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "data.csv", 20_000, range(15_000, 15_201))
    message = (
        "Column 'x' is a number, but 201 of 20,000 cells are not numbers, more than 1 %: 'unknown' (line "
        f"15,002), 'unknown' (line 15,003), 'unknown' (line 15,004) and 198 more. {ODD}"
    )
    for learner in (weigh.NaiveBayes(), weigh.NaiveBayes(threads=1), weigh.LogisticRegression()):
        with pytest.raises(errors.ColumnError, match=re.escape(message)):
            learner.fit(weigh.open(path, "y"))


def test_missing_cells_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(
        "x,y\n" + "".join(f"{'' if k > 99 else 'odd' if k == 5 else k / 4},{k % 2}\n" for k in range(5_000))
    )
    with pytest.warns(errors.OddCells, match="1 of 100 cells is not a number"):
        weigh.NaiveBayes().fit(weigh.open(path, "y"))


def test_a_file_without_a_header_reports_odd_cells_too(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "data.csv", 20_000, [15_000])
    path.write_text(path.read_text().removeprefix("x,y\n"))
    source = weigh.open(path, has_header=False)
    schema = infer_schema(source)
    with pytest.warns(errors.OddCells, match=re.escape("Column 'x0': 1 of 20,000 cells is not a number")):
        list(schema.chunks(source))


def test_odd_values_of_every_type_are_missing_in_memory() -> None:
    odd = [dt.date(2024, 1, 5), "n/a", dt.datetime(2024, 1, 5, 12), "-"]
    values: list[Any] = [k / 2 for k in range(1_000)] + odd
    with pytest.warns(errors.OddCells, match="4 of 1,004 cells are not numbers") as caught:
        assert fit_values(values) == Number(shape="auto")
    examples = "'2024-01-05' (row 1,000), 'n/a' (row 1,001), '2024-01-05T12:00:00' (row 1,002) and 1 more"
    assert examples in str(caught[0].message)


def test_true_and_false_among_numbers_are_one_and_zero() -> None:
    assert read([0.5, True, 2.5, False, None, "7.5"], {"x": "number"}) == [0.5, 1.0, 2.5, 0.0, None, 7.5]


def test_predicting_treats_odd_cells_as_missing(tmp_path: Path) -> None:
    model = weigh.NaiveBayes().fit({"x": [1.0, 2.0, 8.0, 9.0], "y": [0, 0, 1, 1]}, "y").model_
    message = (
        "Column 'x': 1 of 2 cells is not a number and is treated as missing: 'unknown' (row 1). If that "
        "means missing, train with missing=['unknown']."
    )
    with pytest.warns(errors.OddCells, match=re.escape(message)):
        odd = model.predict_proba({"x": [1.0, "unknown"]})
    assert np.array_equal(odd, model.predict_proba({"x": [1.0, None]}))


def test_a_model_reads_the_formats_of_its_training_file(tmp_path: Path) -> None:
    table = {"x": [f"${text}" for text in GROUPED], "y": ["ab"[number > 1_000] for number in EXPECTED]}
    weigh.NaiveBayes().fit(table, "y").model_.save(tmp_path / "m.weigh")
    model = weigh.load(tmp_path / "m.weigh")
    expected = model.predict_proba({"x": EXPECTED})
    assert np.array_equal(model.predict_proba({"x": table["x"]}), expected)
    (tmp_path / "rows.csv").write_text("x\n" + "".join(f'"{text}"\n' for text in table["x"]))
    assert np.array_equal(model.predict_proba(weigh.open(tmp_path / "rows.csv")), expected)


def test_a_file_can_have_a_decimal_comma(tmp_path: Path) -> None:
    rows = "".join(f"{text};{k % 2}\n" for k, text in enumerate(swap(GROUPED, ",", ".")))
    (tmp_path / "data.csv").write_text("x;y\n" + rows)
    (tmp_path / "plain.csv").write_text(
        "x;y\n" + "".join(f"{t};{k % 2}\n" for k, t in enumerate(PLAIN_TEXTS))
    )
    source = weigh.open(tmp_path / "data.csv", "y", delimiter=";", decimal=",", thousands=".")
    assert source.prefix().columns["x"].tolist() == EXPECTED
    learner = weigh.NaiveBayes().fit(source)
    assert learner.schema_.readings == {"x": NumberReading(",", ".")}
    again = weigh.open(tmp_path / "data.csv", "y", delimiter=";")
    assert learner.score(again) == learner.score({"x": EXPECTED, "y": [k % 2 for k in range(N)]}, "y")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decimal": ";"}, "open: decimal must be '.' or ',', got ';'."),
        (
            {"decimal": ".", "thousands": "."},
            "open: thousands must be ',' or ' ' or \"'\" if decimal='.', got '.'.",
        ),
        (
            {"decimal": ",", "thousands": ","},
            "open: thousands must be '.' or ' ' or \"'\" if decimal=',', got ','.",
        ),
    ],
)
def test_separators_are_checked(options: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(errors.ParameterError, match=re.escape(message)):
        weigh.open(write_rows(tmp_path / "data.csv", 3, []), **options)


def test_postcodes_are_categories_without_a_note(tmp_path: Path) -> None:
    codes = [f"{k % 37 * 2_600 + 67:05d}" for k in range(400)]
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "".join(f"{code},{k % 2}\n" for k, code in enumerate(codes)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert infer_schema(weigh.open(path, "y")).kinds == [Category()]
        assert infer_schema(rows({"x": codes})).kinds == [Category()]


def test_models_with_different_readings_cannot_merge() -> None:
    labels = [k % 2 for k in range(400)]
    first = weigh.NaiveBayes().fit({"x": [f"${k * 9.5:,.2f}" for k in range(400)]}, labels).model_
    second = weigh.NaiveBayes().fit({"x": [k * 9.5 for k in range(400)]}, labels).model_
    message = (
        "The models cannot merge: column 'x' is read as NumberReading(decimal='.', thousands=',', unit='$') "
        "in the first and read without a format in the second. Train the second with the columns of the "
        "first: columns=first.schema."
    )
    with pytest.raises(errors.MergeError, match=re.escape(message)):
        first.merge(second)


def test_many_different_odd_cells_are_not_advised_to_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    words = ["red", "green", "blue", "white"]
    path.write_text(
        "x,y\n" + "".join(f"{words[k % 4] if k > 11_000 else k / 4},{k % 2}\n" for k in range(13_000))
    )
    message = (
        "Column 'x' is a number, but 1,999 of 13,000 cells are not numbers, more than 1 %: 'green' (line "
        "11,003), 'blue' (line 11,004), 'white' (line 11,005) and 1,996 more. If the column is no number, "
        "use columns={'x': 'category'} or another kind."
    )
    with pytest.raises(errors.ColumnError, match=f"^{re.escape(message)}$"):
        weigh.NaiveBayes().fit(weigh.open(path, "y"))
    values = ["red", "green", "blue", "white"] * 5 + [k / 4 for k in range(300)]
    with pytest.warns(errors.OddValues) as caught:
        assert schema_of(values).kinds == [Category()]
    assert str(caught[0].message) == (
        "Column 'x' contains numbers except for 'red', 'green', 'blue' and 1 more (20 of 320 cells), so it "
        "is treated as a category. If they mean missing, leave these cells empty and use "
        "columns={'x': 'number'}."
    )


def test_limits_are_never_advised_to_be_missing(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "data.csv", 20_000, [15_000], "<0.01")
    with pytest.warns(errors.OddCells) as caught:
        weigh.NaiveBayes().fit(weigh.open(path, "y"))
    assert "'<0.01' (line 15,002). It looks like a number in another format" in str(caught[0].message)
