"""Products and norms with their rounding errors taken against us, so that they prove what they say."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from weigh.features.blocks import Floats
from weigh.judge.margins.vertices import Vertices

Longs80 = npt.NDArray[np.longdouble]

# Wider than double where the machine has it; the bounds hold for either.
EPS = float(np.finfo(np.longdouble).eps)


def at_least(vertices: Vertices, w: Floats) -> Floats:
    """Numbers that v_i·w / ‖w‖ cannot lie below."""
    wide: Longs80 = w.astype(np.longdouble)
    wide = wide / np.abs(wide).max()
    wide = wide / np.sqrt((wide * wide).sum())
    terms = vertices.values * wide[vertices.indices]
    products, sizes = _sums(vertices, terms), _sums(vertices, np.abs(terms))
    # A sum of products errs by its length times the sizes of its terms, a norm by its own length.
    errs = (np.diff(vertices.indptr) + 4) * sizes + (vertices.width + 4) * np.abs(products)
    least: Floats = np.nextafter((products - EPS * errs).astype(np.float64), -np.inf)
    return least


def at_most(vertices: Vertices, weights: Floats) -> float:
    """A number that the norm of a convex combination of corners, made of these weights, cannot exceed."""
    rows = np.flatnonzero(weights)
    shares: Longs80 = weights[rows].astype(np.longdouble)
    group = vertices.group[rows]
    for g in range(len(vertices.sides)):
        shares[group == g] /= shares[group == g].sum()
    sizes = np.diff(vertices.indptr)[rows]
    stored = vertices.stored(rows)
    z = np.zeros(vertices.width, dtype=np.longdouble)
    np.add.at(z, vertices.indices[stored], vertices.values[stored] * np.repeat(shares, sizes))
    norm = np.sqrt((z * z).sum()) * (1.0 + EPS * (vertices.width + 4))
    longest = float(vertices.lengths.max(initial=0.0))
    return math.nextafter(float(norm + EPS * 2 * (len(rows) + 4) * longest), math.inf)


def _sums(vertices: Vertices, terms: Longs80) -> Longs80:
    """Sum terms by row; rows without any have zero."""
    sums = np.zeros(vertices.n, dtype=np.longdouble)
    filled = np.diff(vertices.indptr) > 0
    if filled.any():
        sums[filled] = np.add.reduceat(terms, vertices.indptr[:-1][filled])
    return sums
