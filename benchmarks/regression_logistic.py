"""Sparse logistic regression, by L2 and by L1, to stated distances from the minimum.

The distance is of the objective, as a share of its least value known: the lowest of all runs on the ladder
and of a tighter run of LIBLINEAR and of weigh before them, with the duality gap of the lowest as proof. No
bias, C = 1, labels of −1 and 1. LIBLINEAR takes its own form of the rows, ready made; what the conversion
adds is told in a row of its own. Others get sparse rows or sparse columns, whichever they want, ready made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.regression_contest import Answer, Contest, Entrant, contest, ladder, leads, table
from benchmarks.regression_data import Floats, labelled
from benchmarks.regression_judge import Logistic
from benchmarks.text_peers import CORES

SIZES = {"full": (200_000, 500_000, 75), "small": (4_000, 20_000, 75)}
TARGETS = (1e-4, 1e-6)
LADDER = ladder(1, 8)
PASSES = (5.0, 10.0, 20.0, 40.0)  # of saga, whose tolerance stops it too early or never
LIMIT = 60.0


@dataclass
class Rows:
    """Rows and labels in every form that somebody wants."""

    X: Any
    y: Floats
    columns: Any = field(init=False)
    liblinear: Any = field(init=False)

    def __post_init__(self) -> None:
        self.columns = self.X.tocsc()
        self.liblinear = import_module("liblinear.liblinear").problem(self.y, self.X)


def liblinear(rows: Rows, solver: int, *, converts: bool = False) -> Callable[[float], Answer]:
    util = import_module("liblinear.liblinearutil")

    def run(tol: float) -> Answer:
        options = f"-s {solver} -c 1 -e {tol:g} -q"
        if converts:
            model = util.train(rows.y, rows.X, options)
        else:
            model = util.train(rows.liblinear, util.parameter(options))
        w = np.ctypeslib.as_array(model.w, (rows.X.shape[1],)).copy()
        return Answer(w if model.label[0] == 1 else -w)

    return run


def fits(make: Callable[..., Any], X: Any, y: Any) -> Callable[[float], Answer]:
    def run(tol: float) -> Answer:
        return Answer(np.ravel(make(tol=tol).fit(X, y).coef_))

    return run


def ours(rows: Rows, l1: bool) -> Callable[[float], Answer]:
    import weigh

    prior: Any = weigh.Laplace(1.0) if l1 else 1.0
    return fits(partial(weigh.LogisticRegression, prior=prior, bias=False), rows.X, rows.y)


def saga(rows: Rows, l1: bool) -> Callable[[float], Answer]:
    settings = {"l1_ratio": float(l1), "fit_intercept": False, "random_state": 0, "tol": 1e-9}

    def run(passes: float) -> Answer:
        make = import_module("sklearn.linear_model").LogisticRegression
        return Answer(
            np.ravel(make(solver="saga", max_iter=int(passes), **settings).fit(rows.X, rows.y).coef_)
        )

    return run


def by_l2(rows: Rows) -> list[Entrant]:
    lm, skglm, snapml = map(import_module, ("sklearn.linear_model", "skglm", "snapml"))
    skl = partial(lm.LogisticRegression, fit_intercept=False, max_iter=1_000)
    found = [Entrant("weigh, prior=1.0", ours(rows, l1=False), ladder(2, 8))]
    for number in (7, 0):
        found.append(Entrant(f"LIBLINEAR -s {number}", liblinear(rows, number), LADDER, "-e"))
    whole = liblinear(rows, 7, converts=True)
    found.append(Entrant("LIBLINEAR -s 7 with its conversion", whole, LADDER, "-e"))
    for solver in ("lbfgs", "newton-cg"):
        found.append(
            Entrant(f"scikit-learn {solver}", fits(partial(skl, solver=solver), rows.X, rows.y), LADDER)
        )
    found.append(Entrant("scikit-learn saga", saga(rows, l1=False), PASSES, "max_iter"))
    for dual in (True, False):
        own = fits(partial(skl, solver="liblinear", dual=dual, random_state=0), rows.X, rows.y)
        found.append(Entrant(f"scikit-learn liblinear, {'dual' if dual else 'primal'}", own, LADDER))
    for jobs in (1, CORES):
        snap = partial(snapml.LogisticRegression, regularizer=1.0, n_jobs=jobs, random_state=0)
        found.append(Entrant(f"snapml, dual, n_jobs={jobs}", fits(snap, rows.X, rows.y), LADDER))
    found.append(
        Entrant(
            "skglm, L-BFGS", fits(partial(_skglm, skglm, len(rows.y)), rows.columns, rows.y), ladder(3, 8)
        )
    )
    return found


def _skglm(skglm: Any, n: int, tol: float) -> Any:
    parts = map(import_module, ("skglm.datafits", "skglm.penalties", "skglm.solvers"))
    datafits, penalties, solvers = parts
    solver = solvers.LBFGS(tol=tol, max_iter=1_000)
    # The estimator asks for these, and this solver does not set them.
    solver.fit_intercept = solver.warm_start = False
    return skglm.GeneralizedLinearEstimator(datafits.Logistic(), penalties.L2(1 / n), solver)


def by_l1(rows: Rows) -> list[Entrant]:
    lm, celer, skglm, snapml = map(import_module, ("sklearn.linear_model", "celer", "skglm", "snapml"))
    n = len(rows.y)
    settings = {"l1_ratio": 1.0, "fit_intercept": False, "random_state": 0}
    skl = partial(lm.LogisticRegression, solver="liblinear", max_iter=1_000, **settings)
    snap = partial(snapml.LogisticRegression, penalty="l1", dual=False, regularizer=1.0, random_state=0)
    whole = liblinear(rows, 6, converts=True)
    sparse = partial(skglm.SparseLogisticRegression, 1 / n, fit_intercept=False, max_iter=100)
    found = [
        Entrant("weigh, prior=Laplace(1.0)", ours(rows, l1=True), ladder(2, 8)),
        Entrant("LIBLINEAR -s 6", liblinear(rows, 6), LADDER, "-e"),
        Entrant("LIBLINEAR -s 6 with its conversion", whole, LADDER, "-e"),
        Entrant("scikit-learn liblinear", fits(skl, rows.X, rows.y), LADDER),
        Entrant("scikit-learn saga", saga(rows, l1=True), PASSES, "max_iter"),
        Entrant("celer", fits(celer.LogisticRegression, rows.columns, rows.y), ladder(2, 8)),
        Entrant("skglm", fits(sparse, rows.columns, rows.y), ladder(3, 8)),
    ]
    for jobs in (1, CORES):
        run = fits(partial(snap, n_jobs=jobs), rows.columns, rows.y)
        found.append(Entrant(f"snapml, n_jobs={jobs}", run, LADDER))
    return found


@dataclass
class Distance:
    """How far an objective is from the least one known, as a share of it."""

    judge: Logistic
    least: float = np.inf
    gap: float = np.inf

    def lower(self, answer: Answer) -> None:
        """Take an answer's objective as the least one if it is."""
        found = self.judge.objective(answer.weights)
        if found < self.least:
            self.least, self.gap = found, self.judge.gap(answer.weights)

    def __call__(self, answer: Answer) -> float:
        found = self.judge.objective(answer.weights)
        if found < self.least:
            self.lower(answer)
        return max(found / self.least - 1.0, 0.0)


def compared(title: str, rows: Rows, *, l1: bool, repeats: int) -> str:
    """Return the tables of one penalty, a table for each target."""
    everyone = (by_l1 if l1 else by_l2)(rows)
    distance = Distance(Logistic(rows.X, rows.y, float(l1), float(not l1)))
    tight = 1e-5 if l1 else 1e-6
    for answer in (liblinear(rows, 6 if l1 else 7)(tight), everyone[0].run(1e-9)):
        distance.lower(answer)
    found = contest(everyone, distance, TARGETS, repeats, LIMIT)
    proof = f"least objective {distance.least:.6f}, proved to {distance.gap:.0e} of it"
    parts = [f"{title}, {'L1' if l1 else 'L2'}; {proof}"]
    return "\n\n".join([*parts, *_tables(found, everyone)])


def _tables(found: Contest, everyone: Sequence[Entrant]) -> list[str]:
    parts = []
    for target in TARGETS:
        parts.append(f"To {target:g} above the minimum")
        parts += [table(found, everyone, target, "above the minimum"), leads(found, target, 1.5)]
    return parts


def job(size: str, repeats: int) -> str:
    """Return the tables of both penalties and both kinds of labels."""
    head = "{:,} × {:,}, {} non-zeros a row, no bias, C = 1".format(*SIZES[size])
    parts = [head]
    for name, with_noise in (("separable labels", False), ("a third of the labels flipped", True)):
        rows = Rows(*labelled(*SIZES[size], with_noise=with_noise))
        for l1 in (False, True):
            parts.append(compared(name.capitalize(), rows, l1=l1, repeats=repeats))
    return "\n\n".join(parts)
