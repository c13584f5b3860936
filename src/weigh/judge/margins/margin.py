"""`margin`: the maximum margin between two classes, or a proof that no plane separates them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import Floats
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
    margin_headline,
    margin_sections,
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
from weigh.learn.preprocessing import Standardisation
from weigh.parameters import SCALES, check_finite, check_integer
from weigh.result import Result, Section


@dataclass(frozen=True, eq=False)
class ExactMargin:
    """The planes and the squared radii as exact fractions; `radius` includes the constant 1.

    Values count as the decimal numbers they print as: 0.1 is 1/10.
    """

    distance: ExactPlane | None
    augmented: ExactPlane | None
    radius: Fraction
    radius_plain: Fraction

    def to_dict(self) -> dict[str, Any]:
        """Return the squares as text, for JSON."""
        return {
            "distance_square": str(self.distance.square) if self.distance else None,
            "augmented_square": str(self.augmented.square) if self.augmented else None,
            "radius_square": str(self.radius),
            "radius_plain_square": str(self.radius_plain),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Margin(Result):
    """The result of `margin`.

    `distance` is the plane with the largest distance margin, `augmented` the one with the largest augmented
    margin, which enters the mistake bound. If `separable` is False, both are None and `proof` says why;
    `separable` None means undecided: the hulls touch within floating-point precision. `radius` is the largest
    norm of a row with the constant 1, `radius_plain` without it. Small tables have `exact` fractions. All
    refer to the coordinates in which a perceptron learns: the numbers in `standardised` are standardised.
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
    standardised: tuple[str, ...] = ()
    _json = (
        *("classes", "n_rows", "n_features", "separable", "radius", "radius_plain", "gap"),
        *("distance", "augmented", "exact", "proof", "standardised"),
    )

    @property
    def gap(self) -> float:
        """The relative width (upper − lower)/upper of the wider of the two intervals."""
        return max((plane.gap for plane in (self.distance, self.augmented) if plane), default=0.0)

    def plot(self, X: Any = None, y: Any = None, *, columns: Any = "auto", scale: str | None = "auto") -> Any:
        """Plot the maximum-margin plane; pass the rows, because the result does not keep them.

        With rows of two features the chart shows the plane and its margins, with other rows those nearest to
        the plane. Without rows, or if no plane separates, it shows the weights of the planes or of the proof.
        """
        if X is None or self.distance is None:
            return plot_margin_weights(self)
        rows, _ = check_two_classes("plot", as_design(X, y, columns, (), scale))
        return plot_margin_plane(self, rows, self.distance)

    @property
    def headline(self) -> str:
        """The size of the table and whether its classes are separable."""
        return margin_headline(self)

    def sections(self) -> list[Section]:
        """Return the margins and their planes, or the proof that there are none, and the radius."""
        return margin_sections(self)


def margin(
    X: Any,
    y: Any = None,
    *,
    columns: Any = "auto",
    scale: str | None = "auto",
    missing: Sequence[Any] = (),
    tol: float = 1e-9,
    max_iter: int = 10_000,
) -> Margin:
    """Compute the maximum margin of a plane between two classes.

    The **distance margin** is the largest possible distance from the plane to the nearest row,
    max over (w, b) of min y(w·x + b)/‖w‖: half the distance between the convex hulls of the classes.
    The **augmented margin** treats the bias as one more weight, of a column that is always 1:
    max min y(w·x + b)/√(‖w‖² + b²). It is the γ of the perceptron's mistake bound R²/γ², where R is
    the largest norm of a row with its 1. It is never larger than the distance margin.

    Both come with a certified interval: the lower end is the margin of a plane, checked against every row;
    the upper end follows from a point of each convex hull, since no margin exceeds half their distance. If no
    plane separates the classes, the result holds a proof of that. Sample weights are ignored.

    Parameters
    ----------
    X : rows in any storage, or a DesignMatrix
    y : one label per row, or the label column's name; the second class in canonical order is +1
    columns : kinds of the columns, as for the learners
    scale : as for a perceptron: "auto" standardises the numbers of a table with column names
    missing : values that mean missing
    tol : largest relative width of the intervals; wider ones cause a warning
    max_iter : maximum number of iterations; each adds rows to the support of the plane
    """
    if not 0.0 < check_finite("margin", "tol", tol, "above 0 and below 1") < 1.0:
        raise errors.parameter_error("margin", "tol", "above 0 and below 1", tol)
    check_integer("margin", "max_iter", max_iter, 1)
    rows, signs = check_two_classes("margin", as_design(X, y, columns, missing, scale))
    result = _compute_margin(rows, signs, tol, max_iter)
    if result.separable and result.gap > tol:
        warn(
            errors.WeighWarning(
                f"margin: the relative width of the interval is {result.gap:.1e}, more than tol={tol:g}; "
                "raise max_iter, or bring the columns to similar scales."
            )
        )
    return result


def as_design(
    X: Any,
    y: Any,
    columns: Any,
    missing: Sequence[Any],
    scale: str | None,
    standardisations: Mapping[str, Standardisation] | None = None,
) -> DesignMatrix:
    """Return the rows as a design matrix, built unless X is one, in the coordinates of a perceptron."""
    if isinstance(X, DesignMatrix) and y is None:
        return X
    scale = SCALES.check("margin", "scale", scale)
    return build_design_matrix(
        X, y, columns=columns, missing=missing, scale=scale, standardisations=standardisations
    )


def check_two_classes(owner: str, rows: DesignMatrix) -> tuple[DesignMatrix, Floats]:
    """Return the rows and their signs [n], −1 for the first class; raises unless there are two classes."""
    present = np.unique(rows.codes).tolist()
    labels = [rows.classes[code] for code in present]
    if len(labels) == 1:
        raise errors.DataError(
            f"{owner} needs rows of two classes, got {rows.n_rows:,} of one: {labels[0]!r}. Add rows of "
            f"another class, or check that y names the label column."
        )
    if len(labels) != 2:
        raise errors.DataError(
            f"{owner} needs rows of two classes, got {len(labels)}: {errors.quote_names(labels)}. Compare "
            f"one class with the rest, with [label == {next(iter(labels), 'a')!r} for label in y] as y, or "
            f"give only the rows of two classes."
        )
    if not np.isfinite(rows.X.entry_values()).all():
        raise errors.DataError(f"{owner} needs finite numbers; the values contain nan or infinity.")
    return dataclasses.replace(rows, classes=labels), np.where(rows.codes == present[1], 1.0, -1.0)


def _compute_margin(rows: DesignMatrix, signs: Floats, tol: float, max_iter: int) -> Margin:
    vertices = distance_vertices(rows, signs)
    proof = find_shared_row(rows, vertices.group)
    if proof is not None:
        return _build_margin(rows, False, None, None, None, proof)
    nearest = minimum_norm_point(vertices, tol, max_iter)
    if nearest.lower <= 0.0:
        proof, nearest = _decide_separability(rows, vertices, nearest)
        if proof is not None:
            return _build_margin(rows, False, None, None, None, proof)
    distance = distance_plane(vertices, nearest, rows.names)
    with_constant = augmented_vertices(rows, signs)
    augmented_nearest = minimum_norm_point(with_constant, tol, max_iter)
    augmented = augmented_plane(
        with_constant, augmented_nearest, rows.names, distance if distance.lower else None
    )
    exact = _exact_margin(rows, signs.astype(int).tolist(), distance, augmented)
    if exact and exact.distance:
        distance = plane_from_exact(exact.distance, constant=False)
    if exact and exact.augmented:
        augmented = plane_from_exact(exact.augmented, constant=True)
    separable = True if distance.lower > 0.0 or augmented.lower > 0.0 else None
    return _build_margin(rows, separable, distance, augmented, exact, None)


def _decide_separability(
    rows: DesignMatrix, vertices: HullVertices, nearest: MinimumNormPoint
) -> tuple[InseparabilityProof | None, MinimumNormPoint]:
    """Decide separability by a linear program: return a proof that no plane exists, or the better plane."""
    proof, direction = find_common_point(rows, vertices, np.flatnonzero(nearest.weights))
    if proof is None:
        proof, direction = find_common_point(rows, vertices, np.arange(rows.n_rows))
    if proof is None and direction.any():
        lower = sum(vertices.group_minima(product_lower_bounds(vertices, direction)))
        if lower > nearest.lower:
            nearest = dataclasses.replace(nearest, lower=lower, direction=direction)
    return proof, nearest


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
    values = rows.X.entry_values()
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    max_norm = float(np.sqrt(rows.X.sum_by_row((values / largest) ** 2).max()) * largest)
    return Margin(
        (rows.classes[0], rows.classes[1]),
        rows.n_rows,
        rows.width,
        separable,
        distance,
        augmented,
        float(np.hypot(max_norm, 1.0)) if square is None else fraction_sqrt(square + 1),
        max_norm if square is None else fraction_sqrt(square),
        exact,
        proof,
        tuple(rows.standardisations),
    )
