"""The base classes of everything that is printed: fields become JSON, sections become text and HTML.

A result is a frozen dataclass. `to_dict` is derived from its fields, and text, HTML and notebook output from
its `sections`, so that all forms show the same facts.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import groupby
from typing import Any, ClassVar, TypeAlias

from weigh import errors
from weigh.immutable import Immutable
from weigh.text import (
    display_width,
    escape_control_characters,
    escape_lines,
    html_lines,
    html_list,
    html_paragraph,
    html_table,
    text_table,
    to_json_value,
    truncate,
)

LINE_WIDTH = 80
MIN_NAME_WIDTH = 12
HTML_NAME_WIDTH = 60
ITEM_MARK = "- "


@dataclass(frozen=True)
class Table:
    """A table of complete cells, shortened when it is displayed.

    Attributes
    ----------
    rows : cells; the first row is the header, or without `has_header` each row is a fact with its name
    left : number of left-aligned columns
    caption : of the HTML table; the default is the title of its section
    indent : of every line of text
    widths : greatest display widths of the first columns in text
    html_width : greatest width of these columns in HTML
    shorten : how a cell is shortened to a width
    most : number of body rows that are displayed; a last line counts the others
    n_hidden : number of further rows that `rows` omits, counted in the last line too
    bars : one number per body row, drawn in HTML as a bar from a common zero
    """

    rows: Sequence[Sequence[str]]
    left: int = 1
    caption: str = ""
    indent: str = ""
    widths: Sequence[int] = ()
    html_width: int = HTML_NAME_WIDTH
    shorten: Callable[[str, int], str] = truncate
    most: int | None = None
    n_hidden: int = 0
    bars: Sequence[float | None] = ()
    has_header: bool = True

    @property
    def width(self) -> int:
        """The number of columns of text that the table needs."""
        rows = self._shown_rows(self.widths)
        return max(map(display_width, text_table(rows, self.left, self.indent).splitlines()), default=0)

    def to_text(self) -> str:
        """Format as text; the first column is truncated if lines are too long, unless it names facts."""
        rows, excess = self._shown_rows(self.widths), self.width - LINE_WIDTH
        if excess <= 0 or not self.has_header:
            return text_table(rows, self.left, self.indent)
        width = max(display_width(row[0]) for row in rows) - excess
        # The number of hidden rows is not a name that could be truncated.
        names, hidden = (rows[:-1], rows[-1:]) if self._n_hidden > 0 else (rows, [])
        names = [[self.shorten(row[0], max(MIN_NAME_WIDTH, width)), *row[1:]] for row in names]
        return "\n".join(
            [text_table(names, self.left, self.indent), *(self.indent + row[0] for row in hidden)]
        )

    def to_html(self, title: str = "") -> str:
        """Format as an HTML table."""
        rows = self._shown_rows([self.html_width] * len(self.widths))
        n_body = len(rows) - self.has_header
        bars = [*self.bars[: self.most], *[None] * n_body][:n_body] if self.bars else ()
        return html_table(self.caption or title, rows, self.left, bars, self.has_header)

    def _shown_rows(self, widths: Sequence[int]) -> list[list[str]]:
        n_shown = len(self.rows) if self.most is None else self.most + self.has_header
        rows = [
            [*map(self.shorten, row, widths), *map(escape_control_characters, row[len(widths) :])]
            for row in self.rows[:n_shown]
        ]
        if self._n_hidden > 0:
            n_columns = len(self.rows[0]) if self.rows else 1
            rows.append([f"… and {self._n_hidden:,} more", *[""] * (n_columns - 1)])
        return rows

    @property
    def _n_hidden(self) -> int:
        n_cut = 0 if self.most is None else max(0, len(self.rows) - self.most - self.has_header)
        return self.n_hidden + n_cut


@dataclass(frozen=True)
class Lines:
    """Lines of text that are displayed as they are, such as a formula; HTML shows `table` if it is given."""

    text: str
    table: Table | None = None

    def __str__(self) -> str:
        return escape_lines(self.text)

    def _repr_html_(self) -> str:
        return html_lines(self.text) if self.table is None else self.table.to_html()


# A string is a sentence, wrapped in text and a paragraph in HTML, or a list item if it starts with "- "; a
# result contributes its own sections.
Part: TypeAlias = "str | Table | Lines | Result"


@dataclass(frozen=True)
class Section:
    """A named group of facts; in text, its parts follow each other without empty lines."""

    name: str
    parts: Sequence[Part]
    title: str = ""

    def to_text(self) -> str:
        """Format as text of at most 80 columns."""
        return "\n".join([*_wrap(self.title), *filter(None, map(_part_to_text, self.parts))])

    def to_html(self, headline: str = "") -> str:
        """Format as HTML; a title becomes the caption of a leading table."""
        title = self.title.removesuffix(":") or headline
        first, *others = self.parts or [""]
        table = first.table if isinstance(first, Lines) else first
        if isinstance(table, Table) and not table.caption:
            return table.to_html(title) + _parts_to_html(others)
        return (html_paragraph(title) if title else "") + _parts_to_html(self.parts)


def _part_to_text(part: Part) -> str:
    if isinstance(part, str):
        return "\n".join(_wrap(part))
    return part.to_text() if isinstance(part, Table) else str(part)


def _parts_to_html(parts: Sequence[Part]) -> str:
    groups = ((is_item, list(group)) for is_item, group in groupby(parts, _is_item))
    return "".join(
        html_list([str(item).removeprefix(ITEM_MARK) for item in group])
        if is_item
        else "".join(map(_part_to_html, group))
        for is_item, group in groups
    )


def _is_item(part: Part) -> bool:
    return isinstance(part, str) and part.startswith(ITEM_MARK)


def _part_to_html(part: Part) -> str:
    if isinstance(part, str):
        return html_paragraph(part)
    return part.to_html() if isinstance(part, Table) else part._repr_html_()


def _wrap(sentence: str) -> list[str]:
    """Wrap a sentence; the lines after the first line of an item are indented like its text."""
    indent = "  " if _is_item(sentence) else ""
    return textwrap.wrap(escape_control_characters(sentence), LINE_WIDTH, subsequent_indent=indent)


class Facts:
    """A dataclass whose fields become JSON values.

    `_json` lists the attributes that `to_dict` returns, as pairs (key, attribute) where the names differ;
    without it they are the fields whose names do not start with an underscore.
    """

    _json: ClassVar[Sequence[str | tuple[str, str]]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain values for JSON: NaN becomes None, infinities "inf" and "-inf"."""
        names = self._json or _public_fields(self)
        pairs = ((name, name) if isinstance(name, str) else name for name in names)
        return {key: to_json(getattr(self, attribute)) for key, attribute in pairs}


def _public_fields(value: Any) -> list[str]:
    return [field.name for field in fields(value) if not field.name.startswith("_")]


def to_json(value: Any) -> Any:
    """Convert nested facts, dataclasses, arrays, mappings and sequences to plain values for JSON."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "_asdict"):
        value = value._asdict()
    elif is_dataclass(value):
        value = {name: getattr(value, name) for name in _public_fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        array, value = value, value.tolist()
        if array.dtype.kind in "fiu" and array.size and abs(array).max() < math.inf:
            return value  # large arrays convert faster at once
    return [to_json(item) for item in value] if isinstance(value, list | tuple) else to_json_value(value)


class Result(Facts, Immutable):
    """A result of the library, which prints within 80 columns and displays as HTML in notebooks.

    Subclasses are frozen dataclasses declared with `repr=False`. They implement `sections`, and `headline` if
    a line above all sections says what they are about.
    """

    @property
    def headline(self) -> str:
        """One sentence that says what the result is about; empty if the sections do."""
        return ""

    def sections(self) -> Iterable[Section]:
        """Return the facts that are displayed, in order."""
        raise NotImplementedError

    def __str__(self) -> str:
        parts = ["\n".join(_wrap(self.headline)), *(section.to_text() for section in self.sections())]
        return "\n\n".join(filter(None, parts))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        headline, sections = self.headline, list(self.sections())
        if headline and (not sections or sections[0].title):
            parts = [html_paragraph(headline), *(section.to_html() for section in sections)]
        else:
            parts = [section.to_html("" if i else headline) for i, section in enumerate(sections)]
        return f"<div>{''.join(parts)}</div>"


class TabularResult(Result):
    """A result with facts in the form of tables, which `to_frame` returns as pandas frames.

    `_frames` names the keys of `to_dict` that hold lists of records.
    """

    _frames: ClassVar[tuple[str, ...]]

    def to_frame(self, table: str | None = None) -> Any:
        """Return a table of the result, by default the first, as a pandas DataFrame of unrounded numbers."""
        if table is None:
            table = self._frames[0]
        elif table not in self._frames:
            names = errors.quote_names(self._frames)
            raise errors.parameter_error("to_frame", "table", f"one of {names}", table)
        return to_frame(self.to_dict()[table])


def to_frame(records: Sequence[Mapping[str, Any]]) -> Any:
    """Return records as a pandas DataFrame; nested records become columns such as precision_low."""
    try:
        import pandas as pd
    except ImportError:
        raise errors.Unsupported(
            "to_frame needs pandas, which is not installed. Run pip install pandas, or use to_dict."
        ) from None
    frame = pd.DataFrame([dict(_flatten(record)) for record in records])
    for name in frame.columns:
        texts = {value for value in frame[name] if isinstance(value, str)}
        if texts and texts <= {"inf", "-inf"}:
            frame[name] = frame[name].astype(float)
    return frame


def _flatten(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in record.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}_")
        else:
            yield f"{prefix}{key}", value
