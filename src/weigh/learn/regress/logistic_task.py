"""Logistic regression as a task: read the rows, settle the prior, solve, prove."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Schema
from weigh.features.blocks import Floats
from weigh.learn.class_weights import check_class_weight, weights_of
from weigh.learn.linear_kinds import linear_schema
from weigh.learn.reading import Progress
from weigh.learn.regress.gathered import Gathered, gathered
from weigh.learn.regress.knowledge import Renumbered
from weigh.learn.regress.logistic import null, solve_logistic
from weigh.learn.regress.logistic_posterior import LaplaceKnown
from weigh.learn.regress.problem import Problem, Solution
from weigh.learn.regress.recentred import moved_back, moved_on, recentred
from weigh.learn.regress.separation import named
from weigh.learn.regress.settings import check_solving, common, proved, told_prior, warn_unless_optimal
from weigh.learn.regress.sparse_logistic import solve_sparse_logistic
from weigh.learn.regress.statement import Statement, stated
from weigh.learn.regress.straightened import straightened
from weigh.learn.regress.track import LogisticTrack
from weigh.learn.regress.weight_priors import Columns, checked_prior
from weigh.model import Fit, LogisticModel
from weigh.model.perceptron import as_classes
from weigh.priors import Normal
from weigh.priors.weights import WeightPrior
from weigh.source import Source
from weigh.source.missing import Marker

OWNER = "LogisticRegression"
REST = Normal(1.0)  # of columns that a mapping does not name
TRIED, WEAKEST = 20, 1e-3  # how many scales cross-validation tries, and the last by the first
LOOSE = 1e-4  # a gap that changes no choice


@dataclass(frozen=True)
class LogisticTask:
    """Learning a logistic regression exactly: the prior says what is minimised beside the log loss."""

    schema: Schema
    prior: WeightPrior | Columns | None = REST
    bias: bool = True
    scale: str | None = None
    offset: str | None = None
    class_weight: Any = None
    folds: int = 5
    tol: float = 1e-6
    max_iter: int = 1_000

    @classmethod
    def over(
        cls,
        source: Source,
        columns: object = "auto",
        *,
        prior: Any = 1.0,
        bias: bool = True,
        scale: str | None = None,
        offset: str | None = None,
        class_weight: Any = None,
        folds: int = 5,
        tol: float = 1e-6,
        max_iter: int = 1_000,
        missing: tuple[Marker, ...] = (),
    ) -> LogisticTask:
        """Return the task for a source; its columns' kinds are found in the first rows."""
        checked = checked_prior(prior, OWNER)
        check_solving(OWNER, bias=bias, scale=scale, offset=offset, folds=folds, tol=tol, max_iter=max_iter)
        check_class_weight(OWNER, class_weight)
        schema = linear_schema(source, columns, missing=missing, owner=OWNER, whole_numbers=True)
        numbers = (int(folds), float(tol), int(max_iter))
        return cls(schema, checked, bool(bias), scale, offset, class_weight, *numbers)

    def learn(self, source: Source, *, progress: Progress | None = None) -> LogisticModel:
        """Return the model of a source."""
        rows = gathered(self.schema, source, measured=False, progress=progress)
        refuse_one_class(rows)
        shares = np.bincount(rows.y, rows.weights, minlength=len(rows.classes))
        statement = self.statement(rows)
        try:
            return self._model(statement, shares / shares.sum())
        except errors.Separated as cause:
            raise named(cause, statement.priors.names()) from None

    def statement(self, rows: Gathered) -> Statement:
        """Return the problem of gathered rows."""
        refuse_one_class(rows)
        return stated(
            replace(rows, weights=weighted_classes(self.class_weight, rows)),
            self.prior,
            REST,
            bias=self.bias,
            scale=self.scale,
            offset=self.offset,
            owner=OWNER,
            classes=1 if len(rows.classes) == 2 else len(rows.classes),
        )

    def _penalties(self, statement: Statement) -> tuple[Floats, Floats, str]:
        chosen = statement.priors.chosen
        if chosen is None:
            return (*statement.priors.penalties(), "given")
        if getattr(chosen, "scale", None) == "evidence":
            raise errors.ParameterError(
                f"{OWNER}: the evidence chooses scales of linear regression only. Give scale='cv', or a "
                f"number."
            )
        l1, l2 = statement.priors.direction()
        classes = len(statement.rows.classes)
        track = LogisticTrack(statement.problem, l1, l2, classes, max(self.tol, LOOSE), self.max_iter)
        scale = track.judged(track.scales(TRIED, WEAKEST), self.folds).scale
        return l1 * scale, l2 * scale, "cross-validation"

    def _model(self, statement: Statement, shares: Floats) -> LogisticModel:
        classes = statement.rows.classes
        l1, l2, scale_by = self._penalties(statement)
        problem = statement.problem.penalised(l1, l2)
        solution = solved(problem, len(classes), self.tol, self.max_iter)
        empty = null(problem, len(classes)).objective
        proof = proved(solution, empty, self.tol)
        warn_unless_optimal(proof, OWNER, self.max_iter)
        full = statement.weights(solution.w)
        table = as_classes(full[:, None] if full.ndim == 1 else full)
        base = as_classes(np.atleast_2d(solution.b))[0]
        numbers = (common(l1), common(l2), problem.total, problem.X.n_rows)
        loss = solution.objective - problem.penalty(solution.w)
        fit = Fit(
            "log",
            told_prior(self.prior),
            *numbers,
            self.bias,
            scale_by=scale_by,
            classes=len(classes),
            is_centred=statement.centre is None,
            lost=loss,
            units=None if self.scale is None else statement.priors.per_unit(l1, l2),
            r2=None if not empty else 1 - loss / empty,
        )
        maker = LaplaceKnown.of(problem, solution) if len(classes) == 2 and not l1.any() else None
        known = None if maker is None else Renumbered(maker, statement.places, statement.centre)
        terms = statement.terms(table)
        return LogisticModel(self.schema, classes, base, terms, shares, fit, proof, known)


def solved(
    problem: Problem, classes: int, tol: float, max_iter: int, start: Solution | None = None
) -> Solution:
    """Solve with the solver that suits the penalties, columns far from zero counted from their means."""
    near, shift = recentred(problem)
    apart, straight = straightened(near)
    begun = moved_on(start, shift)
    if straight is None:
        return moved_back(_solved(near, classes, tol, max_iter, begun), shift)
    begun = None if begun is None else straight.moved_on(begun)
    try:
        found = _solved(apart, classes, tol, max_iter, begun)
    except errors.Separated as cause:
        grown = None if cause.features is None else straight.places.tolist()
        raise errors.Separated(str(cause), grown) from None
    return moved_back(straight.moved_back(found), shift)


def _solved(problem: Problem, classes: int, tol: float, max_iter: int, start: Solution | None) -> Solution:
    if not problem.l1.any():
        return solve_logistic(problem, classes, tol, max_iter, start)
    free = (problem.l1 == 0) & (problem.l2 == 0)
    if free.any():
        # Weights without a prior that would grow for ever do so whatever the others are.
        none = np.zeros(int(free.sum()))
        alone = replace(problem, X=problem.X.features(free), l1=none, l2=none)
        try:
            solve_logistic(alone, classes, tol, max_iter)
        except errors.Separated as cause:
            places = np.flatnonzero(free)
            grown = None if cause.features is None else places[cause.features].tolist()
            raise errors.Separated(str(cause), grown) from None
    return solve_sparse_logistic(problem, classes, tol, max_iter, start)


def refuse_one_class(rows: Gathered) -> None:
    """Refuse rows that are all of one class, from which no difference can be learned."""
    if len(rows.classes) < 2:
        raise errors.LabelError(
            f"All rows have the label {errors.listing(rows.classes)}; a logistic regression learns what "
            f"parts two classes or more. Give rows of another class too: the data has only one class."
        )


def weighted_classes(given: Any, rows: Gathered) -> Floats | None:
    """Return the rows' weights times those of their classes."""
    counts = np.bincount(rows.y, rows.weights, minlength=len(rows.classes)).astype(np.float64)
    per_class = weights_of(OWNER, given, rows.classes, counts)
    if per_class is None:
        return rows.weights
    own = per_class[rows.y]
    return np.asarray(own if rows.weights is None else own * rows.weights)
