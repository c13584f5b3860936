"""`margin`: how far apart two classes are, or the proof that no plane separates them."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.features.validation import check_finite, check_integer
from weigh.judge.margins.convex_hulls import (
    HullVertices,
    augmented_vertices,
    distance_vertices,
    product_lower_bounds,
)
from weigh.judge.margins.exact_margin import (
    ExactPlane,
    exact_augmented_margin,
    exact_distance_margin,
    exact_squared_radius,
)
from weigh.judge.margins.margin_format import (
    format_margin,
    margin_html,
    plot_margin_plane,
    plot_margin_weights,
)
from weigh.judge.margins.minimum_norm_point import MinimumNormPoint, minimum_norm_point
from weigh.judge.margins.separation import (
    InseparabilityProof,
    SeparatingPlane,
    augmented_plane,
    distance_plane,
    find_common_point,
    find_shared_row,
    fraction_sqrt,
    plane_from_exact,
)
from weigh.learn.design_matrix import DesignMatrix, build_design_matrix
from weigh.text import to_json_value


@dataclass(frozen=True, eq=False)
class ExactMargin:
    """What is known in fractions: the planes and the squared radii; `radius` counts the constant 1.

    It is about the decimal numbers that the values print as: 0.1 is 1/10 here.
    """

    distance: ExactPlane | None
    augmented: ExactPlane | None
    radius: Fraction
    radius_plain: Fraction

    def to_dict(self) -> dict[str, Any]:
        """The squares, as text, for JSON."""
        return {
            "distance_square": str(self.distance.square) if self.distance else None,
            "augmented_square": str(self.augmented.square) if self.augmented else None,
            "radius_square": str(self.radius),
            "radius_plain_square": str(self.radius_plain),
        }


@dataclass(frozen=True, eq=False)
class Margin:
    """The result of `margin`.

    `distance` is the widest plane by distance from it, `augmented` the one of the mistake bound; both
    are None where `separable` is False, and then `proof` says why. `separable` None means undecided:
    the hulls touch as far as floats can tell. `radius` is the largest norm of a row with the constant
    1, `radius_plain` without. `exact` has squares in fractions where the table is small.
    """

    classes: tuple[Any, Any]
    n_rows: int
    n_features: int
    separable: bool | None
    distance: SeparatingPlane | None
    augmented: SeparatingPlane | None
    radius: float
    radius_plain: float
    exact: ExactMargin | None
    proof: InseparabilityProof | None

    @property
    def gap(self) -> float:
        """How far the wider of both intervals is open, as a share of its upper end."""
        return max((plane.gap for plane in (self.distance, self.augmented) if plane), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        parts = {name: getattr(self, name) for name in ("distance", "augmented", "exact", "proof")}
        return {
            "classes": [to_json_value(label) for label in self.classes],
            "n_rows": self.n_rows,
            "n_features": self.n_features,
            "separable": self.separable,
            "radius": self.radius,
            "radius_plain": self.radius_plain,
            "gap": self.gap,
            **{name: None if part is None else part.to_dict() for name, part in parts.items()},
        }

    def plot(self, X: Any = None, y: Any = None, *, columns: Any = "auto") -> Any:
        """Return a picture of the widest plane among its rows, which the result does not keep.

        With the rows, of two features it shows the plane with its margins, of others the rows that are
        nearest; without, or where no plane separates, the weights of the planes or of the proof.
        """
        if X is None or self.distance is None:
            return plot_margin_weights(self)
        rows, _ = check_two_classes("plot", as_design(X, y, columns, ()))
        return plot_margin_plane(self, rows, self.distance)

    def __str__(self) -> str:
        return format_margin(self)

    def _repr_html_(self) -> str:
        return margin_html(self)


def margin(
    X: Any,
    y: Any = None,
    *,
    columns: Any = "auto",
    missing: Sequence[Any] = (),
    tol: float = 1e-9,
    max_iter: int = 10_000,
) -> Margin:
    """Measure how far apart two classes are: the margin of the widest plane between them.

    The **distance margin** is the distance from the plane to the nearest row,
    max over (w, b) of min y(w·x + b)/‖w‖: half the distance between the convex hulls of the classes.
    The **augmented margin** treats the bias as one more weight, of a column that is always 1:
    max min y(w·x + b)/√(‖w‖² + b²). It is the γ of the perceptron's mistake bound R²/γ², where R is
    the largest norm of a row with its 1. It is never larger than the distance margin.

    Both come with a proved interval: a plane whose margin was checked against every row, and a pair
    of points of the hulls that no plane can be farther from. Where no plane separates, the result
    holds a proof of that. Weights of rows play no part.

    Parameters
    ----------
    X : rows of any storage, or a Design
    y : one label per row, or the label column's name; the second class in canonical order is +1
    columns : kinds of the columns, as for the learners
    missing : values that stand for a missing one
    tol : how far the intervals may stay open, as a share of the margin; a warning tells if they do
    max_iter : how many rows may in turn be tried as supports of the plane
    """
    if not 0.0 < check_finite("margin", "tol", tol, "above 0 and below 1") < 1.0:
        raise errors.parameter_error("margin", "tol", "above 0 and below 1", tol)
    check_integer("margin", "max_iter", max_iter, 1)
    rows, signs = check_two_classes("margin", as_design(X, y, columns, missing))
    found = _compute_margin(rows, signs, tol, max_iter)
    if found.separable and found.gap > tol:
        warnings.warn(
            f"margin: the interval is open by {found.gap:.1e} of the margin, more than tol={tol:g}; "
            f"raise max_iter, or bring the columns to like scales.",
            errors.WeighWarning,
            stacklevel=2,
        )
    return found


def as_design(X: Any, y: Any, columns: Any, missing: Sequence[Any]) -> DesignMatrix:
    """The rows as numbers over named features."""
    return (
        X
        if isinstance(X, DesignMatrix) and y is None
        else build_design_matrix(X, y, columns=columns, missing=missing)
    )


def check_two_classes(owner: str, rows: DesignMatrix) -> tuple[DesignMatrix, Floats]:
    """The rows with −1 for the first class and +1 for the second; other numbers of classes are refused."""
    present = np.unique(rows.codes).tolist()
    labels = [rows.classes[code] for code in present]
    if len(labels) == 1:
        raise errors.DataError(
            f"{owner} needs rows of two classes, got {rows.n_rows:,} of one: {labels[0]!r}. Add rows of "
            f"another class, or check that y names the label column."
        )
    if len(labels) != 2:
        raise errors.DataError(
            f"{owner} needs rows of two classes, got {len(labels)}: {errors.quote_names(labels)}. Ask for one "
            f"class against the rest, with [label == {next(iter(labels), 'a')!r} for label in y] as y, or "
            f"for a pair, with the rows of two classes only."
        )
    if not np.isfinite(rows.values).all():
        raise errors.DataError(f"{owner} needs finite numbers, got nan or infinity among the values.")
    return dataclasses.replace(rows, classes=labels), np.where(rows.codes == present[1], 1.0, -1.0)


def _compute_margin(rows: DesignMatrix, signs: Floats, tol: float, max_iter: int) -> Margin:
    corners = distance_vertices(rows, signs)
    proof = find_shared_row(rows, corners.group)
    if proof is not None:
        return _build_margin(rows, False, None, None, None, proof)
    found = minimum_norm_point(corners, tol, max_iter)
    if found.lower <= 0.0:
        proof, found = _decide_separability(rows, corners, found)
        if proof is not None:
            return _build_margin(rows, False, None, None, None, proof)
    distance = distance_plane(corners, found, rows.names)
    lifted = augmented_vertices(rows, signs)
    other = minimum_norm_point(lifted, tol, max_iter)
    augmented = augmented_plane(lifted, other, rows.names, distance if distance.lower else None)
    exact = _exact_margin(rows, signs.astype(int).tolist(), distance, augmented)
    if exact and exact.distance:
        distance = plane_from_exact(exact.distance, constant=False)
    if exact and exact.augmented:
        augmented = plane_from_exact(exact.augmented, constant=True)
    separable = True if distance.lower > 0.0 or augmented.lower > 0.0 else None
    return _build_margin(rows, separable, distance, augmented, exact, None)


def _decide_separability(
    rows: DesignMatrix, corners: HullVertices, found: MinimumNormPoint
) -> tuple[InseparabilityProof | None, MinimumNormPoint]:
    """What a linear program says where no plane was found: a proof, or a plane if there is one."""
    proof, direction = find_common_point(rows, corners, np.flatnonzero(found.weights))
    if proof is None:
        proof, direction = find_common_point(rows, corners, np.arange(rows.n_rows))
    if proof is None and direction.any():
        lower = sum(corners.group_minima(product_lower_bounds(corners, direction)))
        if lower > found.lower:
            found = dataclasses.replace(found, lower=lower, direction=direction)
    return proof, found


def _exact_margin(
    rows: DesignMatrix, signs: list[int], distance: SeparatingPlane, augmented: SeparatingPlane
) -> ExactMargin | None:
    square = exact_squared_radius(rows)
    if square is None:
        return None
    return ExactMargin(
        exact_distance_margin(rows, signs, list(distance.support)),
        exact_augmented_margin(rows, signs, list(augmented.support)),
        square + 1,
        square,
    )


def _build_margin(
    rows: DesignMatrix,
    separable: bool | None,
    distance: SeparatingPlane | None,
    augmented: SeparatingPlane | None,
    exact: ExactMargin | None,
    proof: InseparabilityProof | None,
) -> Margin:
    square = exact.radius_plain if exact else exact_squared_radius(rows)
    largest = float(np.abs(rows.values).max(initial=0.0)) or 1.0
    ends = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    longest = float(np.sqrt(np.bincount(ends, (rows.values / largest) ** 2, rows.n_rows).max()) * largest)
    return Margin(
        (rows.classes[0], rows.classes[1]),
        rows.n_rows,
        rows.width,
        separable,
        distance,
        augmented,
        float(np.hypot(longest, 1.0)) if square is None else fraction_sqrt(square + 1),
        longest if square is None else fraction_sqrt(square),
        exact,
        proof,
    )
