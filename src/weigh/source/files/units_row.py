"""The row of units that some files have below their header."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from weigh.deduplicated_warnings import warn
from weigh.errors import UnitsRow, quote_names
from weigh.source.missing_words import means_missing

MAX_UNIT_LENGTH = 20
MAX_INSPECTED_VALUES = 100
MIN_NUMBER_SHARE = 0.8  # of the other distinct values of a column with a unit
_NO_UNIT = frozenset(["", "-", "--", "–", "—", "[-]", "(-)", "[]", "()"])
_UNIT_SIGNS = frozenset("/%‰°µμ²³·^$€£¥")
_USUAL_UNITS = frozenset(
    re.findall(
        r"\S+",
        """
    mg g kg t lb lbs oz nm um mm cm dm m km in ft yd mi ml cl dl l ha ac sqft sqm m2 m3 cm3 gal
    ms s sec min h hr hrs hour hours d day days wk weeks month months yr y year years
    c f k degc degf v mv a ma w kw mw kwh mwh wh hz khz mhz ghz db pa kpa hpa mpa bar mbar psi mmhg atm
    n kn j kj cal kcal mol mmol ppm ppb ph rpm mph kph px bit b kb mb gb tb
    eur usd gbp chf jpy pct percent count counts number ratio rad deg bpm iu cfu units pcs hp ps
    """,
    )
)
_NUMBER = re.compile(r"\s*[<>≤≥~≈]?\s*[-+(\u2212]?\s*[$€£¥]?\s*[.,]?\d")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")


def find_units(cells: Sequence[Any], list_others: Callable[[int], Iterable[Any]]) -> list[str]:
    """Return the units in the first row of a table; nothing if it is a row of values.

    In a row of units, every cell is empty, a dash or a unit above numbers. `list_others(j)` gives other
    values of column j.
    """
    units = []
    for j, cell in enumerate(cells):
        if _means_no_unit(cell):
            continue
        if not _is_unit(cell) or not _are_numbers(cell, list_others(j)):
            return []
        units.append(cell)
    # A file of one column may begin with a word that is no unit.
    return units if 2 * sum(map(_is_usual_unit, units)) > len(units) else []


def _is_usual_unit(cell: str) -> bool:
    text = cell.strip().strip("[]()")
    return text.casefold() in _USUAL_UNITS or not _UNIT_SIGNS.isdisjoint(text)


def _means_no_unit(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip() in _NO_UNIT)


def _is_unit(cell: object) -> bool:
    if not isinstance(cell, str) or len(cell.strip()) > MAX_UNIT_LENGTH:
        return False
    return _NUMBER.match(cell) is None and not means_missing(cell)


def _are_numbers(unit: str, others: Iterable[Any]) -> bool:
    """Whether most values below a unit begin with a number, and none is written as the unit is."""
    n_others = n_numbers = 0
    for other in others:
        # "EUR 5" above "EUR 12" is an amount, not a unit.
        if isinstance(other, str) and _DIGITS.sub("0", other) == _DIGITS.sub("0", unit):
            return False
        n_others += 1
        n_numbers += not isinstance(other, str) or _NUMBER.match(other) is not None
    return n_numbers > 0 and n_numbers >= MIN_NUMBER_SHARE * n_others


def note_units_row(path: Path, units: Sequence[str]) -> None:
    """Warn that a row of units was left out."""
    warn(
        UnitsRow(
            f"{path}: the row below the header holds units ({quote_names(list(dict.fromkeys(units)), 3)}) "
            "and is left out."
        ),
        [path],
    )
