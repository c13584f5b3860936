"""The messy tables: each is written by a function of a random generator and a number of rows."""

from __future__ import annotations

import datetime as dt
import html
import random
import uuid
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Rows = Callable[[random.Random, int], list[Row]]

# Exactly representable letters of Windows-1252, some of which are not in latin-1.
FRENCH_MONTHS = ("janv.", "févr.", "mars", "août", "déc.")
CITIES = ("Köln", "Málaga", "Besançon", "Århus", "“Old Town”")


@dataclass(frozen=True)
class MessyTable:
    """A kind of messy file, and what the first `weigh fit` must make of it.

    `kinds` are the expected kinds of all columns but `size` (a number) and `group` (a category).
    `accuracy` is the least accuracy on new rows; None if the fit must be refused.
    """

    rows: Rows
    kinds: Mapping[str, str]
    accuracy: float | None = 0.8
    n_rows: int = 400
    ending: str = ".csv"
    delimiter: str = ","
    encoding: str = "utf-8"
    options: Sequence[str] = ()
    write: Callable[[Path, list[Row]], None] | None = None
    after: str = ""  # text after the last row
    units: str = ""  # the row below the header
    renamed: Mapping[str, str] = field(default_factory=dict)

    def save(self, folder: Path, name: str, seed: int, n_rows: int) -> Path:
        """Write a file of rows drawn with this seed."""
        rows = self.rows(random.Random(seed), n_rows)
        path = folder / f"{name}{self.ending}"
        if self.write is not None:
            self.write(path, rows)
        else:
            path.write_bytes(self._to_text(rows).encode(self.encoding))
        return path

    def _to_text(self, rows: list[Row]) -> str:
        names = [self.renamed.get(name, name) for name in rows[0]]
        header, *lines = [names, *(row.values() for row in rows)]
        body = "".join(f"{self.delimiter.join(map(self._quote, line))}\n" for line in lines) + self.after
        return f"{self.delimiter.join(map(self._quote, header))}\n{self.units}{body}"

    def _quote(self, cell: Any) -> str:
        text = "" if cell is None else str(cell)
        needs_quotes = self.delimiter in text or '"' in text or "\n" in text
        return '"{}"'.format(text.replace('"', '""')) if needs_quotes else text


def _table(columns: Callable[[random.Random, int, bool], Row], noise: float = 0.1) -> Rows:
    """Return a writer of rows whose other columns depend on the label, plus a number and a category."""

    def rows(rng: random.Random, n_rows: int) -> list[Row]:
        table = []
        for number in range(n_rows):
            is_yes = rng.random() < 0.5
            signal = is_yes if rng.random() >= noise else not is_yes
            group = rng.choice("ab" if is_yes else "abc")
            table.append(
                {
                    **columns(rng, number, signal),
                    "size": f"{rng.gauss(10 + is_yes, 2):.2f}",
                    "group": group,
                    "y": "yes" if is_yes else "no",
                }
            )
        return table

    return rows


def _day(rng: random.Random, is_weekend: bool, start: str = "2021-01-04", days: int = 1400) -> dt.date:
    monday = dt.date.fromisoformat(start) + dt.timedelta(7 * rng.randrange(days // 7))
    return monday + dt.timedelta(rng.choice((5, 6)) if is_weekend else rng.randrange(5))


def _moment(rng: random.Random, is_night: bool) -> dt.datetime:
    hour = rng.choice((22, 23, 0, 1, 2, 3)) if is_night else rng.randrange(8, 20)
    day = _day(rng, rng.random() < 2 / 7)
    return dt.datetime(day.year, day.month, day.day, hour, rng.randrange(60), rng.randrange(60))


def _dates(form: str, start: str = "2021-01-04", days: int = 1400) -> Rows:
    return _table(lambda rng, _, signal: {"when": _day(rng, signal, start, days).strftime(form)})


def _times(form: str) -> Rows:
    return _table(lambda rng, _, signal: {"when": _moment(rng, signal).strftime(form)})


def _amount(rng: random.Random, is_large: bool) -> float:
    return round(rng.lognormvariate(8.5 if is_large else 6.5, 0.6), 2)


def _group_thousands(number: float, separator: str, decimal: str, digits: int = 2) -> str:
    return f"{number:,.{digits}f}".replace(",", "#").replace(".", decimal).replace("#", separator)


def _money(form: Callable[[random.Random, float], str]) -> Rows:
    return _table(lambda rng, _, signal: {"amount": form(rng, _amount(rng, signal))})


def _first_days(rng: random.Random, _: int, signal: bool) -> Row:
    """A date that never tells its day from its month."""
    month = rng.randrange(1, 7) if signal else rng.randrange(7, 13)
    return {"when": f"{month:02}/{rng.randrange(1, 13):02}/{rng.randrange(2015, 2024)}"}


def _odd_cells(numbers: Callable[[int], bool], odd: str = "unknown") -> Rows:
    """A number column with odd cells in the given rows."""

    def columns(rng: random.Random, number: int, signal: bool) -> Row:
        value = f"{rng.gauss(60 if signal else 40, 6):.1f}"
        return {"reading": odd if numbers(number) else value}

    return _table(columns)


def _laboratory(rng: random.Random, number: int, signal: bool) -> Row:
    """Concentrations with limits of detection, a word for missing and a number above the range."""
    lead = rng.lognormvariate(-3.0 if signal else -4.2, 0.6)
    counts = rng.lognormvariate(3, 1)
    return {
        "lead": "n.d." if number % 25 == 3 else "<0.01" if lead < 0.01 else f"{lead:.3f}",
        "colonies": ">200" if counts > 200 else f"{counts:.0f}",
        "pH": f"{rng.gauss(7, 0.4):.2f}",
    }


def _french_cars(rng: random.Random, number: int, signal: bool) -> Row:
    """Numbers as French writes them, with units of which most are in no list."""
    return {
        "Kilométrage": "NC" if number % 30 == 4 else f"{rng.randrange(500, 250_000):,} km".replace(",", " "),
        "Puissance": f"{rng.gauss(150 if signal else 90, 20):.0f} ch",
        "Conso.": f"{rng.gauss(6, 1):.1f} L/100km".replace(".", ","),
        "Prix": f"{_group_thousands(_amount(rng, rng.random() < 0.5), chr(0xA0), ',')}",
        "Année": f"{rng.randrange(2008, 2025)}",
        "Vue le": f"{rng.randrange(1, 28)} {rng.choice(FRENCH_MONTHS)} {rng.randrange(2021, 2025)}",
    }


def _account(rng: random.Random, _: int, signal: bool) -> Row:
    """Amounts with the minus sign behind them, and account numbers in groups."""
    digits = f"{rng.randrange(10**19, 10**20)}"
    return {
        "IBAN": " ".join((f"DE{digits}")[at : at + 4] for at in range(0, 22, 4)),
        "Betrag": _group_thousands(rng.lognormvariate(5, 1), ".", ",") + ("" if signal else "-"),
    }


def _visits(rng: random.Random, _: int, signal: bool) -> Row:
    """Two numbers per cell, lengths of time, multiples, mixed units and times since 1970."""
    pressure, minutes = rng.gauss(140 if signal else 115, 10), rng.randrange(10, 400)
    temperature = rng.gauss(37.3, 0.7)
    is_american = rng.random() < 0.3
    return {
        "pressure": f"{pressure:.0f}/{pressure * 0.6:.0f}",
        "stay": f"{minutes // 60}h {minutes % 60}m",
        "last visit": f"{rng.randrange(0, 300)} days ago",
        "income": f"${rng.lognormvariate(3.5, 0.5):.1f}k",
        "temperature": f"{temperature * 1.8 + 32:.1f}F" if is_american else f"{temperature:.1f}",
        "created_at": f"{rng.randrange(1_640_995_200, 1_719_792_000)}",
        "born": f"{rng.randrange(1930, 2010)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}",
    }


def _outliers(*values: str) -> Rows:
    def columns(rng: random.Random, number: int, signal: bool) -> Row:
        value = f"{rng.gauss(60 if signal else 40, 6):.1f}"
        return {
            "reading": values[number // 100] if number % 100 == 7 and number // 100 < len(values) else value
        }

    return _table(columns)


def _european(rng: random.Random, _: int, signal: bool) -> Row:
    return {
        "Preis": _group_thousands(_amount(rng, signal), ".", ","),
        "Rabatt": f"{rng.uniform(0, 30):.1f} %".replace(".", ","),
        "Stadt": rng.choice(CITIES),
    }


def _identifiers(rng: random.Random, number: int, signal: bool) -> Row:
    reading = f"{rng.gauss(60 if signal else 40, 6):.1f}"
    return {
        "mail": f"{rng.choice(('ann', 'bob', 'eve'))}.{rng.randrange(10**6)}@example.org",
        "customer_id": 100_000 + number,
        "uuid": uuid.UUID(int=rng.getrandbits(128)),
        "country": "DE",
        "reading": reading,
    }


def _codes(rng: random.Random, _: int, signal: bool) -> Row:
    return {
        "zip": rng.choice(("01067", "01069", "04103") if signal else ("80331", "80333", "04103")),
        "store_code": rng.choice((11, 42, 77) if signal else (12, 41, 78)),
        "rating": min(5, max(1, round(rng.gauss(4 if signal else 2.5, 0.8)))),
        "age": max(18, round(rng.gauss(50 if signal else 35, 12))),
    }


def _answers(rng: random.Random, _: int, signal: bool) -> Row:
    return {
        "smoker": "yes" if signal else "no",
        "member": rng.choice(("Y", "N")),
        "active": rng.choice(("TRUE", "FALSE")),
    }


def _mixed(rng: random.Random, _: int, signal: bool) -> Row:
    return {"dose": rng.choice((10, 20, "high")) if signal else rng.choice((5, 1, "low"))}


def _missing_labels(rng: random.Random, n_rows: int) -> list[Row]:
    rows = _odd_cells(lambda _: False)(rng, n_rows)
    for row in rows[::40]:
        row["y"] = None
    return rows


def _measurements(rng: random.Random, n_rows: int) -> list[Row]:
    rows = _odd_cells(lambda _: False)(rng, n_rows)
    return [{**row, "y": f"{float(row['size']) * 12.5 + rng.gauss(0, 1):.2f}"} for row in rows]


def _comments(rng: random.Random, _: int, signal: bool) -> Row:
    words = ("great", "love", "happy", "works") if signal else ("broken", "refund", "bad", "late")
    text = " ".join(rng.choices((*words, "the", "a", "it", "and"), k=9))
    return {"comment": f"{text},\n“{rng.choice(words)}”"}


def _reading(rng: random.Random, _: int, signal: bool) -> Row:
    return {"reading": f"{rng.gauss(60 if signal else 40, 6):.1f}"}


def _empty(rng: random.Random, number: int, signal: bool) -> Row:
    return {"notes": None, **_reading(rng, number, signal)}


def _contract(rng: random.Random, number: int, signal: bool) -> Row:
    """A row of a spreadsheet: a date, money as a number, a percentage as a fraction, and a truth value."""
    return {
        "signed": dt.datetime.combine(_day(rng, signal), dt.time()),
        "amount": _amount(rng, signal),
        "share": round(rng.random(), 2),
        "renewed": rng.random() < 0.5,
    }


def write_two_sheets(path: Path, rows: list[Row]) -> None:
    """Write a workbook whose second sheet has the table that the first one explains."""
    with Workbook(path) as book:
        book.write_table("Contracts", rows, first_line=0)
        sheet = book.book.add_worksheet("Read me")
        sheet.write(0, 0, "Exported by the sales system.")


def write_merged_headers(path: Path, rows: list[Row]) -> None:
    """Write a sheet with a title, an empty line, and headers in two lines, the first of them merged."""
    with Workbook(path) as book:
        sheet = book.write_table("Sheet1", rows, first_line=3)
        sheet.write(0, 0, "Contracts of the region North")
        sheet.merge_range(2, 0, 2, 1, "contract")


class Workbook:
    """A spreadsheet that is written when the context ends."""

    def __init__(self, path: Path) -> None:
        import xlsxwriter

        self.book: Any = xlsxwriter.Workbook(str(path), {"default_date_format": "dd.mm.yyyy"})
        self._percent = self.book.add_format({"num_format": "0 %"})

    def __enter__(self) -> Workbook:
        return self

    def __exit__(self, *_: object) -> None:
        self.book.close()

    def write_table(self, name: str, rows: list[Row], first_line: int) -> Any:
        """Write rows below a header into a new sheet, and return the sheet."""
        sheet = self.book.add_worksheet(name)
        for column, header in enumerate(rows[0]):
            sheet.write(first_line, column, header)
        for line, row in enumerate(rows, first_line + 1):
            for column, (header, cell) in enumerate(row.items()):
                is_number = isinstance(cell, str) and header == "size"
                value = float(cell) if is_number else cell
                sheet.write(line, column, value, *[self._percent] * (header == "share"))
        return sheet


def write_ods(path: Path, rows: list[Row]) -> None:
    """Write an OpenDocument spreadsheet with one sheet."""
    lines = [[_ods_cell(name) for name in rows[0]]]
    lines += [[_ods_cell(float(v) if k == "size" else v) for k, v in row.items()] for row in rows]
    body = "".join(f"<table:table-row>{''.join(cells)}</table:table-row>" for cells in lines)
    urn = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<office:document-content xmlns:office="{urn}:office:1.0" xmlns:table="{urn}:table:1.0" '
        f'xmlns:text="{urn}:text:1.0" office:version="1.2"><office:body><office:spreadsheet>'
        f'<table:table table:name="Sheet1">{body}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    mimetype = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        f'<manifest:manifest xmlns:manifest="{urn}:manifest:1.0" manifest:version="1.2">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{mimetype}"/></manifest:manifest>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", mimetype)
        archive.writestr("META-INF/manifest.xml", manifest)
        archive.writestr("content.xml", content)


def _ods_cell(value: Any) -> str:
    if isinstance(value, bool):
        kind = f'office:value-type="boolean" office:boolean-value="{str(value).lower()}"'
    elif isinstance(value, float):
        kind = f'office:value-type="float" office:value="{value}"'
    elif isinstance(value, dt.datetime):
        kind = f'office:value-type="date" office:date-value="{value.isoformat()}"'
    else:
        kind = 'office:value-type="string"'
    return f"<table:table-cell {kind}><text:p>{html.escape(str(value))}</text:p></table:table-cell>"


CONTRACT_KINDS = {"signed": "date", "amount": "number", "share": "number", "renewed": "flag"}
READING = {"reading": "number"}
WHEN = {"when": "date"}
AMOUNT = {"amount": "number"}

TABLES: dict[str, MessyTable] = {
    "dates_iso": MessyTable(_dates("%Y-%m-%d"), WHEN),
    "dates_german": MessyTable(_dates("%d.%m.%Y"), WHEN),
    "dates_british": MessyTable(_dates("%d/%m/%Y"), WHEN),
    "dates_american": MessyTable(_dates("%m/%d/%Y"), WHEN),
    "dates_ambiguous": MessyTable(_table(_first_days), WHEN),
    "dates_with_names": MessyTable(_dates("%b %d, %Y"), WHEN),
    "dates_short_year": MessyTable(_dates("%d-%b-%y"), WHEN),
    "dates_compact": MessyTable(_dates("%Y%m%d"), WHEN),
    "dates_of_half_a_year": MessyTable(_dates("%Y-%m-%d", days=180), WHEN),
    "times_iso": MessyTable(_times("%Y-%m-%dT%H:%M:%S"), WHEN),
    "times_with_zone": MessyTable(_times("%Y-%m-%d %H:%M:%S+02:00"), WHEN),
    "times_american": MessyTable(_times("%m/%d/%Y %I:%M %p"), WHEN),
    "money_dollars": MessyTable(_money(lambda _, x: f"${x:,.2f}"), AMOUNT),
    "money_euros": MessyTable(
        _money(lambda _, x: f"{_group_thousands(x, '.', ',')} €"), AMOUNT, delimiter=";"
    ),
    "money_negative": MessyTable(
        _money(lambda rng, x: f"({x:,.2f})" if rng.random() < 0.1 else f"{x:,.2f}"), AMOUNT
    ),
    "money_two_currencies": MessyTable(
        _money(lambda rng, x: f"{'€' if rng.random() < 0.004 else '$'}{x:,.2f}"), AMOUNT
    ),
    "thousands_with_spaces": MessyTable(
        _money(lambda _, x: _group_thousands(x, "\u202f", ",", 1)), AMOUNT, delimiter=";"
    ),
    "percentages": MessyTable(
        _table(lambda rng, _, signal: {"share": f"{rng.gauss(60 if signal else 40, 6):.0f} %"}),
        {"share": "number"},
    ),
    "european": MessyTable(
        _table(_european),
        {"Preis": "number", "Rabatt": "number", "Stadt": "category"},
        delimiter=";",
        encoding="cp1252",
    ),
    "windows_1252": MessyTable(
        _table(lambda rng, _, signal: {"city": rng.choice(CITIES[:3] if signal else CITIES[2:])}),
        {"city": "category"},
        accuracy=0.7,
        encoding="cp1252",
    ),
    "utf8_with_bom": MessyTable(_table(_reading), READING, encoding="utf-8-sig"),
    "utf16": MessyTable(_table(_reading), READING, encoding="utf-16", delimiter="\t", ending=".txt"),
    "tabs_in_txt": MessyTable(_table(_reading), READING, delimiter="\t", ending=".txt"),
    "pipes": MessyTable(_table(_reading), READING, delimiter="|"),
    "identifiers": MessyTable(
        _table(_identifiers),
        {"mail": "skip", "customer_id": "skip", "uuid": "skip", "country": "category", **READING},
        n_rows=450,
    ),
    "codes": MessyTable(
        _table(_codes),
        {"zip": "category", "store_code": "category", "rating": "number", "age": "number"},
    ),
    "answers": MessyTable(_table(_answers), {"smoker": "flag", "member": "flag", "active": "flag"}),
    "odd_cell_in_row_30": MessyTable(_odd_cells(lambda row: row == 30), READING),
    "odd_cell_in_row_300": MessyTable(_odd_cells(lambda row: row == 300), READING),
    "odd_cell_in_row_150000": MessyTable(_odd_cells(lambda row: row == 150_000), READING, n_rows=160_000),
    "many_odd_cells": MessyTable(
        _odd_cells(lambda row: row % 20 == 7, "broken"), {"reading": "category"}, accuracy=0.5
    ),
    "many_unknown_cells": MessyTable(_odd_cells(lambda row: row % 20 == 7), READING),
    "laboratory_with_units_row": MessyTable(
        _table(_laboratory),
        {"lead": "number", "colonies": "number", "pH": "number"},
        accuracy=0.75,
        ending=".tsv",
        delimiter="\t",
        units="mg/L\tCFU/100 mL\t\tcm\t-\t\n",
    ),
    "french_cars": MessyTable(
        _table(_french_cars),
        dict.fromkeys(("Kilométrage", "Puissance", "Conso.", "Prix", "Année"), "number") | {"Vue le": "date"},
        delimiter=";",
        encoding="cp1252",
    ),
    "account": MessyTable(_table(_account), {"IBAN": "skip", "Betrag": "number"}, delimiter=";"),
    "visits": MessyTable(
        _table(_visits),
        dict.fromkeys(("pressure", "stay", "last visit", "income"), "number")
        | {"temperature": "category", "created_at": "date", "born": "date"},
    ),
    "many_odd_cells_later": MessyTable(
        _odd_cells(lambda row: row > 20_000 and row % 9 == 0), READING, accuracy=None, n_rows=40_000
    ),
    "outliers": MessyTable(_outliers("1e300", "1e18"), READING, accuracy=0.4),
    "sentinel": MessyTable(_outliers(*["-99999"] * 4), READING, accuracy=0.4),
    "mixed_types": MessyTable(_table(_mixed), {"dose": "category"}),
    "empty_column": MessyTable(_table(_empty), {"notes": "skip", **READING}),
    "texts_with_line_breaks": MessyTable(_table(_comments), {"comment": "text"}),
    "units_in_headers": MessyTable(
        _table(_reading), {"reading [°C]": "number"}, renamed={"reading": "reading [°C]"}
    ),
    "totals_row": MessyTable(_table(_reading), READING, accuracy=None, after="Total,4012.5,,\n"),
    "missing_labels": MessyTable(_missing_labels, READING, accuracy=None),
    "missing_labels_dropped": MessyTable(_missing_labels, READING, options=["--drop-missing-labels"]),
    "numeric_target": MessyTable(_measurements, READING, accuracy=None),
    "excel_with_two_sheets": MessyTable(
        _table(_contract), CONTRACT_KINDS, ending=".xlsx", write=write_two_sheets
    ),
    "excel_with_merged_headers": MessyTable(
        _table(_contract),
        CONTRACT_KINDS,
        ending=".xlsx",
        write=write_merged_headers,
    ),
    "opendocument": MessyTable(_table(_contract), CONTRACT_KINDS, ending=".ods", write=write_ods),
}
