"""What can be taken out of one row, and what a model whose scores are sums says of the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Products
from weigh.features.blocks import Floats
from weigh.model.base import Model
from weigh.model.bayes import BayesModel
from weigh.model.calibrated import CalibratedModel
from weigh.model.calibration import Calibration
from weigh.model.decision import levelled, normalised
from weigh.model.linear import LinearModel
from weigh.model.perceptron import PerceptronModel, VotedModel
from weigh.model.weights import Removable
from weigh.source import Chunk


@dataclass(frozen=True, eq=False)
class Removals:
    """One row of a model: score(class) = rest + Σ `kept` of features that stay + Σ `gone` of the others.

    `kept` and `gone` are [features, classes]. The sums are those of the model's own terms, so that what is
    found from them holds for the model; `verdict` asks the terms themselves.
    """

    sum: Sum
    blocks: Sequence[Any]
    units: Sequence[tuple[int, Removable]]
    rest: Floats

    @classmethod
    def of(cls, model: Model, row: Chunk) -> Removals:
        """Return the features of the one row of a chunk."""
        summed = additive(model)
        blocks = [block.row(0) for block in summed.model.schema.encode(row)]
        rest = summed.base
        units: list[tuple[int, Removable]] = []
        for part, (term, block) in enumerate(zip(summed.model.terms, blocks, strict=True)):
            found, beyond = term.removable(block)
            units += [(part, unit) for unit in found]
            rest = rest + beyond
        return cls(summed, blocks, units, rest)

    @property
    def model(self) -> BayesModel | LinearModel:
        """The model that decides."""
        return self.sum.model

    @property
    def start(self) -> str:
        """What the sums start from, for people; the absence of many words may be part of it."""
        name = self.sum.start
        return name if (self.rest == self.sum.base).all() else f"{name} and what is absent"

    @property
    def slope(self) -> float:
        """What the sums are multiplied by where they are told."""
        return self.sum.scale * (1.0 if self.sum.calibration is None else self.sum.calibration.slope)

    def probabilities(self, scores: Floats) -> Floats | None:
        """Return the probabilities of sums; a model without any, and without a calibration, has none."""
        probable, scores = self.model.probable, scores * self.sum.scale
        if self.sum.calibration is not None:
            return np.exp(self.sum.calibration.apply(levelled(scores) if probable else scores))
        return np.exp(normalised(scores)) if probable else None

    @cached_property
    def kept(self) -> Floats:
        """What each feature adds to the score of each class."""
        return np.array([unit.kept for _, unit in self.units]).reshape(-1, len(self.rest))

    @cached_property
    def gone(self) -> Floats:
        """What is added to the scores where a feature is gone."""
        return np.array([unit.gone for _, unit in self.units]).reshape(-1, len(self.rest))

    def scores(self, removed: Iterable[int] = ()) -> Floats:
        """Return the scores of the row without some of its features, by the terms themselves."""
        keys: dict[int, list[int]] = {}
        for at in removed:
            part, unit = self.units[at]
            keys.setdefault(part, []).append(unit.key)
        scores = np.tile(self.sum.base, (1, 1))
        pairs: Any = zip(self.model.terms, self.blocks, strict=True)
        for part, (term, block) in enumerate(pairs):
            term.add(term.without(block, keys[part]) if part in keys else block, scores)
        return scores

    def verdict(self, removed: Iterable[int] = ()) -> int | None:
        """Return the number of the winning class; None where no class is possible."""
        scores = self.scores(removed)
        return None if np.isneginf(scores).all() else int(self.model.best(scores)[0])


@dataclass(frozen=True, eq=False)
class Sum:
    """A model whose scores are `scale` times sums, what they start from, and a map that calibrates them."""

    model: BayesModel | LinearModel
    base: Floats
    start: str
    scale: float = 1.0
    calibration: Calibration | None = None


@singledispatch
def additive(model: Any) -> Sum:
    """Return the sum that a model's scores are, or say why there is none."""
    what = "A regression has no verdict" if not hasattr(model, "classes") else "Its score is no sum"
    raise errors.Unsupported(
        f"flip needs a classifier whose score is a sum of what each feature adds: naive Bayes, a "
        f"perceptron, logistic regression. {what} ({type(model).__name__})."
    )


@additive.register
def _(model: BayesModel) -> Sum:
    return Sum(_apart(model), model.log_prior, "class prior")


@additive.register
def _(model: LinearModel) -> Sum:
    return Sum(_apart(model), model.base, "bias")


@additive.register
def _(model: PerceptronModel) -> Sum:
    return Sum(_apart(model), model.base, "bias", model.rate / model.divisor)


@additive.register
def _(model: VotedModel) -> Sum:
    raise errors.Unsupported(
        "A vote of many planes is no sum of what features add. Ask for model.keep('averaged')."
    )


@additive.register
def _(model: CalibratedModel) -> Sum:
    if not model.calibration.keeps_verdicts:
        raise errors.Unsupported(
            f"Calibration by {model.calibration.method} moves the cuts between the classes, so that verdicts "
            f"are no sums of what features add. Ask for model.uncalibrated."
        )
    return replace(additive(model.uncalibrated), calibration=model.calibration)


def _apart(model: Any) -> Any:
    """Return a model, refused where its columns cannot be taken out one by one."""
    if any(isinstance(part.kind, Products) for part in model.schema.parts):
        raise errors.Unsupported(
            "A column that is multiplied with others cannot be taken out of the sum alone. Train without "
            "Products."
        )
    return model
