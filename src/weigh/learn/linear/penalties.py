"""A learner's prior as penalties of its features."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, Longs
from weigh.learn.linear.training_data import TrainingData
from weigh.priors.conversion import WeightPrior, check_weight_prior

ColumnPriors = Mapping[str, WeightPrior | None]


def check_prior(prior: Any, owner: str) -> WeightPrior | ColumnPriors | None:
    """Return the prior that is meant: one for all columns, or one by column; refuse what is none."""
    if isinstance(prior, Mapping):
        found = {str(name): check_weight_prior(own, owner, "prior") for name, own in prior.items()}
        if any(own is not None and own.is_scale_automatic for own in found.values()):
            raise errors.ParameterError(
                f"{owner}: a scale is chosen for all columns at once. Give one prior with scale='cv' or "
                f"'evidence', or a number for every column."
            )
        return found
    return check_weight_prior(prior, owner, "prior")


@dataclass(frozen=True, eq=False)
class FeaturePriors:
    """The prior of every feature, in the numbers of the gathered rows.

    `groups` are features with the same prior; `units` are what counts as one unit of each feature: a
    penalty is on weight × unit. Features without a prior are in no group.
    """

    groups: list[tuple[WeightPrior, Longs]]
    feature_scales: Floats
    names: Callable[[], Sequence[str]]

    @classmethod
    def from_prior(
        cls,
        prior: WeightPrior | ColumnPriors | None,
        rest: WeightPrior | None,
        rows: TrainingData,
        units: Floats,
        owner: str,
    ) -> FeaturePriors:
        """Return the priors of gathered rows; `rest` is that of columns a mapping does not name."""

        def names() -> Sequence[str]:
            return rows.feature_names

        if not isinstance(prior, Mapping):
            every = np.arange(len(units))
            return cls([] if prior is None else [(prior, every)], units, names)
        columns = rows.column_features
        unknown = [name for name in prior if name not in {column for column, _ in columns}]
        if unknown:
            raise errors.unknown_column_error(
                unknown[0],
                [column for column, _ in columns],
                f"{owner}: prior names what is no column; the table",
            )
        gathered: dict[int, tuple[WeightPrior, list[Longs]]] = {}
        for column, places in columns:
            own = prior.get(column, rest)
            if own is not None:
                gathered.setdefault(id(own), (own, []))[1].append(places)
        return cls([(own, np.concatenate(places)) for own, places in gathered.values()], units, names)

    def select(self, kept: Longs) -> FeaturePriors:
        """Return the priors of some features only, which get new numbers in their order."""
        if len(kept) == len(self.feature_scales):
            return self
        numbers = np.full(len(self.feature_scales), -1)
        numbers[kept] = np.arange(len(kept))
        groups = [(prior, numbers[places][numbers[places] >= 0]) for prior, places in self.groups]

        def names() -> Sequence[str]:
            every = self.names()
            return [every[at] for at in kept.tolist()]

        return FeaturePriors(groups, self.feature_scales[kept], names)

    @property
    def prior_to_tune(self) -> WeightPrior | None:
        """The prior whose scale is to be chosen, if there is one."""
        return next((prior for prior, _ in self.groups if prior.is_scale_automatic), None)

    def penalties(self, sigma: float = 1.0) -> tuple[Floats, Floats]:
        """Return l1 and l2 of every feature, beside a loss with this noise."""
        l1, l2 = np.zeros_like(self.feature_scales), np.zeros_like(self.feature_scales)
        for prior, places in self.groups:
            one, two = prior.penalty(sigma)
            l1[places], l2[places] = (
                one * self.feature_scales[places],
                two * np.square(self.feature_scales[places]),
            )
        return l1, l2

    def unit_penalties(self) -> tuple[Floats, Floats]:
        """Return l1 and l2 of every feature for the scale 1 of the prior whose scale is chosen."""
        l1, l2 = np.zeros_like(self.feature_scales), np.zeros_like(self.feature_scales)
        for prior, places in self.groups:
            one, two = prior.shape
            l1[places], l2[places] = (
                one * self.feature_scales[places],
                two * np.square(self.feature_scales[places]),
            )
        return l1, l2

    def standardise_penalties(self, l1: Floats, l2: Floats) -> tuple[Floats, Floats]:
        """Return penalties of weights times the units of their features."""
        return l1 / self.feature_scales, l2 / np.square(self.feature_scales)

    def common_standardised_penalties(self, l1: Floats, l2: Floats) -> tuple[float, float] | None:
        """Return the penalties of a weight in units of its feature; None if those differ."""
        both = self.standardise_penalties(l1, l2)
        if not all(len(each) and np.allclose(each, each[0], rtol=1e-12) for each in both):
            return None
        # Without the digits that differ with the order of sums.
        return float(f"{both[0][0]:.10g}"), float(f"{both[1][0]:.10g}")

    def check_centre_classes(self, classes: Sequence[Any]) -> None:
        """Refuse an older model of other classes than these as the centre of a prior."""
        for prior, _ in self.groups:
            mean = 0.0 if prior.is_centred else getattr(prior, "mean", 0.0)
            older = getattr(getattr(mean, "model_", mean), "classes", None)
            if older is not None and list(older) != list(classes):
                raise errors.ParameterError(
                    f"The model that the prior is centred at has the classes {errors.quote_names(older)}; the "
                    f"rows have {errors.quote_names(classes)}."
                )

    def centres(self, classes: int = 1) -> Floats | None:
        """Return where the weights are expected, [features] or [features, classes]; None if at zero."""
        if all(prior.is_centred for prior, _ in self.groups):
            return None
        shape = (len(self.feature_scales),) if classes == 1 else (len(self.feature_scales), classes)
        centre, names = np.zeros(shape), self.names()
        for prior, places in self.groups:
            found = prior.centre([names[at] for at in places.tolist()]).T
            is_number = prior.is_centred or isinstance(prior.mean, float)
            if not is_number and found.shape[1:] != shape[1:]:
                theirs = _describe_classes(found.shape[1] if found.ndim == 2 else 1)
                raise errors.ParameterError(
                    f"The model that the prior is centred at has {theirs}; what is learned has "
                    f"{_describe_classes(classes)}. Give a model of the same classes, or a number."
                )
            centre[places] = found[:, None] if found.ndim < centre.ndim else found
        return centre


def _describe_classes(classes: int) -> str:
    return "one weight per feature" if classes == 1 else f"weights for {classes} classes"
