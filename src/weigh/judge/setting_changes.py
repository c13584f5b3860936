"""Changes of the settings from one model to another: columns, kinds, label and missing values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from weigh.features.schema import Schema
from weigh.result import Table
from weigh.text import escape_control_characters, truncate

MAX_COMPARED_COLUMNS = 10_000  # more columns than this are compared by the number of each kind
MAX_PRINTED_CHANGES = 10
MAX_PLOTTED_CHANGES = 15
IDENTICAL_MESSAGE = "The models are the same, byte for byte."


@dataclass(frozen=True)
class SettingChange:
    """A setting that changed; an empty text means that it does not exist."""

    what: str
    old: str
    new: str

    def __str__(self) -> str:
        if self.old and self.new:
            text = f"{self.what}: {self.old} → {self.new}"
        else:
            text = f"{self.what}: {'new, ' + self.new if self.new else 'gone, was ' + self.old}"
        return escape_control_characters(text)


def compare_setting(what: str, old: str, new: str) -> Iterator[SettingChange]:
    """Yield the change of a setting, if there is one."""
    if old != new:
        yield SettingChange(what, old, new)


def schema_changes(old: Schema, new: Schema) -> Iterator[SettingChange]:
    """Yield the changes of columns, their kinds, the label and the values that mean missing."""
    if max(len(schema.names) for schema in (old, new)) > MAX_COMPARED_COLUMNS:
        yield from compare_setting("columns", _describe_columns(old), _describe_columns(new))
    else:
        before, after = _kinds_by_column(old), _kinds_by_column(new)
        for name in dict.fromkeys([*before, *after]):
            yield from compare_setting(f"column {name!r}", before.get(name, ""), after.get(name, ""))
    yield from compare_setting("label", repr(old.label), repr(new.label))
    yield from compare_setting("missing", repr(list(old.missing)), repr(list(new.missing)))


def _describe_columns(schema: Schema) -> str:
    """Return the number of columns of each kind."""
    # Many columns of a bare matrix have one kind, which is stored once.
    counts = {schema.kinds[0]: len(schema.names)} if schema.is_uniform else Counter(schema.kinds)
    return ", ".join(f"{n:,} {_format_kind(kind.to_json())}" for kind, n in counts.items())


def _kinds_by_column(schema: Schema) -> dict[str, str]:
    pairs = [*zip(schema.names, schema.kinds, strict=True), *schema.made.items()]
    return {name: _format_kind(kind.to_json()) for name, kind in pairs}


def _format_kind(data: Mapping[str, Any]) -> str:
    settings = ", ".join(f"{key}={value}" for key, value in data.items() if key not in ("kind", "unicode"))
    return f"{data['kind']}({settings})" if settings else str(data["kind"])


def line_table(lines: Iterable[str]) -> Table:
    """Return lines as a table, which counts those beyond the first ones."""
    rows = [[truncate(line, 76)] for line in lines]
    return Table(rows, indent="  ", most=MAX_PRINTED_CHANGES, has_header=False)
