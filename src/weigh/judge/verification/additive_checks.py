"""Recompute an additive fit from its rows: cells, centring, monotonicity, loss, objective and gap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.features.blocks import Floats
from weigh.features.curves import Curve
from weigh.features.kinds import Number, Products, Value
from weigh.judge.verification.additive_penalties import (
    CurvePenalty,
    PairPenalty,
    RidgePenalty,
    TermPenalty,
    marginal_sums,
)
from weigh.judge.verification.cell_rows import (
    CellRows,
    CurveModel,
    number_cells,
    read_cell_rows,
)
from weigh.judge.verification.checks import (
    Check,
    Mismatch,
    RowChecks,
    check_classes,
    check_close,
    format_presence,
)
from weigh.judge.verification.objectives import Objective
from weigh.judge.verification.optimality_checks import (
    OBJECTIVE_TOLERANCE,
    candidate_weightings,
    check_gap,
    make_loss,
    relative_intercepts,
    standard_deviations,
)
from weigh.model.distributions.curve_weights import CurveWeights, PairWeights
from weigh.model.distributions.weights import LevelWeights
from weigh.model.fit import Optimality
from weigh.model.logistic import LogisticModel
from weigh.source.base import Source

CENTRE_TOLERANCE = 1e-7  # of a mean height, relative to the mean of the |heights|
MONOTONE_TOLERANCE = 1e-9  # of an increment, relative to the largest one
HEIGHT_TOLERANCE = 1e-12  # of both, relative to the largest height of all terms
MAX_INTERCEPT_STEPS = 20
# The definition of the objective: more levels are not centred, and more numbers have no common unit.
MAX_CENTRED_LEVELS, MAX_SCALED_FEATURES = 500, 1_000


def check_additive_fit(model: CurveModel, source: Source) -> RowChecks:
    """Check an additive fit against its rows."""
    rows = read_cell_rows(model, source)
    checks = [check_close("rows", model.fit.rows, rows.design.n_rows)]
    if isinstance(model, LogisticModel):
        checks.append(check_classes(model, rows.design))
    checks += [_check_levels(model, rows), _check_strengths(model)]
    if not all(check.ok for check in checks[1:]):
        return RowChecks(rows.design.n_rows, checks)
    # A model does not store its class weights, so try the rows' weights and balanced ones.
    results = [_check_weighting(model, rows, s) for s in candidate_weightings(model, rows.design)]
    best = min(results, key=lambda result: sum(not check.ok for check in result))
    return RowChecks(rows.design.n_rows, [*checks, *best, *_monotone_checks(model)])


def _check_levels(model: CurveModel, rows: CellRows) -> Check:
    """Compare the levels of the categories with those of the rows."""
    terms = [term for term in model.terms if isinstance(term, LevelWeights)]
    differing, n_compared = [], 0
    for term in terms:
        known, found = set(term.known_levels()), rows.levels[term.name]
        n_compared += len(known | found)
        differing += [
            Mismatch(f"{term.name}={level}", format_presence(level in known), format_presence(level in found))
            for level in sorted(known ^ found, key=str)
        ]
    return Check("levels", n_compared, tuple(differing))


def _check_strengths(model: CurveModel) -> Check:
    """Check that the fit states the strengths of the prior, those of curves and pairs as their terms do."""
    stated = model.fit.strengths or {}
    differing = []
    for title, term in zip(model.schema.unique_titles, model.terms, strict=True):
        strength, what = stated.get(title), f"strength of {title!r}"
        if not isinstance(term, CurveWeights | PairWeights):
            differing += [] if strength is not None else [Mismatch(what, "none", "a number")]
        elif strength is not None and strength != term.strengths[0]:
            differing.append(Mismatch(what, f"{strength:.10g}", f"{term.strengths[0]:.10g}"))
    return Check("strengths", len(model.terms), tuple(differing))


def _check_weighting(model: CurveModel, rows: CellRows, s: Floats) -> list[Check]:
    """Return the checks for rows with the weights s."""
    learned = _LearnedHeights.from_model(model)
    zeros = np.zeros(rows.design.width)
    objective = Objective(
        rows.design, make_loss(model, rows.design, s), zeros, zeros, model.fit.bias, len(learned.b)
    )
    counts = np.split(objective.transposed_times(s[:, None])[:, 0], learned.ends)
    return [
        check_close("total weight of the rows", model.fit.n, float(s.sum())),
        *_cell_checks(model, rows, counts),
        *_centring_checks(model, learned, counts),
        *_optimality_checks(model, objective, learned, s, counts),
    ]


@dataclass(frozen=True, eq=False)
class _LearnedHeights:
    """The heights of each term [features, outputs], and the intercepts b [outputs]."""

    parts: Sequence[Floats]
    b: Floats

    @classmethod
    def from_model(cls, model: CurveModel) -> _LearnedHeights:
        terms: Any = model.terms
        tables = [term.trained_weights() for term in terms]
        if isinstance(model, LogisticModel) and len(model.classes) == 2:
            return cls([table[:, 1:] - table[:, :1] for table in tables], model.base[1:] - model.base[:1])
        return cls(tables, relative_intercepts(model))

    @property
    def rounding(self) -> float:
        """The size of a height that is only a rounding error."""
        return HEIGHT_TOLERANCE * max(
            (float(np.abs(part).max(initial=0.0)) for part in self.parts), default=0.0
        )

    @property
    def ends(self) -> list[int]:
        """The ends of all parts but the last, for `numpy.split`."""
        ends: list[int] = np.cumsum([len(part) for part in self.parts])[:-1].tolist()
        return ends


def _cell_checks(model: CurveModel, rows: CellRows, counts: Sequence[Floats]) -> Iterator[Check]:
    """Compare the weight of the rows in each cell, and the mean values and limits of curves."""
    for term, recounted in zip(model.terms, counts, strict=True):
        if isinstance(term, CurveWeights | PairWeights):
            names = term.features().names
            yield _check_numbers(f"rows in the cells of {term.name}", names, term.counts, recounted)
        if isinstance(term, CurveWeights):
            numbers = rows.numbers[term.name]
            yield _check_positions(term, numbers)
            known = numbers[~np.isnan(numbers)]
            limits = np.array([known.min(), known.max()]) if len(known) else term.limits
            sides = [f"{side} value of {term.name}" for side in ("smallest", "largest")]
            yield _check_numbers(f"range of {term.name}", sides, term.limits, limits)


def _check_positions(term: CurveWeights, numbers: Floats) -> Check:
    """Compare the means of the values in the cells that have any."""
    known = numbers[~np.isnan(numbers)]
    cells = number_cells(known, term.cuts)
    n_rows = np.bincount(cells, minlength=term.n_cells)
    used = np.flatnonzero(n_rows)
    means, sizes = (
        np.bincount(cells, values, minlength=term.n_cells)[used] / n_rows[used]
        for values in (known, np.abs(known))
    )
    names = [term.features().names[cell] for cell in used.tolist()]
    title = f"mean values in the cells of {term.name}"
    return _check_numbers(title, names, term.positions[used], means, sizes)


def _check_numbers(
    name: str, titles: Sequence[str], stated: Floats, recomputed: Floats, scales: Floats | None = None
) -> Check:
    """Compare numbers one by one, up to rounding relative to the `scales` of what was summed."""
    scales = np.abs(recomputed) if scales is None else scales
    pairs = zip(titles, stated.tolist(), recomputed.tolist(), scales.tolist(), strict=True)
    checks = [check_close(title, old, new, scale=1e3 * scale) for title, old, new, scale in pairs]
    return Check(name, len(checks), tuple(mismatch for check in checks for mismatch in check.differing))


def _centring_checks(
    model: CurveModel, learned: _LearnedHeights, counts: Sequence[Floats]
) -> Iterator[Check]:
    """Check that the mean height over the rows is zero: of curves, levels, and surfaces in each cell."""
    for term, heights, weights in zip(model.terms, learned.parts, counts, strict=True):
        if isinstance(term, PairWeights):
            sums = marginal_sums(weights, (term.left.n_cells, term.right.n_cells))
            sides = [f"{axis.name} {cell}" for axis in (term.left, term.right) for cell in axis.cell_names()]
            name = f"means of {term.name} in each cell are 0"
            yield _check_zero_means(name, sides, sums, heights, learned.rounding)
        elif isinstance(term, CurveWeights | LevelWeights) and _is_centred(term):
            name, sums = f"mean of {term.name} is 0", weights[None, :]
            yield _check_zero_means(name, [term.name], sums, heights, learned.rounding)


def _is_centred(term: Any) -> bool:
    """Whether the mean height of a term is zero; not of very many levels, or beside a reference level."""
    if not isinstance(term, LevelWeights):
        return isinstance(term, CurveWeights)
    return term.reference_level is None and 2 <= len(term.levels) <= MAX_CENTRED_LEVELS


def _check_zero_means(
    name: str, titles: Sequence[str], sums: Floats, heights: Floats, rounding: float
) -> Check:
    """Check that the means of the heights are zero; `sums` [means, cells] are the weights of the cells."""
    shares = sums / np.maximum(sums.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    means, allowed = shares @ heights, CENTRE_TOLERANCE * (shares @ np.abs(heights)) + rounding
    wrong = np.flatnonzero((np.abs(means) > allowed).any(axis=1)).tolist()
    largest = [float(means[at][np.argmax(np.abs(means[at]))]) for at in wrong]
    differing = [Mismatch(titles[at], "0", f"{mean:.6g}") for at, mean in zip(wrong, largest, strict=True)]
    return Check(name, len(titles), tuple(differing))


def _monotone_checks(model: CurveModel) -> Iterator[Check]:
    """Check that curves which may only rise or only fall do so."""
    learned = _LearnedHeights.from_model(model)
    groups = zip(model.schema.column_groups, model.terms, learned.parts, strict=True)
    for group, term, heights in groups:
        direction = _direction(group.kind)
        if direction and isinstance(term, CurveWeights):
            rises = direction * np.diff(heights[:-1], axis=0)
            allowed = MONOTONE_TOLERANCE * np.abs(rises).max(initial=0.0) + learned.rounding
            wrong = np.flatnonzero((rises < -allowed).any(axis=1))
            names, word = term.features().names, "rises" if direction > 0 else "falls"
            differing = [
                Mismatch(f"from {names[at]} on", word, f"{direction * float(rises[at].min()):+.6g}")
                for at in wrong.tolist()
            ]
            yield Check(f"{term.name} only {word}", len(rises), tuple(differing))


def _direction(kind: Any) -> int:
    """Return 1 if a curve may only rise, −1 if it may only fall, otherwise 0."""
    return {"up": 1, "down": -1}.get(kind.monotone or "", 0) if isinstance(kind, Curve) else 0


def _optimality_checks(
    model: CurveModel,
    objective: Objective,
    learned: _LearnedHeights,
    s: Floats,
    counts: Sequence[Floats],
) -> Iterator[Check]:
    """Compare loss and objective, and bound the distance from the minimum."""
    certificate: Optimality | None = model.certificate
    null = 0.0 if certificate is None else certificate.null
    scores = objective.scores(np.concatenate(learned.parts), learned.b)
    loss = objective.loss.value(scores)
    if model.fit.lost is not None:
        yield check_close("loss of all rows", model.fit.lost, loss, OBJECTIVE_TOLERANCE, null)
    if certificate is None:
        return
    penalties = list(_penalties(model, objective, s, counts, learned.ends))
    value = loss + sum(p.value(part) for p, part in zip(penalties, learned.parts, strict=True))
    sizes = [p.size(part) for p, part in zip(penalties, learned.parts, strict=True)]
    yield check_close("objective", certificate.objective, value, OBJECTIVE_TOLERANCE, null + sum(sizes))
    yield check_gap(certificate, _gap(objective, scores, learned, penalties))


def _penalties(
    model: CurveModel, objective: Objective, s: Floats, counts: Sequence[Floats], ends: Sequence[int]
) -> Iterator[TermPenalty]:
    strengths = model.fit.strengths or {}
    deviations = np.split(standard_deviations(objective.rows.X, s), ends)
    schema = model.schema
    parts = zip(schema.column_groups, schema.unique_titles, model.terms, counts, deviations, strict=True)
    for group, title, term, weights, scales in parts:
        if isinstance(term, CurveWeights):
            yield CurvePenalty(term, weights, _direction(group.kind))
        elif isinstance(term, PairWeights):
            yield PairPenalty(term, weights)
        else:
            is_scaled = (
                isinstance(group.kind, Value | Number | Products) and len(scales) <= MAX_SCALED_FEATURES
            )
            units = np.where(is_scaled & (scales > 0), scales, 1.0)
            yield RidgePenalty(strengths[title] * np.square(units), weights if _is_centred(term) else None)


def _gap(
    objective: Objective, scores: Floats, learned: _LearnedHeights, penalties: Sequence[TermPenalty]
) -> float:
    """Bound how far the heights are above the minimum, by the gradient after refitting the intercepts."""
    v = objective.loss.gradient(_refit_intercepts(objective, scores))
    if not objective.is_gradient_balanced(v):
        return np.inf
    gradients = np.split(objective.transposed_times(v), learned.ends)
    rounding = np.split(objective.gradient_rounding(v), learned.ends)
    parts = zip(penalties, learned.parts, gradients, rounding, strict=True)
    by_term = sum(penalty.gap(*part) for penalty, *part in parts)
    intercepts = float(np.abs(v.sum(axis=0) * learned.b).sum()) if objective.has_intercept else 0.0
    return objective.loss.fenchel_gap(scores, v) + by_term + intercepts


def _refit_intercepts(objective: Objective, scores: Floats) -> Floats:
    """Return the scores with intercepts that minimise the loss, by Newton's method."""
    if not objective.has_intercept:
        return scores
    units = np.eye(scores.shape[1])
    for _ in range(MAX_INTERCEPT_STEPS):
        gradient = objective.loss.gradient(scores).sum(axis=0)
        hessian = [
            objective.loss.hessian_times(scores, np.tile(unit, (len(scores), 1))).sum(axis=0)
            for unit in units
        ]
        step = np.linalg.lstsq(np.array(hessian), gradient, rcond=None)[0]
        scores = scores - step
        if np.abs(step).max() <= 1e-14 * (1.0 + np.abs(scores).max()):
            break
    return scores
