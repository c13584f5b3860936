"""A posterior in the order of a model's features."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weigh.features.blocks import Floats, Longs
from weigh.model.posterior import Posterior, PosteriorMaker


@dataclass(frozen=True, eq=False)
class Renumbered:
    """The posterior of features as they were learned, told of a model's features.

    `places` are where the model's features are among those learned; −1 is an offset, whose weight is one
    and known. The learned weights are distances from their `centre`.
    """

    maker: PosteriorMaker
    places: Longs
    centre: Floats | None

    def posterior(self) -> Posterior:
        """Return the posterior of the model's features."""
        found = self.maker.posterior()
        if self.centre is not None:
            found = replace(found, mean=found.mean + self.centre)
        known = self.places < 0
        if not known.any():
            return found.taken(self.places)
        width = len(found.mean)
        covariance = np.zeros((width + 1, width + 1))
        covariance[:-1, :-1] = found.covariance
        wider = replace(
            found,
            mean=np.append(found.mean, 1.0),
            mean_x=np.append(found.mean_x, 0.0),
            covariance=covariance,
        )
        return wider.taken(self.places)
