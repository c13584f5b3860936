"""Linear regression as a task: read the rows, settle noise and prior, solve, prove."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Schema
from weigh.features.blocks import Floats
from weigh.learn.linear_kinds import linear_schema
from weigh.learn.reading import Progress
from weigh.learn.regress.absolute import solve_absolute
from weigh.learn.regress.compressed import compressed
from weigh.learn.regress.folds import Folds
from weigh.learn.regress.gathered import Gathered, held_rows, read
from weigh.learn.regress.gradients import asks_for_gradients
from weigh.learn.regress.knowledge import Renumbered
from weigh.learn.regress.moments import Moments
from weigh.learn.regress.problem import Problem
from weigh.learn.regress.settings import (
    check_solving,
    checked_noise,
    common,
    proved,
    told_prior,
    warn_unless_optimal,
)
from weigh.learn.regress.squared import MOST_KNOWN, SILENT, Noise, Squared, SquaredFit, unknown_noise
from weigh.learn.regress.statement import Statement, stated
from weigh.learn.regress.weight_priors import Columns, checked_prior
from weigh.model import Fit, RegressionModel
from weigh.priors import Laplace, Normal
from weigh.priors.weights import WeightPrior
from weigh.source import Source
from weigh.source.missing import Marker

OWNER = "LinearRegression"


@dataclass(frozen=True)
class LinearTask:
    """Learning a linear regression: prior and noise say what is minimised."""

    schema: Schema
    prior: WeightPrior | Columns | None = None
    noise: Normal | Laplace | str = "normal"
    bias: bool = True
    scale: str | None = None
    offset: str | None = None
    folds: Folds = 5
    tol: float = 1e-8
    max_iter: int = 10_000

    @classmethod
    def over(
        cls,
        source: Source,
        columns: object = "auto",
        *,
        prior: Any = None,
        noise: Any = "normal",
        bias: bool = True,
        scale: str | None = None,
        offset: str | None = None,
        folds: Folds = 5,
        tol: float = 1e-8,
        max_iter: int = 10_000,
        missing: tuple[Marker, ...] = (),
    ) -> LinearTask:
        """Return the task for a source; its columns' kinds are found in the first rows."""
        checked = checked_prior(prior, OWNER)
        noise = checked_noise(noise, OWNER)
        check_solving(OWNER, bias=bias, scale=scale, offset=offset, folds=folds, tol=tol, max_iter=max_iter)
        schema = linear_schema(source, columns, missing=missing, owner=OWNER, whole_numbers=True)
        return cls(schema, checked, noise, bool(bias), scale, offset, folds, float(tol), int(max_iter))

    @property
    def is_absolute(self) -> bool:
        """Whether the loss is absolute."""
        return isinstance(self.noise, Laplace) or self.noise == "laplace"

    def learn(self, source: Source, *, progress: Progress | None = None) -> RegressionModel:
        """Return the model of a source."""
        # Without a bias rows cannot be counted from their means, and moments of far ones lose their digits.
        keeps = self.is_absolute or not self.bias
        reading = read(self.schema, source, measured=True, keeps=keeps, progress=progress)
        whole = None
        if not reading.is_kept and reading.space.width > MOST_KNOWN:
            # Their moments would need more memory than they do themselves.
            reading = read(self.schema, source, measured=True, progress=progress)
        if reading.is_kept:
            rows = held_rows(self.schema, reading, measured=True)
        else:
            rows, whole = compressed(self.schema, reading, self.bias)
        statement = self.statement(rows, whole)
        found = self._absolute(statement) if self.is_absolute else self._squared(statement, whole)
        return self._model(statement, found, whole)

    def statement(self, rows: Gathered, whole: Moments | None = None) -> Statement:
        """Return the problem of gathered rows; those that stand for a `whole` have no bias any more."""
        bias = self.bias and whole is None
        units = None if self.scale is None or whole is None else whole.spread
        return stated(
            rows, self.prior, None, bias=bias, scale=self.scale, offset=self.offset, owner=OWNER, units=units
        )

    def _squared(self, statement: Statement, whole: Moments | None) -> Squared:
        given = float(self.noise.scale) if isinstance(self.noise, Normal) else None
        noise = Noise() if given is None else Noise(given, "given")
        own = None
        if whole is not None:
            counted = whole if self.bias else whole.from_zero()
            own = replace(counted.taken(statement.kept), mean_y=float(counted.intercept(statement.start)))
        fit = SquaredFit(statement.problem, statement.priors, noise, self.folds, own)
        return fit.solved(self.tol, self.max_iter)

    def _absolute(self, statement: Statement) -> Squared:
        if statement.priors.chosen is not None:
            raise errors.ParameterError(
                f"{OWNER}: the scale of a prior is chosen beside squared loss only. Give a number, or "
                f"noise='normal'."
            )
        if asks_for_gradients(statement.problem.X):
            raise errors.DataError(
                f"{statement.problem.X.n_rows:,} rows of {statement.problem.X.width:,} features are too many "
                f"for absolute loss. Use noise='normal'."
            )
        size = float(self.noise.scale) if isinstance(self.noise, Laplace) else None
        if size is None and any(p.penalty(1.0) != p.penalty(2.0) for p, _ in statement.priors.groups):
            # As with squared loss: the mean size of what is left without a prior.
            plain = solve_absolute(statement.problem, self.tol, self.max_iter)
            size = plain.objective / statement.problem.total
            if size <= SILENT * _null(statement.problem, True)[0] / statement.problem.total:
                raise unknown_noise(statement.problem.X)
            noise = Noise(size, "estimated")
        else:
            noise = Noise(size, "" if size is None else "given")
        l1, l2 = statement.priors.penalties(math.sqrt(size) if size else 1.0)
        solution = solve_absolute(statement.problem.penalised(l1, l2), self.tol, self.max_iter)
        return Squared(l1, l2, solution, noise)

    def _model(self, statement: Statement, found: Squared, whole: Moments | None) -> RegressionModel:
        problem = statement.problem.penalised(found.l1, found.l2)
        null, spread = _null(problem, self.is_absolute)
        n_rows, total = problem.X.n_rows, problem.total
        if whole is not None:
            spread = math.sqrt(float(whole.squared_error(statement.start)) / whole.total)
            n_rows, total = whole.n_rows, whole.total
        solution = found.solution
        proof = proved(solution, null, self.tol)
        warn_unless_optimal(proof, OWNER, self.max_iter)
        table = statement.weights(solution.w)[:, None]
        loss = solution.objective - problem.penalty(solution.w)
        fit = Fit(
            "absolute" if self.is_absolute else "squared",
            told_prior(self.prior),
            common(found.l1),
            common(found.l2),
            total,
            n_rows,
            self.bias,
            found.noise.sigma,
            found.noise.by,
            found.scale_by,
            spread,
            _explained(statement.rows.y, statement.rows.weights, loss, self.is_absolute, whole),
            found.evidence,
            is_centred=statement.centre is None,
            lost=loss,
            scale=found.scale,
            units=None if self.scale is None else statement.priors.per_unit(found.l1, found.l2),
        )
        b = solution.b if whole is None or not self.bias else whole.intercept(table[:, 0])
        base = np.atleast_1d(b).astype(np.float64)
        maker = found.knowledge
        known = None if maker is None else Renumbered(maker, statement.places, statement.centre)
        return RegressionModel(self.schema, base, statement.terms(table), fit, proof, known)


def _explained(
    y: Floats, weights: Floats | None, loss: float, is_absolute: bool, whole: Moments | None
) -> float | None:
    """Return which share of the targets' own variation the loss leaves out; None if they do not vary."""
    if whole is not None:
        all_of_it = whole.yy / 2 if whole.bias else (whole.yy - whole.total * whole.mean_y**2) / 2
    else:
        s = np.ones(len(y)) if weights is None else weights
        middle = _median(y, s) if is_absolute else float(np.average(y, weights=s))
        away = y - middle
        all_of_it = float(s @ np.abs(away)) if is_absolute else float(s @ np.square(away)) / 2
    return 1 - loss / all_of_it if all_of_it > 0 else None


def _null(problem: Problem, is_absolute: bool) -> tuple[float, float]:
    """Return the objective without features, and the standard deviation of the targets."""
    y = problem.y if problem.offset is None else problem.y - problem.offset
    weights = np.ones(len(y)) if problem.weights is None else problem.weights
    mean = float(np.average(y, weights=weights))
    spread = math.sqrt(float(weights @ np.square(y - mean)) / problem.total)
    if is_absolute:
        middle = _median(y, weights) if problem.bias else 0.0
        return float(weights @ np.abs(y - middle)), spread
    away = y - mean if problem.bias else y
    return 0.5 * float(weights @ np.square(away)), spread


def _median(y: Floats, weights: Floats) -> float:
    order = np.argsort(y)
    before = np.cumsum(weights[order])
    return float(y[order[np.searchsorted(before, before[-1] / 2)]])
