"""The strongest features of a naive Bayes model: what speaks most for each class.

The strength of a value for a class is the evidence it gives when it is seen,

    log P(value | class) − log P(value | all other classes together),

in nats, where the other classes are pooled by their prior probabilities. A number has no single
value to be seen: its strength is the evidence that it gives on average in a row of the class (the
Kullback-Leibler divergence from the other classes' pooled normal curve), and its range is where it
speaks for the class.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from weigh import errors
from weigh.explain.by_class import ByClass
from weigh.explain.heaviest import Heaviest, heaviest, slopes
from weigh.explain.ranges import divergence, speaking_range
from weigh.features.blocks import Floats
from weigh.model import BayesModel, LinearModel, RegressionModel
from weigh.model.bayes import Distribution
from weigh.model.outcomes import Curve, Outcomes
from weigh.text import cut, percent, plain, short, signed


@dataclass(frozen=True)
class Strength:
    """One feature that speaks for a class: `nats` of evidence, and the two numbers behind it.

    For a value, `own` and `rest` are its probabilities in the class and in the other classes; for
    a number (`is_number`), the means.
    """

    feature: str
    value: str
    nats: float
    own: float
    rest: float
    is_number: bool = False

    @property
    def name(self) -> str:
        """The feature with its value, for people."""
        if self.is_number:
            return f"{self.feature} {self.value}"
        return f"{self.feature} = {self.value}" if self.value else self.feature

    def to_dict(self) -> dict[str, Any]:
        """The feature for JSON."""
        kind = "number" if self.is_number else "value"
        numbers = {"nats": self.nats, "own": self.own, "rest": self.rest}
        return {"feature": self.feature, "value": self.value, "kind": kind} | {
            key: plain(number) for key, number in numbers.items()
        }


@dataclass(frozen=True)
class Strongest(ByClass):
    """The strongest features of each class asked for, strongest first."""

    classes: dict[Any, tuple[Strength, ...]]
    unit: ClassVar[str] = "nats"

    def rows_of(self, found: Sequence[Strength]) -> list[list[str]]:
        """Return the table of one class's features, its head first."""
        rows = [["", "nats", "in class", "in the rest"]]
        for each in found:
            write = _mean if each.is_number else percent
            rows.append([cut(each.name, 40), signed(each.nats), write(each.own), write(each.rest)])
        return rows

    def bar_of(self, each: Strength) -> tuple[str, float]:
        """Return the feature with its value, and its evidence."""
        return each.name, each.nats


def strongest(model: Any, label: Any = None, most: int = 10) -> Strongest | Heaviest:
    """The features that speak most for each class, or for the class `label` only.

    Of a linear model, such as a perceptron's or a logistic regression's, these are the features with the
    greatest weights; of a linear regression those that raise and that lower what is predicted most.

    Parameters
    ----------
    model : a naive Bayes or linear model, a linear regression, or an estimator that holds one
    label : a class; None means all
    most : how many features to list per class
    """
    model = getattr(model, "model_", model)
    # How sure a model is changes nothing about what it looks for.
    model = getattr(model, "uncalibrated", model)
    if not isinstance(model, BayesModel | LinearModel | RegressionModel):
        raise errors.Unsupported(
            f"strongest reads a naive Bayes or linear model, got {type(model).__name__}; explain single rows "
            f"instead."
        )
    if most < 1:
        raise errors.parameter("strongest", "most", "at least 1", most)
    if isinstance(model, RegressionModel):
        if label is not None:
            raise errors.LabelError(
                f"A regression predicts numbers and has no class {label!r}. Leave the class out."
            )
        return slopes(model, most)
    if len(model.classes) < 2:
        raise errors.Unsupported("The model has one class only, so nothing speaks for it against others.")
    if label is not None and label not in model.classes:
        raise errors.LabelError(f"The model has no class {label!r}; it has {errors.listing(model.classes)}.")
    wanted = model.classes if label is None else [label]
    if isinstance(model, LinearModel):
        return heaviest(model, wanted, most)
    # The complement's own weights say the same in another form; the definition here needs P(value | class).
    model = replace(model, complement=False) if model.complement else model
    return Strongest({each: _of_class(model, model.classes.index(each), most) for each in wanted})


def _of_class(model: BayesModel, c: int, most: int) -> tuple[Strength, ...]:
    shares = np.exp(model.class_belief.logs)
    shares[c] = 0.0
    if not shares.any():
        shares = np.ones(len(shares))
        shares[c] = 0.0
    rest = shares / shares.sum()
    found = [each for part in model.distributions for each in _of_part(part, c, rest, most)]
    found = [each for each in found if each.nats > 0]
    return tuple(sorted(found, key=lambda each: (-each.nats, -each.own, each.name))[:most])


def _of_part(part: Distribution, c: int, rest: Floats, most: int) -> Iterator[Strength]:
    for outcomes in part.outcomes():
        yield from _of_values(outcomes, c, rest, most)
    curves = part.curves()
    # A column that never varies, or has no values, says nothing.
    if curves and all(spread > 0 and not math.isnan(mean) for mean, spread in curves):
        yield _of_number(part.part.names[0], curves, c, rest)


def _of_values(outcomes: Outcomes, c: int, rest: Floats, most: int) -> Iterator[Strength]:
    table = outcomes.probabilities
    if not table.size:
        return
    others = rest @ table
    with np.errstate(divide="ignore", invalid="ignore"):
        nats = np.nan_to_num(np.log(table[c]) - np.log(others), nan=0.0, posinf=np.inf, neginf=-np.inf)
    for at in np.lexsort((-table[c], -nats))[:most].tolist():
        yield Strength(*outcomes.named(at), float(nats[at]), float(table[c, at]), float(others[at]))


def _of_number(name: str, curves: list[Curve], c: int, rest: Floats) -> Strength:
    means, spreads = (np.array(each) for each in zip(*curves, strict=True))
    mean = float(rest @ means)
    pooled = mean, math.sqrt(float(rest @ (spreads**2 + (means - mean) ** 2)))
    own = curves[c]
    return Strength(name, speaking_range(own, pooled), divergence(own, pooled), own[0], mean, True)


def _mean(number: float) -> str:
    return f"mean {short(number)}"
