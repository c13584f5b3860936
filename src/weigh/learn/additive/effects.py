"""The effects of an additive model: the cells of a column, how they are centred, and their prior.

An effect has the heights f = Z u of its cells, where the columns of the basis Z satisfy the constraints
(heights sum to zero over the training rows) and u are its free coordinates. The prior of u is normal with the
precision Σ λ S over the effect's components: for a curve with the cell positions z, first differences D and
q = Dz / ‖Dz‖,

    walk:    ‖Df‖² − (q·Df)²    deviations from a straight line are a random walk,
    line:    (q·Df)² / ‖Dz‖²    the squared slope per standard deviation,
    missing: the squared height of missing values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import algebra
from weigh.features.blocks import Floats, Mask

MAX_CENTRED_LEVELS = 500  # a basis of more levels would be a large dense matrix
LINE, MISSING, FLAGS = "line", "missing", "flags"  # strengths that columns share, or around which theirs vary


@dataclass(frozen=True, eq=False)
class Component:
    """One quadratic form S of an effect's prior; `key` names its strength, which effects may share.

    `S` [r, r] refers to the coordinates; [r] is a diagonal. The ranks of an effect's components add up to its
    number of coordinates, so that tr P⁻¹S is rank / strength. `fixed` is a stated strength. One
    that `is_validated` is chosen on held-out rows instead of by marginal likelihood.
    Strengths with a common `centre` vary around the strength of that name.
    """

    key: str
    S: Floats
    rank: int
    fixed: float | None = None
    is_validated: bool = False
    centre: str | None = None

    def quadratic(self, U: Floats) -> float:
        """Return Σ u·Su over the columns of U."""
        return float((U * self.times(U)).sum())

    def times(self, U: Floats) -> Floats:
        """Return S U."""
        return np.asarray(self.S @ U if self.S.ndim == 2 else self.S[:, None] * U)


@dataclass(frozen=True, eq=False)
class Effect:
    """The features start to stop of the design matrix as one effect.

    `basis` None means that every feature is a coordinate. `bounded` marks coordinates that must not be
    negative. An effect that `is_wide` has too many features for a dense Hessian. A curve may have
    `unique_shares`, the shares of the rows in each cell whose values no other row has.
    """

    title: str
    start: int
    stop: int
    components: Sequence[Component]
    basis: Floats | None = None
    bounded: Mask | None = None
    is_pair: bool = False
    unique_shares: Floats | None = None

    @property
    def n_coordinates(self) -> int:
        """The number of free coordinates."""
        return self.stop - self.start if self.basis is None else self.basis.shape[1]

    @property
    def is_wide(self) -> bool:
        """Whether the effect has a diagonal prior and more features than a dense Hessian should have."""
        return self.basis is None and self.stop - self.start > MAX_CENTRED_LEVELS

    def expand(self, U: Floats) -> Floats:
        """Return the heights Z U."""
        return U if self.basis is None else np.asarray(self.basis @ U)

    def project(self, V: Floats) -> Floats:
        """Return Zᵀ V."""
        return V if self.basis is None else np.asarray(self.basis.T @ V)

    def precision(self, strengths: dict[str, float]) -> Floats:
        """Return the prior's precision: [r, r], or its diagonal [r] if the effect is wide."""
        total: Any = 0.0
        for component in self.components:
            S = component.S
            total = total + strengths[component.key] * (S if S.ndim == 2 or self.is_wide else np.diag(S))
        return np.asarray(total)

    def shift(self, by: int) -> Effect:
        """Return the effect with its features moved."""
        return replace(self, start=self.start + by, stop=self.stop + by)


def curve_effect(
    title: str,
    start: int,
    counts: Floats,
    positions: Floats,
    smooth: float | None,
    monotone: str | None,
) -> Effect:
    """Return the effect of a curve over the cells `counts` [K + 1], the last for missing values.

    The coordinates are the K − 1 increments, with the sign of a falling curve reversed, and the height of
    missing values. They do not interact in the prior, so that increments can be moved to their bounds alone.
    """
    n_cells = len(positions)
    sign = -1.0 if monotone == "down" else 1.0
    basis = np.zeros((n_cells + 1, n_cells))
    basis[:-1, :-1] = _centre(sign * np.tri(n_cells, n_cells - 1, -1), counts[:-1])
    # The cells balance the missing values. If all values are missing, their height is zero.
    n_known = float(counts[:-1].sum())
    basis[:-1, -1] = -counts[-1] / n_known if n_known else -1.0
    basis[-1, -1] = 1.0 if n_known else 0.0
    walk, line = curve_penalties(positions, counts[:-1])
    last = np.diag(np.arange(n_cells) == n_cells - 1).astype(np.float64)
    forms = [
        (f"{title}: walk", _project(walk, basis), max(n_cells - 2, 0), smooth),
        (f"{title}: line", _project(line, basis), min(n_cells - 1, 1), None),
        (MISSING, last, 1, None),
    ]
    components = [Component(key, S, rank, fixed) for key, S, rank, fixed in forms]
    components[1] = replace(components[1], centre=LINE)
    bounded = None if monotone is None else np.arange(n_cells) < n_cells - 1
    return Effect(title, start, start + n_cells + 1, components, basis, bounded)


def _project(S: Floats, basis: Floats) -> Floats:
    """Return the quadratic form of the coordinates from that of the cells."""
    cells = basis[:-1]
    return np.asarray(cells.T @ S @ cells)


def curve_penalties(positions: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return the quadratic forms of the walk and of the line over K cells."""
    n_cells, shares = len(positions), counts / max(float(counts.sum()), 1e-300)
    z = positions - positions[:1]  # differences keep the digits that positions far from zero would lose
    z = z - float(shares @ z)
    z = z / (float(np.abs(z).max()) or 1.0)  # squares of very large or small numbers are not finite or zero
    z = z / (float(np.sqrt(shares @ z**2)) or 1.0)
    D = np.diff(np.eye(n_cells), axis=0)
    steps = D @ z
    norm = float(np.linalg.norm(steps))
    q = steps / (norm or 1.0)
    along = np.outer(D.T @ q, D.T @ q)
    return D.T @ D - along, along / (norm**2 or 1.0)


def level_effect(title: str, start: int, counts: Floats) -> Effect:
    """Return the effect of a category: levels with one common strength, centred unless there are many."""
    n_levels = len(counts)
    if n_levels > MAX_CENTRED_LEVELS or n_levels < 2:
        return linear_effect(title, start, np.ones(n_levels), f"{title}: levels")
    basis = _centre(np.eye(n_levels)[:, :-1], counts)
    component = Component(f"{title}: levels", basis.T @ basis, n_levels - 1)
    return Effect(title, start, start + n_levels, [component], basis)


def linear_effect(
    title: str, start: int, scales: Floats, key: str, fixed: float | None = None, has_words: bool = False
) -> Effect:
    """Return the effect of features with one weight each, in units of their scales."""
    is_validated = has_words and fixed is None and len(scales) > MAX_CENTRED_LEVELS
    component = Component(key, np.square(scales), len(scales), fixed, is_validated)
    return Effect(title, start, start + len(scales), [component])


def pair_effect(title: str, start: int, counts: Floats, are_numbers: tuple[bool, bool]) -> Effect:
    """Return the effect of a pair with the cell counts [left, right].

    Its heights sum to zero over the rows of each cell of either column, so that they contain no effect of
    one column alone. Differences of neighbouring cells have one common strength; the cells of a category are
    all neighbours.
    """
    n_left, n_right = counts.shape
    left, right = (_laplacian(n, number) for n, number in zip(counts.shape, are_numbers, strict=True))
    S = np.kron(left, np.eye(n_right)) + np.kron(np.eye(n_left), right)
    over_right = np.kron(np.eye(n_left), np.ones(n_right)) * counts.ravel()
    over_left = np.kron(np.ones(n_left), np.eye(n_right)) * counts.ravel()
    basis = _null_space(np.vstack([over_right, over_left]))
    component = Component(f"{title}: surface", basis.T @ S @ basis, basis.shape[1])
    return Effect(title, start, start + counts.size, [component], basis, is_pair=True)


def _laplacian(n_cells: int, is_number: bool) -> Floats:
    if is_number:
        D = np.diff(np.eye(n_cells), axis=0)
        return np.asarray(D.T @ D)
    return np.eye(n_cells) - 1 / n_cells


def _centre(raw: Floats, counts: Floats) -> Floats:
    """Return heights relative to their mean over the rows."""
    return np.asarray(raw - (counts @ raw) / max(float(counts.sum()), 1e-300))


def _null_space(constraints: Floats) -> Floats:
    """Return an orthonormal basis of the vectors that satisfy the constraints."""
    norms = np.sqrt(np.square(constraints).sum(axis=1))
    scaled = constraints[norms > 0] / norms[norms > 0, None]
    values, vectors = algebra.eigh(scaled.T @ scaled)
    return np.ascontiguousarray(vectors[:, values < 1e-9 * max(float(values[-1]), 1e-300)])
