"""Priors of a learner as penalties l1 and l2 of its features."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, Longs
from weigh.learn.linear.training_data import TrainingData
from weigh.model.counts.count_table import is_identity
from weigh.priors.conversion import WeightPrior

ColumnPriors = Mapping[str, WeightPrior | None]


@dataclass(frozen=True, eq=False)
class FeaturePriors:
    """The prior of every feature, by its index in the training data.

    `groups` are the features that share a prior; features without a prior are in no group. `feature_scales`
    are the units of the features: a penalty applies to weight × unit.
    """

    groups: list[tuple[WeightPrior, Longs]]
    feature_scales: Floats
    names: Callable[[], Sequence[str]]

    @classmethod
    def from_prior(
        cls,
        prior: WeightPrior | ColumnPriors | None,
        default: WeightPrior | None,
        data: TrainingData,
        feature_scales: Floats,
        owner: str,
    ) -> FeaturePriors:
        """Assign a prior to every feature; `default` is for the columns that a mapping does not name."""

        def names() -> Sequence[str]:
            return data.feature_names

        if not isinstance(prior, Mapping):
            every = np.arange(len(feature_scales))
            return cls([] if prior is None else [(prior, every)], feature_scales, names)
        columns = data.column_features
        unknown = [name for name in prior if name not in {column for column, _ in columns}]
        if unknown:
            raise errors.unknown_column_error(
                unknown[0],
                [column for column, _ in columns],
                f"{owner}: prior names an unknown column: the table",
                "prior",
            )
        groups: dict[int, tuple[WeightPrior, list[Longs]]] = {}
        for column, indices in columns:
            column_prior = prior.get(column, default)
            if column_prior is not None:
                groups.setdefault(id(column_prior), (column_prior, []))[1].append(indices)
        return cls([(p, np.concatenate(parts)) for p, parts in groups.values()], feature_scales, names)

    def select(self, indices: Longs) -> FeaturePriors:
        """Return the priors of a subset of the features, renumbered in its order."""
        if len(indices) == len(self.feature_scales):
            return self
        new_index = np.full(len(self.feature_scales), -1)
        new_index[indices] = np.arange(len(indices))
        groups = [(prior, new_index[group][new_index[group] >= 0]) for prior, group in self.groups]

        def names() -> Sequence[str]:
            every = self.names()
            return [every[index] for index in indices.tolist()]

        return FeaturePriors(groups, self.feature_scales[indices], names)

    @property
    def prior_to_tune(self) -> WeightPrior | None:
        """The prior whose scale is to be estimated from the data, if any."""
        return next((prior for prior, _ in self.groups if prior.is_scale_automatic), None)

    def penalties(self, sigma: float = 1.0) -> tuple[Floats, Floats]:
        """Return l1 and l2 of every feature for noise of standard deviation sigma."""
        return self._scaled_penalties([prior.penalty(sigma) for prior, _ in self.groups])

    def unit_penalties(self) -> tuple[Floats, Floats]:
        """Return l1 and l2 of every feature at scale 1 of the prior to tune."""
        return self._scaled_penalties([prior.shape for prior, _ in self.groups])

    def _scaled_penalties(self, group_penalties: list[tuple[float, float]]) -> tuple[Floats, Floats]:
        l1, l2 = np.zeros_like(self.feature_scales), np.zeros_like(self.feature_scales)
        for (_, indices), (group_l1, group_l2) in zip(self.groups, group_penalties, strict=True):
            scales = self.feature_scales[indices]
            l1[indices], l2[indices] = group_l1 * scales, group_l2 * np.square(scales)
        return l1, l2

    def standardise_penalties(self, l1: Floats, l2: Floats) -> tuple[Floats, Floats]:
        """Return the penalties of weights in units of their features."""
        return l1 / self.feature_scales, l2 / np.square(self.feature_scales)

    def common_standardised_penalties(self, l1: Floats, l2: Floats) -> tuple[float, float] | None:
        """Return the l1 and l2 that all features share in their units, or None if they differ."""
        penalties = self.standardise_penalties(l1, l2)
        if not all(len(values) and np.allclose(values, values[0], rtol=1e-12) for values in penalties):
            return None
        # The last digits depend on the order of summation.
        return float(f"{penalties[0][0]:.10g}"), float(f"{penalties[1][0]:.10g}")

    def check_centre_classes(self, classes: Sequence[Any]) -> None:
        """Raise ParameterError if a prior is centred at a model of other classes."""
        for prior, _ in self.groups:
            mean = 0.0 if prior.is_centred else getattr(prior, "mean", 0.0)
            older = getattr(getattr(mean, "model_", mean), "classes", None)
            if older is not None and list(older) != list(classes):
                raise errors.ParameterError(
                    f"The prior's mean is a model of the classes {errors.quote_names(older)}, but the rows "
                    f"have the classes {errors.quote_names(classes)}. Give a model of the same classes, or "
                    "a number."
                )

    def centres(self, n_classes: int = 1) -> Floats | None:
        """Return the prior means of the weights, [d] or [d, n_classes], or None if all are zero."""
        if all(prior.is_centred for prior, _ in self.groups):
            return None
        shape = (len(self.feature_scales),) if n_classes == 1 else (len(self.feature_scales), n_classes)
        centre, names = np.zeros(shape), self.names()
        for prior, indices in self.groups:
            # The names of a wide matrix are not stored, so they are not listed without need.
            has_all = is_identity(indices, len(names))
            mean = prior.centre(names if has_all else [names[index] for index in indices.tolist()]).T
            is_number = prior.is_centred or isinstance(prior.mean, float)
            if not is_number and mean.shape[1:] != shape[1:]:
                theirs = _describe_classes(mean.shape[1] if mean.ndim == 2 else 1)
                raise errors.ParameterError(
                    f"The prior's mean is a model with {theirs}, but the model to learn has "
                    f"{_describe_classes(n_classes)}. Give a model of the same classes, or a number."
                )
            centre[indices] = mean[:, None] if mean.ndim < centre.ndim else mean
        return centre


def _describe_classes(n_classes: int) -> str:
    return "one weight per feature" if n_classes == 1 else f"weights for {n_classes} classes"
