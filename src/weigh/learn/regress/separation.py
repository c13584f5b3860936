"""Classes that a plane separates: without a prior the weights grow for ever."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weigh.errors import Separated, listing
from weigh.features.blocks import Floats, Mask
from weigh.learn.regress.logistic_loss import Loss
from weigh.learn.regress.matrix import Matrix

# Where weights grow for ever, steps near the end move scores of some rows by about one, others not at all.
GROWING = 0.1
STILL = 0.01


def named(refusal: Separated, names: Sequence[str]) -> Separated:
    """Return the same refusal with the features' names."""
    if refusal.features is None:
        return refusal
    return Separated(_growing(listing(names[at] for at in refusal.features)), refusal.features)


def check_plane(loss: Loss, X: Matrix, free: Mask, W: Floats) -> None:
    """Refuse rows that the weights without a penalty separate."""
    leads = loss.leads(X.times(np.where(free[:, None], W, 0.0)))
    if len(leads) and leads.min() > 0:
        raise Separated(
            "Some plane separates the classes, so without a prior the weights have no maximum: they grow for "
            "ever, and the fit only gets better. Give prior=1.",
            None,
        )


def check_growth(loss: Loss, X: Matrix, free: Mask, step: Floats, n_features: int) -> None:
    """Refuse rows of which a step from where the problem seems solved moves some apart and none together."""
    part = np.where(free[:, None], step, 0.0)
    leads = loss.leads(X.times(part))
    if not len(leads) or leads.max() < GROWING or leads.min() < -STILL:
        return
    sizes = np.abs(part[:n_features]).max(axis=1, initial=0.0)
    grown = np.flatnonzero(sizes > STILL * np.abs(part).max())
    raise Separated(_growing(f"numbers {listing(grown.tolist())}"), grown.tolist())


def _growing(which: str) -> str:
    return (
        f"Some features have values that only occur with one class ({which}), so without a prior "
        f"their weights have no maximum: they grow for ever. Give prior=1, or leave them out."
    )
