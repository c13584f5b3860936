"""The native CSV parser against Python's csv module, on random tables and random bytes."""

from __future__ import annotations

import contextlib
import csv
import io
import math
import random
import re
from typing import Any

import numpy as np
import pytest

from weigh import _core
from weigh.source.chunk import TextColumn

ALL = 1 << 62
PIECES = ["a", "b", "é", "日本", "🙂", " ", "'", ";", "0", "-1", "2.5", "true", "x" * 7, "y" * 17, "z" * 40]
SPECIAL = ['"', ",", "\n", "\r\n", "\r", '""', '","']
Cell = str | None
Format = tuple[str, str, tuple[str, ...], bool, tuple[str, ...], tuple[str, ...]]
BLANKS = " \u00a0\u2009\u202f"


def as_bytes(data: bytes) -> Any:
    return np.frombuffer(data, dtype=np.uint8)


def parse(
    data: bytes,
    kinds: list[str],
    missing: tuple[str, ...] = (),
    max_records: int = ALL,
    formats: tuple[Format, ...] = (),
) -> Any:
    return _core.parse_csv(as_bytes(data), kinds, ",", True, missing, formats, max_records)


def scan_records(data: bytes, max_records: int = ALL, at_end: bool = False) -> tuple[int, int]:
    end, records = _core.scan_csv_records(as_bytes(data), ",", True, max_records, at_end)
    return end, records


def column(data: str, kind: str, *missing: str) -> Any:
    """Return the inferred kind and the values of a file with one column."""
    _, [(found, codes, values)], fault = parse(data.encode(), [kind], missing)
    assert fault is None, fault
    if found == "number":
        return found, values.tolist()
    values = [*(values if isinstance(values, list) else values.tolist()), None]
    return found, [values[code] for code in codes.tolist()]


def reference_records(data: bytes) -> list[list[Cell]]:
    """Return the records that Python's csv module reads; it also skips empty lines."""
    text = io.StringIO(data.decode(), newline="")
    return [[field or None for field in record] for record in csv.reader(text) if record]


def random_table(rng: random.Random) -> bytes:
    width = rng.randint(2, 6)
    end = rng.choice(["\n", "\r\n", "\r"])
    specials = rng.random() < 0.5
    lines = []
    for _ in range(rng.randint(1, 60)):
        record = ["".join(rng.choices(PIECES, k=rng.randint(0, 3))) for _ in range(width)]
        for at in range(width):
            if specials and rng.random() < 0.4:
                inner = record[at] + "".join(rng.choices(SPECIAL, k=rng.randint(0, 3))) + record[at]
                record[at] = '"' + inner.replace('"', '""') + '"'
            elif specials and record[at] and rng.random() < 0.2:
                record[at] += 'inch"es'
        lines.append(",".join(record) + end * (1 + (rng.random() < 0.1)))
    data = "".join(lines)
    return (data.rstrip("\r\n") if rng.random() < 0.5 else data).encode()


@pytest.mark.parametrize("seed", range(300))
def test_fields_equal_those_of_the_csv_module(seed: int) -> None:
    data = random_table(random.Random(seed))
    expected = reference_records(data)
    for kind in ("string", "text"):
        records, columns, fault = parse(data, [kind] * len(expected[0]))
        assert (records, fault) == (len(expected), None)
        for at, (_, codes, values) in enumerate(columns):
            if kind == "text":
                sizes, unescaped = values
                rows = TextColumn(codes, sizes, np.frombuffer(data, np.uint8), unescaped).to_pylist()
            else:
                rows = [[*values, None][code] for code in codes.tolist()]
                assert len(set(values)) == len(values)
            assert rows == [record[at] for record in expected]


@pytest.mark.parametrize("seed", range(300))
def test_chunks_split_at_record_ends_cover_all_records(seed: int) -> None:
    rng = random.Random(seed)
    data = random_table(rng)
    expected = reference_records(data)
    size, found, at = rng.randint(1, 200), 0, 0
    while at < len(data):
        at_end = at + size >= len(data)
        max_records = rng.randint(1, 9)
        end, records = scan_records(data[at : at + size], max_records, at_end)
        assert records <= max_records
        if end == 0:
            size *= 2
            continue
        read, _, fault = parse(data[at : at + end], ["string"] * len(expected[0]))
        assert (read, fault) == (records, None)
        found += records
        at += end
    assert found == len(expected)


def test_a_scan_ends_after_the_last_complete_record() -> None:
    assert scan_records(b"1,2\n3,4\n5") == (8, 2)
    assert scan_records(b"1,2\n3,4\n5", at_end=True) == (9, 3)
    assert scan_records(b'1,"\n2\n') == (0, 0)
    assert scan_records(b'1\n2,"\n",3\n4') == (10, 2)
    assert scan_records(b'1,5" pipe\n2\n') == (12, 2)
    assert scan_records(b"\n\r\n1\n\n2\n", max_records=1) == (5, 1)
    assert scan_records(b"") == scan_records(b"", at_end=True) == (0, 0)


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["1", "2", "0", " 3 "], "integer", [1, 2, 0, 3]),
        (["1", "2", "007", " 3 "], "string", ["1", "2", "007", " 3 "]),
        (["1.5", " 00"], "string", ["1.5", " 00"]),
        (["-01", "00.5"], "real", [-1.0, 0.5]),
        (["-9223372036854775808", "-0"], "integer", [-(2**63), 0]),
        (["9223372036854775808", "1"], "real", [2.0**63, 1.0]),
        (["1", "2.5", "1e5", "+2", ".5", "1."], "real", [1.0, 2.5, 1e5, 2.0, 0.5, 1.0]),
        (["1.5", "nan", "NaN"], "real", [1.5, None, None]),
        (["inf", "-Infinity", "1e400", "1e-400"], "real", [math.inf, -math.inf, math.inf, 0.0]),
        (["true", "False", "1", "0", "TRUE"], "flag", [True, False, True, False, True]),
        (["1", "2", "true"], "string", ["1", "2", "true"]),
        (["0x1A", "1"], "string", ["0x1A", "1"]),
        (["1_0", "1"], "string", ["1_0", "1"]),
        (["-", "."], "string", ["-", "."]),
        (["+-1", "--1"], "string", ["+-1", "--1"]),
        (["?", "x", "?"], "string", [None, "x", None]),
        (["?", "4"], "integer", [None, 4]),
        (["?", "?"], "string", [None, None]),
    ],
)
def test_the_narrowest_kind_is_inferred(values: list[str], kind: str, expected: list[Any]) -> None:
    assert column("\n".join(values), "any", "?") == (kind, expected)


def test_equal_values_share_a_code() -> None:
    _, [(_, codes, values)], _ = parse(b"1\n01\n2\n 1\n", ["integer"])
    assert (codes.tolist(), values.tolist()) == ([0, 0, 1, 0], [1, 2])
    _, [(_, codes, values)], _ = parse(b"0.5\n-0.0\n.5\n0.0\n", ["any"])
    assert (codes.tolist(), values.tolist()) == ([0, 1, 0, 1], [0.5, 0.0])


@pytest.mark.parametrize("seed", range(20))
def test_numbers_are_rounded_as_in_python(seed: int) -> None:
    rng = random.Random(seed)
    texts = [str(rng.randrange(10 ** rng.randint(1, 20))) for _ in range(200)]
    texts += [
        f"{rng.choice(['', '-', '+'])}{rng.uniform(0, 10 ** rng.randint(-9, 9)):.{rng.randint(0, 17)}f}"
        for _ in range(300)
    ]
    texts += [repr(rng.uniform(-1, 1) * 10.0 ** rng.randint(-320, 308)) for _ in range(300)]
    kind, numbers = column("\n".join(texts), "number")
    assert (kind, numbers) == ("number", [float(text) for text in texts])


def test_markers_may_be_numbers() -> None:
    assert np.isnan(column("-9\n5\nNA", "number", "-9", "NA")[1]).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("data", "kinds", "fault"),
    [
        (b"1,2\n3,4,5\n", ["number"] * 2, ("ragged", 1, 4, 2, 3, b"")),
        (b"1,2\nx\n", ["number"] * 2, ("ragged", 1, 4, 0, 1, b"")),
        (b"1,2\n\n3,x\n", ["integer"] * 2, ("unfit", 1, 5, 1, 0, b"x")),
        (b"1\n2\n1.5\n", ["integer"], ("unfit", 2, 4, 0, 0, b"1.5")),
        (b"true\nyes\n", ["flag"], ("unfit", 1, 5, 0, 0, b"yes")),
        (b"1\n \n", ["real"], ("unfit", 1, 2, 0, 0, b" ")),
        (b"1\n\xff\n", ["number"], ("not_utf8", 1, 2, 0, 0, b"\xff")),
        (b"a\n\xff\n", ["string"], ("not_utf8", 1, 2, 0, 0, b"\xff")),
        (b"a\n\xed\xa0\x80\n", ["text"], ("not_utf8", 1, 2, 0, 0, b"\xed\xa0\x80")),
        (b'1,2\n3,"4\n', ["number", "skip"], ("open_quote", 1, 4, 0, 0, b"")),
    ],
)
def test_errors_have_record_offset_and_column(data: bytes, kinds: list[str], fault: tuple[Any, ...]) -> None:
    reported = parse(data, kinds)[2]
    assert reported[:3] == fault[:3]
    assert fault[0] == "open_quote" or reported[3:] == fault[3:]


def test_missing_fields_of_a_number_column_are_counted_and_odd_ones_listed() -> None:
    data = '1,x\n?,2\n,a\nnan,\n\'1,"b ""c"\n2,é\n3,d\n'.encode()
    records, [(_, first, numbers), (_, second, _)], fault = parse(data, ["number"] * 2, ("?",))
    assert (records, fault) == (7, None)
    assert (first[0], first[1].tolist()) == (3, [4])
    assert (second[0], second[1].tolist()) == (1, [0, 2, 4, 5, 6])
    assert np.isnan(numbers).tolist() == [False, True, True, True, True, False, False]


def parse_reference(text: str, number_format: Format) -> float | None:
    """Return the number that a text means in a format, None if it does not fit."""
    decimal, thousands, units, is_required, _, _ = number_format
    if decimal == "." and not is_required:
        with contextlib.suppress(ValueError):
            return float(text) if "_" not in text else None
    blank = f"[{BLANKS}\t]*"
    unit = "|".join(map(re.escape, units)) or "(?!)"
    group = {" ": f"[{BLANKS}\t]", "'": "['’]", "": "(?!)"}.get(thousands, re.escape(thousands))
    whole = rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+|\d+"
    number = rf"(?:(?:{whole})(?:[{decimal}]\d*)?|[{decimal}]\d+)(?:[eE][+-]?\d+)?"
    text = text.strip(BLANKS + "\t")
    in_brackets = len(text) > 2 and text[0] == "(" and text[-1] == ")"
    before = rf"(?:(?:[-+−]|{unit}){blank})*"
    pattern = rf"{blank}(?P<before>{before})(?P<number>{number}){blank}(?P<after>{unit})?{blank}"
    match = re.fullmatch(pattern, text[1:-1] if in_brackets else text)
    if match is None:
        return None
    signs = re.findall("[-+−]", match["before"])
    n_units = len(re.findall(unit, match["before"])) + bool(match["after"])
    if len(signs) + in_brackets > 1 or n_units > 1 or (is_required and not n_units):
        return None
    plain = float(re.sub(group, "", match["number"]).replace(decimal, "."))
    return -plain if in_brackets or signs in (["-"], ["−"]) else plain


NUMBER_PIECES = [
    *"0123456789",
    "1",
    "234",
    "567",
    ".",
    ",",
    " ",
    "'",
    "’",
    "\u00a0",
    "\u202f",
    "-",
    "−",
    "(",
    ")",
    "$",
    "€",
    "EUR",
    "%",
    "e2",
    "x",
]
FORMATS: list[Format] = [
    (".", "", (), False, (), ()),
    (".", ",", ("$",), False, (), ()),
    (",", "", (), False, (), ()),
    (",", ".", ("€", "EUR"), False, (), ()),
    (",", " ", ("%",), True, (), ()),
    (".", "'", (), False, (), ()),
]


@pytest.mark.parametrize("number_format", FORMATS)
def test_numbers_in_a_format_equal_those_of_the_reference(number_format: Format) -> None:
    rng = random.Random(3)
    texts = ["".join(rng.choices(NUMBER_PIECES, k=rng.randint(1, 6))) for _ in range(20_000)]
    numbers, fits = _core.parse_number_texts(texts, number_format)
    expected = [parse_reference(text, number_format) for text in texts]
    assert {t: n for t, n, f in zip(texts, numbers.tolist(), fits.tolist(), strict=True) if f} == {
        text: number for text, number in zip(texts, expected, strict=True) if number is not None
    }
    assert sum(number is not None for number in expected) > 200


@pytest.mark.parametrize(
    ("text", "number_format", "number"),
    [
        ("$1,234.50", FORMATS[1], 1234.5),
        ("-$5", FORMATS[1], -5.0),
        ("$ -5", FORMATS[1], -5.0),
        ("(1,234)", FORMATS[1], -1234.0),
        ("1.234,50 €", FORMATS[3], 1234.5),
        ("EUR 12", FORMATS[3], 12.0),
        ("980,31", FORMATS[2], 980.31),
        ("1\u202f234,5 %", FORMATS[4], 1234.5),
        ("1'234.5", FORMATS[5], 1234.5),
        ("−3", FORMATS[0], -3.0),
        ("12,34", FORMATS[1], None),
        ("0,123", FORMATS[1], None),
        ("1234,567", FORMATS[1], None),
        ("45", FORMATS[4], None),
        ("€5", FORMATS[1], None),
    ],
)
def test_numbers_as_people_write_them(text: str, number_format: Format, number: float | None) -> None:
    numbers, fits = _core.parse_number_texts([text], number_format)
    assert (numbers.tolist() if fits[0] else [None]) == [number]
    _, [(_, _, column_numbers)], _ = parse(f'"{text}"\n'.encode(), ["number"], formats=(number_format,))
    assert np.array_equal(column_numbers, numbers, equal_nan=True)


def test_the_kind_of_a_column_is_inferred_in_its_format() -> None:
    _, [(kind, _, values)], _ = parse(b'"1.234"\n"5"\n', ["any"], formats=(FORMATS[3],))
    assert (kind, values.tolist()) == ("integer", [1234, 5])
    _, [(kind, _, values)], _ = parse(b'"1.234,5"\n"5"\n', ["any"], formats=(FORMATS[3],))
    assert (kind, values.tolist()) == ("real", [1234.5, 5.0])


def test_utf8_validation_equals_that_of_python() -> None:
    rng = random.Random(1)
    edges = bytes.fromhex("00 41 7f 80 8f 90 9f a0 bf c1 c2 df e0 ed ef f0 f4 f5")
    for _ in range(3000):
        data = b"abcdefgh"[: rng.randint(1, 8)] + bytes(rng.choices(edges, k=rng.randint(1, 5)))
        try:
            data.decode()
            is_valid = True
        except UnicodeDecodeError:
            is_valid = False
        assert (parse(data + b"\n", ["text"])[2] is None) == is_valid


def test_random_bytes_are_parsed_or_rejected() -> None:
    rng = random.Random(2)
    kinds = ["skip", "number", "text", "integer", "flag", "string", "any"]
    signs = b'",\n\r1x-.e\xc3\xa9\x00 '
    for _ in range(4000):
        length = rng.randint(0, 150)
        data = rng.randbytes(length) if rng.random() < 0.3 else bytes(rng.choices(signs, k=length))
        asked = rng.choices(kinds, k=rng.randint(0, 4))
        end, n = scan_records(data, at_end=True)
        records, columns, fault = parse(data, asked, ("?", "1"), rng.choice([0, 1, 5, ALL]))
        assert end <= len(data)
        assert records <= n
        assert len(columns) == len(asked)
        coded = [each for each in columns if each[0] not in ("skip", "number", "text")]
        assert all(codes.max(initial=-1) < len(values) for _, codes, values in coded)
        assert fault is None or fault[2] <= len(data)


def test_unknown_kinds_are_rejected() -> None:
    with pytest.raises(ValueError, match="unknown column kind"):
        parse(b"1\n", ["decimal"])
