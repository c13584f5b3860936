"""Objects that never change: their arrays are read-only, and threads may share them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, wraps
from operator import methodcaller
from textwrap import indent
from typing import Any, TypeVar

OwnerT = TypeVar("OwnerT")
ValueT = TypeVar("ValueT")
MAX_MIXED = 32  # greatest length of a tuple with elements of several types


def make_read_only(value: ValueT) -> ValueT:
    """Make an array, or the arrays in collections and parts, read-only in place, and return the value."""
    _make_all_read_only((value,))
    return value


def _make_all_read_only(values: Iterable[Any]) -> None:
    for value in values:
        action = _ACTIONS[type(value)]
        if action is not None:
            action(value)


def _make_fields_read_only(part: Any) -> None:
    # Not by `vars`, which would give every object a dictionary of its own for good.
    _make_all_read_only([getattr(part, name) for name in part.__dataclass_fields__])


def _make_values_read_only(mapping: dict[Any, Any]) -> None:
    _make_all_read_only(mapping.values())


def _make_elements_read_only(elements: list[Any] | tuple[Any, ...]) -> None:
    # The elements of a list or a long tuple have one type, mostly that of names or numbers.
    is_mixed = isinstance(elements, tuple) and len(elements) <= MAX_MIXED
    if is_mixed or (elements and _ACTIONS[type(elements[0])] is not None):
        _make_all_read_only(elements)


class ImmutablePart:
    """Base class of parts of immutable objects, for which temporary ones are made often.

    Their arrays become read-only when an immutable object with such a part is made.
    """


class _Actions(dict[type, Callable[[Any], None] | None]):
    """How values of each type are made read-only, because most values have a type without arrays."""

    def __missing__(self, cls: type) -> Callable[[Any], None] | None:
        action: Callable[[Any], None] | None = None
        if hasattr(cls, "setflags"):  # an array; the mail filter does without numpy
            action = methodcaller("setflags", write=False)
        elif issubclass(cls, list | tuple):
            action = _make_elements_read_only
        elif issubclass(cls, dict):
            action = _make_values_read_only
        elif issubclass(cls, ImmutablePart):
            action = _make_fields_read_only
        self[cls] = action
        return action


_ACTIONS = _Actions()


def read_only(compute: Callable[[OwnerT], ValueT]) -> Callable[[OwnerT], ValueT]:
    """Decorate the function of a cached property, so that its arrays are read-only."""

    @wraps(compute)
    def compute_read_only(self: OwnerT) -> ValueT:
        return make_read_only(compute(self))

    return compute_read_only


def add_docstring_note(cls: type, note: str) -> None:
    """Add a paragraph to the docstring of a class that has one of its own."""
    if vars(cls).get("__doc__"):
        cls.__doc__ = f"{str(cls.__doc__).rstrip()}\n\n{indent(note, '    ')}\n    "


class Immutable:
    """Base class of frozen dataclasses whose arrays are read-only.

    Copies and pickles leave out cached properties, which another thread may be adding.
    """

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Add to the docstring that threads may share the object."""
        super().__init_subclass__(**keywords)
        add_docstring_note(cls, "It never changes, so threads may share it.")

    def __post_init__(self) -> None:
        _make_fields_read_only(self)

    def __getstate__(self) -> dict[str, Any]:
        cls = type(self)
        return {
            name: value
            for name, value in vars(self).copy().items()
            if not isinstance(getattr(cls, name, None), cached_property)
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()
