"""Kinds by their names, as users write them."""

from __future__ import annotations

from weigh import errors
from weigh.features.kinds import Category, Count, Flag, Kind, Number, Skip, Value
from weigh.features.products import Products
from weigh.features.text_kinds import Text, Tokens

KINDS: dict[str, type[Kind]] = {
    kind.name: kind for kind in (Category, Flag, Count, Number, Value, Products, Text, Tokens, Skip)
}


def to_kind(given: object, owner: str) -> Kind:
    """Return the kind that a user named, as an object or by its lower-case name."""
    if isinstance(given, Kind):
        return given
    if isinstance(given, str) and given in KINDS:
        return KINDS[given]()
    if isinstance(given, type) and issubclass(given, Kind) and given in KINDS.values():
        return given()
    near = errors.hint(given, KINDS) if isinstance(given, str) else ""
    known = errors.listing(KINDS, len(KINDS))
    raise errors.ParameterError(
        f"{owner}: a kind must be one of {known} or such an object, got {given!r}.{near}"
    )
