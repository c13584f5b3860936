"""Kinds of derived columns, and lookup of all kinds by name and from JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from weigh import _core, errors
from weigh.features.curves import Curve
from weigh.features.dates.kind import Date
from weigh.features.kinds import Category, Count, Flag, Kind, Number, Products, Skip, Value
from weigh.features.text_kinds import Text, Tokens
from weigh.parameters import check_integer


@dataclass(frozen=True)
class Derived(Kind):
    """A column computed from the others by `function(rows)`, where `rows["name"]` is a NumPy array.

    The name and the kind are saved with a model. The function is not, and is passed again when the
    model is loaded: ``weigh.load(path, derived={"name": function})``.
    """

    name: ClassVar[str] = "derived"
    function: Callable[[Mapping[str, Any]], Sequence[Any]] | None = field(compare=False)
    kind: Kind = field(default_factory=Number)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", _to_single_kind(self.kind, "Derived"))
        if self.function is not None and not callable(self.function):
            raise errors.parameter_error("Derived", "function", "callable", self.function)

    def to_json(self) -> dict[str, Any]:
        """Return the kind as plain data, without the function."""
        return {"kind": self.name, "of": self.kind.to_json()}


@dataclass(frozen=True)
class Lag(Kind):
    """The value of another column `by` rows earlier; missing in the first rows.

    Several numbers of rows, such as ``by=range(1, 16)``, make one column for each.
    """

    name: ClassVar[str] = "lag"
    column: str
    by: int | Sequence[int] = 1
    kind: Kind = field(default_factory=Number)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", _to_single_kind(self.kind, "Lag"))
        if isinstance(self.by, Sequence) and not isinstance(self.by, str):
            object.__setattr__(self, "by", _check_steps(self.by))
        else:
            check_integer("Lag", "by", self.by, 1)
        if not isinstance(self.column, str):
            raise errors.parameter_error("Lag", "column", "the name of a column", self.column)

    def to_json(self) -> dict[str, Any]:
        """Return the kind as plain data."""
        return {"kind": self.name, "column": self.column, "by": self.by, "of": self.kind.to_json()}

    @property
    def steps(self) -> tuple[int, ...]:
        """The numbers of rows to look back, in order."""
        return (self.by,) if isinstance(self.by, int) else tuple(self.by)

    def single_lags(self, name: str) -> dict[str, Lag]:
        """Return one lag for each number of rows, by the names of their columns: "name 1", "name 2", …"""
        if isinstance(self.by, int):
            return {name: self}
        return {f"{name} {by}": replace(self, by=by) for by in self.by}


def _check_steps(by: Sequence[int]) -> tuple[int, ...]:
    steps = tuple(check_integer("Lag", "by", step, 1) for step in by)
    if not steps or len(set(steps)) < len(steps):
        raise errors.parameter_error("Lag", "by", "one or more numbers of rows, each only once", by)
    return steps


def kind_from_json(data: Mapping[str, Any]) -> Kind:
    """Return the kind that `to_json` wrote."""
    settings = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
    name = str(settings.pop("kind"))
    version = settings.pop("unicode", _core.UNICODE_VERSION)
    if version != _core.UNICODE_VERSION:
        raise errors.ModelFileError(
            f"The model's text was tokenised with Unicode {version}, and this version of weigh uses Unicode "
            f"{_core.UNICODE_VERSION}: some texts would be split differently. Use the version of weigh that "
            f"trained the model, or train it again."
        )
    inner = kind_from_json(data["of"]) if "of" in data else None
    if name == Derived.name and inner:
        return Derived(None, inner)
    if name == Lag.name and inner:
        return Lag(str(data["column"]), int(data["by"]), inner)
    kind = KINDS_BY_NAME[name](**settings)
    if isinstance(kind, Number) and isinstance(kind.bins, int):
        raise ValueError("a number of bins instead of their cuts")
    if isinstance(kind, Date) and not kind.is_complete:
        raise ValueError("a date without order or parts")
    return kind


KINDS_BY_NAME: dict[str, type[Kind]] = {
    kind.name: kind
    for kind in (Category, Flag, Count, Number, Curve, Date, Value, Products, Text, Tokens, Skip)
}


def to_kind(value: object, owner: str) -> Kind:
    """Return the kind that a user named, as an object or by its lower-case name."""
    if isinstance(value, Kind):
        return value
    if isinstance(value, str) and value in KINDS_BY_NAME:
        return KINDS_BY_NAME[value]()
    if isinstance(value, type) and issubclass(value, Kind) and value in KINDS_BY_NAME.values():
        return value()
    near = errors.did_you_mean(value, KINDS_BY_NAME) if isinstance(value, str) else ""
    known = errors.quote_names(KINDS_BY_NAME, len(KINDS_BY_NAME))
    raise errors.ParameterError(
        f"{owner}: a kind must be one of {known} or a kind object, got {value!r}.{near}"
    )


def _to_single_kind(value: object, owner: str) -> Kind:
    """Return the kind of a derived column, which has no parts as a date has."""
    kind = to_kind(value, owner)
    if isinstance(kind, Date):
        raise errors.parameter_error(owner, "kind", "a kind other than 'date'", value)
    return kind
