"""Fields become JSON, and sections become text, HTML and frames."""

from __future__ import annotations

import builtins
import json
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from weigh import errors
from weigh.result import Facts, Lines, Result, Section, Table, TabularResult, to_frame, to_json
from weigh.text import truncate_start


class Pair(NamedTuple):
    first: str
    second: float


@dataclass(frozen=True)
class Score(Facts):
    label: str
    value: float
    limits: tuple[float, float] = (0.0, 1.0)
    _json = (("class", "label"), "value", "doubled")

    @property
    def doubled(self) -> float:
        return 2 * self.value


@dataclass(frozen=True)
class Point:
    x: float
    _cache: int = 0


@dataclass(frozen=True, repr=False)
class Scores(TabularResult):
    scores: tuple[Score, ...] = (Score("a", 1.0), Score("<b>", math.inf))
    level: float = math.nan
    _frames = ("scores",)

    @property
    def headline(self) -> str:
        return "Two scores"

    def sections(self) -> list[Section]:
        rows = [["class", "value"], *([score.label, str(score.value)] for score in self.scores)]
        notes = ["A note. " * 20, "- An item. " + "More of it. " * 10]
        return [
            Section("scores", [Table(rows)]),
            Section("notes", notes, "Notes:"),
            Section("formula", [Lines("  a < b")]),
        ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, None),
        (-math.inf, "-inf"),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.float64(0.5), 0.5),
        ({1: (True, None)}, {"1": [True, None]}),
        (Pair("a", math.nan), {"first": "a", "second": None}),
        (Point(math.inf), {"x": "inf"}),
        (Score("a", 1.0), {"class": "a", "value": 1.0, "doubled": 2.0}),
        (1j, "1j"),
    ],
)
def test_nested_values_become_json_values(value: Any, expected: Any) -> None:
    assert to_json(value) == expected
    json.dumps(to_json(value), allow_nan=False)


def test_fields_become_json_in_the_declared_order() -> None:
    assert list(Score("a", 1.0).to_dict()) == ["class", "value", "doubled"]
    assert json.loads(json.dumps(Scores().to_dict(), allow_nan=False)) == Scores().to_dict()
    assert Scores().to_dict()["level"] is None


def test_text_has_the_headline_and_sections_within_eighty_columns() -> None:
    headline, table, notes, formula = str(Scores()).split("\n\n")
    assert headline == "Two scores"
    assert table == "class  value\na        1.0\n<b>      inf"
    assert notes.startswith("Notes:\nA note.")
    assert "\n- An item." in notes
    assert "More of\n  it. More" in notes
    assert formula == "  a < b"
    assert max(map(len, str(Scores()).splitlines())) <= 80
    assert repr(Scores()) == str(Scores())


def test_html_has_the_same_content_escaped() -> None:
    html = Scores()._repr_html_()
    assert ">Two scores</caption>" in html
    assert "&lt;b&gt;" in html
    assert "<p>Notes</p><p>A note." in html
    assert "<ul><li>An item. More" in html
    assert html.endswith(">  a &lt; b</pre></div>")


def test_a_wide_table_shortens_its_first_column() -> None:
    table = Table([["name", "value"], ["x" * 100, "1"]], indent="  ")
    lines = table.to_text().splitlines()
    assert max(map(len, lines)) == 80
    assert lines[1].startswith("  xxx")
    assert lines[1].endswith("…      1")


def test_columns_are_truncated_in_text_and_less_in_html() -> None:
    table = Table([["name", "value"], ["x" * 50, "1"]], widths=(10,))
    assert f"{'x' * 9}…  " in table.to_text()
    assert "x" * 50 in table.to_html()


def test_rows_beyond_the_most_are_counted() -> None:
    table = Table([["name", "value"], *([name, "1"] for name in "abc")], most=1, bars=[1.0])
    assert table.to_text().splitlines() == ["name          value", "a                 1", "… and 2 more"]
    assert "… and 2 more" in table.to_html()
    everything = Table([["name", "value"], ["a", "1"]], most=1)
    assert "more" not in everything.to_text()
    assert Table([["name"], ["a"], ["b"]], most=1, n_hidden=5).to_text().endswith("… and 6 more")


def test_names_of_facts_are_never_shortened() -> None:
    table = Table([["standard deviation", "x" * 100]], has_header=False)
    assert table.to_text() == f"standard deviation  {'x' * 100}"


def test_a_table_without_header_has_none_in_html() -> None:
    table = Table([["rows", "10"]], has_header=False, bars=[1.0])
    assert table.to_text() == "rows  10"
    assert "<th" not in table.to_html()
    assert table.to_html().count("background") == 1


def test_hidden_rows_have_no_bars() -> None:
    table = Table([["name"], ["a"], ["b"], ["c"]], most=1, bars=[1.0, 2.0, 3.0])
    assert table.to_html().count("background") == 1
    assert "width:100.0%" in table.to_html()


def test_an_empty_table_is_empty() -> None:
    assert Table([]).to_text() == ""
    assert "<tr>" not in Table([]).to_html()
    assert Table([], n_hidden=2).to_text() == "… and 2 more"


def test_cells_are_shortened_as_the_table_says() -> None:
    table = Table([["path"], ["a" * 50 + "b" * 50]], widths=(10,), html_width=20, shorten=truncate_start)
    assert table.to_text().endswith("\n…" + "b" * 9)
    assert "…" + "b" * 19 + "<" in table.to_html()


def test_html_shows_the_table_of_lines() -> None:
    section = Section("rows", [Lines("row 1: a", Table([["row"], ["1"]]))], "Rows:")
    assert section.to_text() == "Rows:\nrow 1: a"
    assert ">Rows</caption>" in section.to_html()
    assert "row 1" not in section.to_html()


def test_a_frame_has_the_unrounded_numbers() -> None:
    frame = Scores().to_frame()
    assert list(frame.columns) == ["class", "value", "doubled"]
    assert frame["value"].tolist() == [1.0, math.inf]


def test_nested_records_become_columns() -> None:
    @dataclass(frozen=True, repr=False)
    class Nested(TabularResult):
        rows: tuple[dict[str, Any], ...] = ({"a": {"low": 1, "high": 2}},)
        _frames = ("rows",)

    assert Nested().to_frame("rows").to_dict("records") == [{"a_low": 1, "a_high": 2}]


def test_the_word_inf_in_a_column_of_texts_stays_a_text() -> None:
    records = [{"word": "inf", "nats": "-inf"}, {"word": "x", "nats": 1.5}]
    assert to_frame(records).to_dict("list") == {"word": ["inf", "x"], "nats": [-math.inf, 1.5]}


def test_an_unknown_table_is_refused() -> None:
    with pytest.raises(errors.ParameterError, match="to_frame: table must be one of 'scores', got 'x'"):
        Scores().to_frame("x")


def test_without_pandas_the_error_names_an_alternative(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def without_pandas(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(errors.Unsupported, match="to_frame needs pandas, which is not installed"):
        Scores().to_frame()


def test_a_result_must_have_sections() -> None:
    with pytest.raises(NotImplementedError):
        str(Result())
