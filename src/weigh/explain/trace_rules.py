"""The rules of a trace: the parameters of a perceptron, checked and exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

from weigh import errors
from weigh.features import Number, Schema
from weigh.features.settings import whole
from weigh.learn.perceptron import check_parameters
from weigh.model.factors import to_fraction

NEEDED = {"keep", "margin", "rate", "max_iter"}


@dataclass(frozen=True)
class Rules:
    """How a perceptron moves: the parameters of `weigh.Perceptron`, with its defaults."""

    keep: str = "averaged"
    margin: Any = 0.0
    relative: bool = False
    rate: Any = 1.0
    max_iter: int = 20
    shuffle: bool = True
    random_state: Any = 0
    multiclass: str = "joint"
    bias: bool = True
    scale: Any = None
    class_weight: Any = None
    columns: Any = "auto"
    missing: Any = ()

    @classmethod
    def of(cls, learner: Any) -> Rules:
        """Read and check the parameters of a learner."""
        if isinstance(learner, cls):
            return learner.checked()
        ask = getattr(learner, "get_params", None)
        given: Mapping[str, Any] = ask() if callable(ask) and not isinstance(learner, type) else {}
        if not given.keys() >= NEEDED:
            name = learner.__name__ if isinstance(learner, type) else type(learner).__name__
            raise errors.Unsupported(
                f"trace follows the updates of a perceptron, got {name}. Give one such as weigh.Perceptron()."
            )
        known = {field.name for field in fields(cls)}
        return cls(**{name: given[name] for name in known & given.keys()}).checked()

    def checked(self) -> Rules:
        """Return the rules, or refuse the first one that cannot be followed."""
        check_parameters(
            keep=self.keep,
            margin=self.margin,
            rate=self.rate,
            max_iter=self.max_iter,
            multiclass=self.multiclass,
            class_weight=self.class_weight,
            flags={"relative": self.relative, "shuffle": self.shuffle, "bias": self.bias},
        )
        if self.shuffle:
            whole("Perceptron", "random_state", self.random_state, 0)
        if self.scale is not None:
            raise _rescaled(f"Perceptron(scale={self.scale!r})")
        return self

    def check_kinds(self, schema: Schema | None) -> None:
        """Refuse columns that are rescaled by their kind."""
        for kind in () if schema is None else schema.kinds:
            if isinstance(kind, Number) and kind.scale is not None:
                raise _rescaled(repr(kind))

    @cached_property
    def exact_rate(self) -> Fraction:
        """The learning rate as a fraction: 0.1 means one tenth."""
        return exact(self.rate)

    @cached_property
    def exact_margin(self) -> Fraction:
        """The margin as a fraction."""
        return exact(self.margin)

    def sizes(
        self, codes: Sequence[int], classes: Sequence[Any], weights: Sequence[float] | None
    ) -> list[Fraction]:
        """Return how far an error at each row moves the weights: the rate times the row's weights."""
        own = [Fraction(1)] * len(codes) if weights is None else [exact(weight) for weight in weights]
        return [
            self.exact_rate * w * c
            for w, c in zip(own, self._class_weights(codes, classes, own), strict=True)
        ]

    def _class_weights(
        self, codes: Sequence[int], classes: Sequence[Any], own: Sequence[Fraction]
    ) -> list[Fraction]:
        if self.class_weight is None:
            return [Fraction(1)] * len(codes)
        if isinstance(self.class_weight, Mapping):
            beyond = [label for label in self.class_weight if label not in classes]
            if beyond:
                raise errors.ParameterError(
                    f"Perceptron: class_weight names the class {errors.listing(beyond)}; the rows have "
                    f"{errors.listing(classes)}."
                )
            return [exact(self.class_weight.get(classes[code], 1)) for code in codes]
        totals = [Fraction(0)] * len(classes)
        for code, weight in zip(codes, own, strict=True):
            totals[code] += weight
        return [
            sum(totals) / (len(classes) * totals[code]) if totals[code] else Fraction(0) for code in codes
        ]


def _rescaled(who: str) -> errors.Unsupported:
    return errors.Unsupported(
        f"{who} learns from rescaled rows, and a trace shows the arithmetic of the values as they are. Take "
        f"scale=None, or rescale the rows first."
    )


def exact(number: Any) -> Fraction:
    """A number as a fraction; a float means its shortest decimal."""
    if isinstance(number, Fraction | int):
        return Fraction(number)
    try:
        return to_fraction(float(number))
    except (TypeError, ValueError, OverflowError):
        raise errors.DataError(
            f"A trace calculates with finite numbers, got {number!r}. Give numbers, or columns of the rows."
        ) from None
