"""Checks: numbers of a model compared with numbers made again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weigh.judge.verifying.recount import Count

ROUNDING = 1e-9


@dataclass(frozen=True)
class Mismatch:
    """A number of the model that the data do not give."""

    what: str
    model: str
    data: str


@dataclass(frozen=True)
class Check:
    """One thing that was compared: how many numbers, and which of them differ."""

    name: str
    compared: int
    differing: tuple[Mismatch, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything agrees."""
        return not self.differing

    def to_dict(self) -> dict[str, Any]:
        """The check for JSON."""
        return {
            "name": self.name,
            "ok": self.ok,
            "compared": self.compared,
            "differing": [vars(each) for each in self.differing],
        }


def compare(
    name: str, model: Mapping[Any, Count], data: Mapping[Any, Count], title: str, rounded: bool
) -> Check:
    """Compare counts by their keys: exactly, or to rounding where weights are fractional."""
    keys = list(dict.fromkeys([*model, *(key for key, n in data.items() if n)]))
    pairs = [(key, model.get(key, 0), data.get(key, 0)) for key in keys]
    differing = [
        Mismatch(_told(key, title), _number(mine), _number(again))
        for key, mine, again in pairs
        if mine != again and not (rounded and abs(mine - again) <= ROUNDING * abs(again))
    ]
    return Check(name, len(keys), tuple(differing))


def ones(name: str, totals: list[float]) -> Check:
    """Check that every total is one, to rounding."""
    wrong = [Mismatch(name, repr(total), "1") for total in totals if not abs(total - 1.0) <= ROUNDING]
    return Check(name, len(totals), tuple(wrong))


def _told(key: Any, title: str) -> str:
    if not isinstance(key, tuple):
        return f"class {key!r}"
    what, label, name = key
    counted_what = f"{what} of {name!r}" if name not in ("", title) else what
    return f"{counted_what} in class {label!r}"


def _number(count: Count) -> str:
    return f"{int(count):,}" if count == int(count) and abs(count) < 10**15 else repr(float(count))
