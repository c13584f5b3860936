"""The priors of columns: one for all, or each its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from weigh import errors, priors
from weigh.features import Part

PriorSpec = priors.Prior | Mapping[str, priors.Prior]


def check(given: PriorSpec, parts: Sequence[Part]) -> None:
    """Refuse what is not a prior, and priors of columns that are not there."""
    if not isinstance(given, Mapping):
        priors.check(given, "NaiveBayes", "prior")
        return
    known = [name for part in parts for name in part.names]
    for name, prior in given.items():
        if name not in known:
            where = "NaiveBayes: prior names columns of the table, which"
            raise errors.unknown_column(str(name), known, where)
        priors.check(prior, "NaiveBayes", f"prior[{name!r}]")


def prior_of(given: PriorSpec, part: Part) -> tuple[priors.Prior, dict[str, priors.Prior]]:
    """Return a part's prior, and the priors of those of its columns that have one of their own.

    Columns that a mapping does not name get Laplace's pseudo-count of 1.
    """
    if not isinstance(given, Mapping):
        return given, {}
    if not part.kind.gathers:
        return given.get(part.names[0], 1.0), {}
    named = set(part.names)
    return 1.0, {name: prior for name, prior in given.items() if name in named}


def least(given: PriorSpec, parts: Sequence[Part]) -> Fraction:
    """Return the least pseudo-count that anything in any part can have; 1 where there are none."""
    pairs = [prior_of(given, part) for part in parts]
    return min(
        (priors.least(each) for first, own in pairs for each in (first, *own.values())), default=Fraction(1)
    )


def to_json(given: PriorSpec) -> Any:
    """Return a prior, or a prior per column, as plain data."""
    if isinstance(given, Mapping):
        return {"columns": {name: priors.to_json(prior) for name, prior in given.items()}}
    return priors.to_json(given)


def from_json(data: Any) -> PriorSpec:
    """Return what `to_json` wrote."""
    if isinstance(data, dict) and "columns" in data:
        return {str(name): priors.from_json(prior) for name, prior in data["columns"].items()}
    return priors.from_json(data)
