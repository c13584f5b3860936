"""A row of a classifier whose score is a sum: what each value adds, and what its removal changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Step
from weigh.features.blocks import Floats
from weigh.features.kinds import Products
from weigh.model.base import Model
from weigh.model.calibrated import CalibratedModel
from weigh.model.calibration import Calibration
from weigh.model.decision import SCORE_TOLERANCE, equalise_ties, log_softmax
from weigh.model.distributions.curve_weights import PairWeights
from weigh.model.distributions.weights import RemovableFeature
from weigh.model.linear import LinearModel
from weigh.model.naive_bayes import BayesModel
from weigh.model.perceptron import PerceptronModel, VotedModel
from weigh.source.chunk import Chunk


@dataclass(frozen=True, eq=False)
class PairContribution:
    """What the values of two columns add together: the scores [classes], and the features that it needs.

    `features` are indices of removable features; the effect goes with any of them.
    """

    name: str
    value: str
    scores: Floats
    features: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class AdditiveRow:
    """One row of an additive model: score = base + Σ present scores (kept) + Σ absent scores (removed).

    `present_scores` and `absent_scores` are [features, classes] and come from the terms of the model; the
    `pair_contributions` of a model with surfaces are added as long as both of their values are kept.
    `scores` and `predict_without` evaluate the terms themselves.
    """

    sum: AdditiveModel
    blocks: Sequence[Any]
    removable_features: Sequence[tuple[int, RemovableFeature]]
    base_scores: Floats
    pair_contributions: Sequence[PairContribution] = ()

    @classmethod
    def from_chunk(cls, model: Model, row: Chunk) -> AdditiveRow:
        """Read the only row of a chunk."""
        additive = as_additive_model(model)
        blocks = [block.row(0) for block in additive.model.schema.encode(row)]
        base = additive.base_scores
        features: list[tuple[int, RemovableFeature]] = []
        terms = list(zip(additive.model.terms, blocks, strict=True))
        for part, (term, block) in enumerate(terms):
            if not isinstance(term, PairWeights):
                removable, fixed_scores = term.removable(block)
                features += [(part, feature) for feature in removable]
                base = base + fixed_scores
        index_by_name = {feature.feature: at for at, (_, feature) in enumerate(features)}
        pairs = [_pair_contributions(term, block, index_by_name) for term, block in terms]
        return cls(additive, blocks, features, base, [pair for each in pairs for pair in each])

    @property
    def model(self) -> BayesModel | LinearModel:
        """The model that decides."""
        return self.sum.model

    @property
    def absent_base_scores(self) -> Floats:
        """The base scores and the finite scores of the absence of all removable features."""
        absent = np.where(np.isfinite(self.absent_scores), self.absent_scores, 0.0)
        return np.asarray(self.base_scores + absent.sum(axis=0))

    @property
    def base_name(self) -> str:
        """The display name of the base scores, which may include the absence of words or numbers."""
        name, has_absent = self.sum.base_name, (self.absent_base_scores != self.sum.base_scores).any()
        return f"{name} and absent features" if has_absent else name

    @property
    def report_scale(self) -> float:
        """The factor from scores to reported evidence."""
        return self.sum.scale * (1.0 if self.sum.calibration is None else self.sum.calibration.slope)

    def probabilities(self, scores: Floats) -> Floats | None:
        """Return class probabilities; None for an uncalibrated model without probabilities."""
        has_probabilities, scores = self.model.has_probabilities, scores * self.sum.scale
        if self.sum.calibration is not None:
            return np.exp(self.sum.calibration.apply(equalise_ties(scores) if has_probabilities else scores))
        return np.exp(log_softmax(scores)) if has_probabilities else None

    @cached_property
    def present_scores(self) -> Floats:
        """Contribution of each feature to each class score, [features, classes]."""
        return np.array([feature.present_scores for _, feature in self.removable_features]).reshape(
            -1, len(self.base_scores)
        )

    @cached_property
    def absent_scores(self) -> Floats:
        """Contribution of the absence of each feature, [features, classes]."""
        return np.array([feature.removed_scores for _, feature in self.removable_features]).reshape(
            -1, len(self.base_scores)
        )

    @cached_property
    def score_tolerance(self) -> float:
        """The rounding error of scores."""
        parts = np.array(
            [self.base_scores, *self.present_scores, *(p.scores for p in self.pair_contributions)]
        )
        sizes = np.where(np.isfinite(parts), np.abs(parts), 0.0).sum(axis=0)
        return 10 * SCORE_TOLERANCE * max(1.0, float(sizes.max(initial=0.0)))

    def scores(self, removed: Iterable[int] = ()) -> Floats:
        """Return the model scores of the row without the removed features, [1, classes]."""
        keys: dict[int, list[int]] = {}
        columns = set()
        for at in removed:
            part, feature = self.removable_features[at]
            keys.setdefault(part, []).append(feature.key)
            columns.add(feature.feature)
        for part, term in enumerate(self.model.terms):
            if isinstance(term, PairWeights):
                keys[part] = [key for key, axis in enumerate((term.left, term.right)) if axis.name in columns]
        scores = np.tile(self.sum.base_scores, (1, 1))
        pairs: Any = zip(self.model.terms, self.blocks, strict=True)
        for part, (term, block) in enumerate(pairs):
            term.add(term.without(block, keys[part]) if part in keys else block, scores)
        return scores

    def predict_without(self, removed: Iterable[int] = ()) -> int | None:
        """Return the code of the predicted class; None if every class has probability 0."""
        scores = self.scores(removed)
        return None if np.isneginf(scores).all() else int(self.model.best(scores)[0])


def _pair_contributions(term: Any, block: Any, index_by_name: dict[str, int]) -> list[PairContribution]:
    if not isinstance(term, PairWeights):
        return []
    names = (term.left.name, term.right.name)
    features = tuple(index_by_name[name] for name in names if name in index_by_name)
    return [PairContribution(c.feature, c.value, c.logs, features) for c in term.contributions(block, 0)]


@dataclass(frozen=True, eq=False)
class AdditiveModel:
    """A model with scores `scale` × (base + sum over features), optionally calibrated."""

    model: BayesModel | LinearModel
    base_scores: Floats
    base_name: str
    scale: float = 1.0
    calibration: Calibration | None = None


@singledispatch
def as_additive_model(model: Any) -> AdditiveModel:
    """Return the additive form of a model; raise Unsupported if it has none."""
    reason = "A regression has no verdict" if not hasattr(model, "classes") else "This model is not additive"
    raise errors.Unsupported(
        f"flip needs a classifier whose score is a sum of feature contributions: naive Bayes, a perceptron "
        f"or logistic regression. {reason} ({type(model).__name__})."
    )


@as_additive_model.register
def _(model: BayesModel) -> AdditiveModel:
    return AdditiveModel(_check_removable_columns(model), model.log_prior, "class prior")


@as_additive_model.register
def _(model: LinearModel) -> AdditiveModel:
    return AdditiveModel(_check_removable_columns(model), model.base, "bias")


@as_additive_model.register
def _(model: PerceptronModel) -> AdditiveModel:
    return AdditiveModel(_check_removable_columns(model), model.base, "bias", model.rate / model.divisor)


@as_additive_model.register
def _(model: VotedModel) -> AdditiveModel:
    raise errors.Unsupported(
        "The score of a voted perceptron is not a sum of feature contributions.",
        hint=Step("keep averaged", "Use model.keep('averaged')."),
    )


@as_additive_model.register
def _(model: CalibratedModel) -> AdditiveModel:
    if not model.calibration.preserves_verdicts:
        raise errors.Unsupported(
            f"Calibration by {model.calibration.method} moves the decision boundaries, so the verdict does "
            "not follow from a sum of feature contributions.",
            hint=Step("trained model", "Use model.uncalibrated."),
        )
    return replace(as_additive_model(model.uncalibrated), calibration=model.calibration)


def _check_removable_columns(model: Any) -> Any:
    """Return the model; raise Unsupported if its columns cannot be removed individually."""
    if any(isinstance(part.kind, Products) for part in model.schema.column_groups):
        raise errors.Unsupported(
            "A column that is multiplied with others cannot be removed by itself. Train without Products."
        )
    return model
