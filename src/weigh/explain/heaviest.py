"""The heaviest features of a linear model: what adds most to each class's score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.explain.by_class import ByClass
from weigh.features.blocks import Floats
from weigh.model import LinearModel, RegressionModel, VotedModel
from weigh.text import cut, signed


@dataclass(frozen=True)
class Weight:
    """One feature that speaks for a class: by how much one unit of it moves the class ahead of the rest."""

    feature: str
    weight: float

    def to_dict(self) -> dict[str, Any]:
        """The feature for JSON."""
        return {"feature": self.feature, "weight": self.weight}


@dataclass(frozen=True, repr=False)
class Heaviest(ByClass):
    """The heaviest features of each class asked for, heaviest first."""

    classes: dict[Any, tuple[Weight, ...]]

    def rows_of(self, found: Sequence[Weight]) -> list[list[str]]:
        """Return the table of one class's features, its head first."""
        return [["", "weight"], *([cut(each.feature, 50), signed(each.weight, 4)] for each in found)]

    def bar_of(self, each: Weight) -> tuple[str, float]:
        """Return the feature and its weight."""
        return each.feature, each.weight


@dataclass(frozen=True, repr=False)
class Slopes(Heaviest):
    """The features of a regression that raise what is predicted most, and those that lower it most."""

    label: str = "the prediction"

    def title_of(self, label: Any) -> str:
        """Return what the features of a side do."""
        return f"{label} {self.label}"

    def rows_of(self, found: Sequence[Weight]) -> list[list[str]]:
        """Return the table of one side's features, its head first."""
        rows = ([cut(each.feature, 50), f"{each.weight:+.5g}".replace("-", "−")] for each in found)
        return [["", "weight"], *rows]


def slopes(model: RegressionModel, most: int) -> Slopes:
    """Return the features with the greatest weights above and below zero, each per unit of the feature."""
    names, coef = model.features, model.coef
    sides = {"raises": _of_class(names, coef, most), "lowers": _of_class(names, -coef, most)}
    lowered = tuple(Weight(each.feature, -each.weight) for each in sides["lowers"])
    return Slopes({**sides, "lowers": lowered}, model.label or "the prediction")


def heaviest(model: LinearModel, classes: Sequence[Any], most: int) -> Heaviest:
    """Return the features whose weights exceed the mean of the other classes' most; of votes, the mean's."""
    linear = model.keep("averaged") if isinstance(model, VotedModel) else model
    names, coef = linear.features, np.atleast_2d(linear.coef)
    table = np.vstack([-coef[0], coef[0]]) if len(coef) == 1 else coef - _others(coef)
    return Heaviest({each: _of_class(names, table[model.classes.index(each)], most) for each in classes})


def _others(coef: Floats) -> Floats:
    """Return, for each class, the mean weights of all others."""
    return np.asarray((coef.sum(axis=0) - coef) / (len(coef) - 1))


def _of_class(names: Sequence[str], weights: Floats, most: int) -> tuple[Weight, ...]:
    first = np.argsort(-weights, kind="stable")[:most]
    return tuple(Weight(names[at], float(weights[at])) for at in first.tolist() if weights[at] > 0)
