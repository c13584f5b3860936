"""Sections of --help that list parameters, from their tables."""

from __future__ import annotations

from collections.abc import Collection

from weigh.parameters import Parameter, ParameterTable
from weigh.parameters.kinds import KINDS

Rows = list[tuple[str, str]]


def setting_rows(table: ParameterTable, without: Collection[str] = ()) -> Rows:
    """Return the parameters that --set sets: name and default, meaning and allowed values."""
    return [_row(each) for each in table if each.option == "--set" and each.name not in without]


def kind_rows() -> Rows:
    """Return the settings of all kinds of columns; those that kinds share are listed once."""
    rows = [
        _row(each, f"{'|'.join(name for name, table in KINDS.items() if each in table)}:")
        for each in dict.fromkeys(each for table in KINDS.values() for each in table)
    ]
    return [*rows, ("flag, count, value, skip", "no settings")]


def describe_values(parameter: Parameter) -> str:
    """Return the allowed values of a parameter as --set and --kind take them."""
    column = f"; {parameter.name}.COLUMN=... for one column" if parameter.allowed.by_column else ""
    return f"{parameter.allowed.option_wording}{column}"


def _row(parameter: Parameter, prefix: str = "") -> tuple[str, str]:
    method = f"with method={parameter.method}, " if parameter.method else ""
    return (
        f"{prefix}{parameter.name}{_format_default(parameter)}",
        f"{method}{parameter.meaning}: {describe_values(parameter)}",
    )


def _format_default(parameter: Parameter) -> str:
    """Return the default as it is written after the name, or nothing if it cannot be written."""
    value = parameter.default
    if value is None or value == ():
        return "=none" if "none" in parameter.allowed.option_wording else ""
    if isinstance(value, tuple):
        return f"={'-'.join(map(str, value))}"
    if isinstance(value, bool):
        return f"={str(value).lower()}"
    return f"={value:g}".replace("e-0", "e-") if isinstance(value, int | float) else f"={value}"
