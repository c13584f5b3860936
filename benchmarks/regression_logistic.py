"""Sparse logistic regression with L2 and L1 penalties, exact and online.

The accuracy of a solution is its relative excess over the lowest objective of all runs, including one tight
run each of LIBLINEAR and weigh; the duality gap of that lowest objective is reported as proof. No intercept,
C = 1, labels −1 and 1. LIBLINEAR gets the rows in its own format, converted beforehand; a separate table
row includes the conversion. The other solvers get CSR or CSC matrices, whichever they prefer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import TimedCall, format_duration, format_markdown_table, time_in_turns
from benchmarks.regression_comparison import (
    Solution,
    Solver,
    SolverComparison,
    compare_solvers,
    format_lead,
    format_solver_table,
    tolerance_ladder,
)
from benchmarks.regression_problems import Floats, LogisticCertificate, make_labelled
from benchmarks.text_peers import CORES

SIZES = {"full": (200_000, 500_000, 75), "small": (4_000, 20_000, 75)}
GAP_TARGETS = (1e-4, 1e-6)
LADDER = tolerance_ladder(1, 8)
SAGA_PASSES = (5.0, 10.0, 20.0, 40.0)  # saga's tolerance stops it too early or never
LOGISTIC_TIME_LIMIT = 60.0


@dataclass
class LogisticRows:
    """Rows and labels in all formats that the solvers need."""

    X: Any
    y: Floats
    columns: Any = field(init=False)
    liblinear: Any = field(init=False)

    def __post_init__(self) -> None:
        self.columns = self.X.tocsc()
        self.liblinear = import_module("liblinear.liblinear").problem(self.y, self.X)


def liblinear_call(rows: LogisticRows, solver: int, *, converts: bool = False) -> Callable[[float], Solution]:
    util = import_module("liblinear.liblinearutil")

    def run(tol: float) -> Solution:
        options = f"-s {solver} -c 1 -e {tol:g} -q"
        if converts:
            model = util.train(rows.y, rows.X, options)
        else:
            model = util.train(rows.liblinear, util.parameter(options))
        w = np.ctypeslib.as_array(model.w, (rows.X.shape[1],)).copy()
        return Solution(w if model.label[0] == 1 else -w)

    return run


def estimator_call(make: Callable[..., Any], X: Any, y: Any) -> Callable[[float], Solution]:
    def run(tol: float) -> Solution:
        return Solution(np.ravel(make(tol=tol).fit(X, y).coef_))

    return run


def weigh_call(rows: LogisticRows, l1: bool) -> Callable[[float], Solution]:
    import weigh

    prior: Any = weigh.Laplace(1.0) if l1 else 1.0
    return estimator_call(partial(weigh.LogisticRegression, prior=prior, bias=False), rows.X, rows.y)


def saga_call(rows: LogisticRows, l1: bool) -> Callable[[float], Solution]:
    settings = {"l1_ratio": float(l1), "fit_intercept": False, "random_state": 0, "tol": 1e-9}

    def run(passes: float) -> Solution:
        make = import_module("sklearn.linear_model").LogisticRegression
        return Solution(
            np.ravel(make(solver="saga", max_iter=int(passes), **settings).fit(rows.X, rows.y).coef_)
        )

    return run


def l2_solvers(rows: LogisticRows) -> list[Solver]:
    lm, skglm, snapml = map(import_module, ("sklearn.linear_model", "skglm", "snapml"))
    skl = partial(lm.LogisticRegression, fit_intercept=False, max_iter=1_000)
    solvers = [Solver("weigh, prior=1.0", weigh_call(rows, l1=False), tolerance_ladder(2, 8))]
    for number in (7, 0):
        solvers.append(Solver(f"LIBLINEAR -s {number}", liblinear_call(rows, number), LADDER, "-e"))
    with_conversion = liblinear_call(rows, 7, converts=True)
    solvers.append(Solver("LIBLINEAR -s 7 with its conversion", with_conversion, LADDER, "-e"))
    for solver in ("lbfgs", "newton-cg"):
        solvers.append(
            Solver(
                f"scikit-learn {solver}", estimator_call(partial(skl, solver=solver), rows.X, rows.y), LADDER
            )
        )
    solvers.append(Solver("scikit-learn saga", saga_call(rows, l1=False), SAGA_PASSES, "max_iter"))
    for dual in (True, False):
        run = estimator_call(partial(skl, solver="liblinear", dual=dual, random_state=0), rows.X, rows.y)
        solvers.append(Solver(f"scikit-learn liblinear, {'dual' if dual else 'primal'}", run, LADDER))
    for jobs in (1, CORES):
        snap = partial(snapml.LogisticRegression, regularizer=1.0, n_jobs=jobs, random_state=0)
        solvers.append(Solver(f"snapml, dual, n_jobs={jobs}", estimator_call(snap, rows.X, rows.y), LADDER))
    solvers.append(
        Solver(
            "skglm, L-BFGS",
            estimator_call(partial(_skglm, skglm, len(rows.y)), rows.columns, rows.y),
            tolerance_ladder(3, 8),
        )
    )
    return solvers


def _skglm(skglm: Any, n: int, tol: float) -> Any:
    parts = map(import_module, ("skglm.datafits", "skglm.penalties", "skglm.solvers"))
    datafits, penalties, solvers = parts
    solver = solvers.LBFGS(tol=tol, max_iter=1_000)
    # The estimator reads these attributes, which this solver does not set.
    solver.fit_intercept = solver.warm_start = False
    return skglm.GeneralizedLinearEstimator(datafits.Logistic(), penalties.L2(1 / n), solver)


def l1_solvers(rows: LogisticRows) -> list[Solver]:
    lm, celer, skglm, snapml = map(import_module, ("sklearn.linear_model", "celer", "skglm", "snapml"))
    n = len(rows.y)
    settings = {"l1_ratio": 1.0, "fit_intercept": False, "random_state": 0}
    skl = partial(lm.LogisticRegression, solver="liblinear", max_iter=1_000, **settings)
    snap = partial(snapml.LogisticRegression, penalty="l1", dual=False, regularizer=1.0, random_state=0)
    with_conversion = liblinear_call(rows, 6, converts=True)
    sparse = partial(skglm.SparseLogisticRegression, 1 / n, fit_intercept=False, max_iter=100)
    solvers = [
        Solver("weigh, prior=Laplace(1.0)", weigh_call(rows, l1=True), tolerance_ladder(2, 8)),
        Solver("LIBLINEAR -s 6", liblinear_call(rows, 6), LADDER, "-e"),
        Solver("LIBLINEAR -s 6 with its conversion", with_conversion, LADDER, "-e"),
        Solver("scikit-learn liblinear", estimator_call(skl, rows.X, rows.y), LADDER),
        Solver("scikit-learn saga", saga_call(rows, l1=True), SAGA_PASSES, "max_iter"),
        Solver(
            "celer", estimator_call(celer.LogisticRegression, rows.columns, rows.y), tolerance_ladder(2, 8)
        ),
        Solver("skglm", estimator_call(sparse, rows.columns, rows.y), tolerance_ladder(3, 8)),
    ]
    for jobs in (1, CORES):
        run = estimator_call(partial(snap, n_jobs=jobs), rows.columns, rows.y)
        solvers.append(Solver(f"snapml, n_jobs={jobs}", run, LADDER))
    return solvers


@dataclass
class SuboptimalityMeasure:
    """The relative excess of an objective over the lowest one known."""

    certificate: LogisticCertificate
    best_objective: float = np.inf
    gap: float = np.inf

    def update_best(self, answer: Solution) -> None:
        """Record a solution's objective if it is the lowest so far."""
        objective = self.certificate.objective(answer.weights)
        if objective < self.best_objective:
            self.best_objective, self.gap = objective, self.certificate.gap(answer.weights)

    def __call__(self, answer: Solution) -> float:
        objective = self.certificate.objective(answer.weights)
        if objective < self.best_objective:
            self.update_best(answer)
        return max(objective / self.best_objective - 1.0, 0.0)


def penalty_tables(title: str, rows: LogisticRows, *, l1: bool, repeats: int) -> str:
    """Return the tables of one penalty, one per target."""
    solvers = (l1_solvers if l1 else l2_solvers)(rows)
    suboptimality = SuboptimalityMeasure(LogisticCertificate(rows.X, rows.y, float(l1), float(not l1)))
    tight = 1e-5 if l1 else 1e-6
    for answer in (liblinear_call(rows, 6 if l1 else 7)(tight), solvers[0].run(1e-9)):
        suboptimality.update_best(answer)
    comparison = compare_solvers(solvers, suboptimality, GAP_TARGETS, repeats, LOGISTIC_TIME_LIMIT)
    proof = f"least objective {suboptimality.best_objective:.6f}, proved to {suboptimality.gap:.0e} of it"
    parts = [f"{title}, {'L1' if l1 else 'L2'}; {proof}"]
    return "\n\n".join([*parts, *_target_tables(comparison, solvers)])


def _target_tables(comparison: SolverComparison, solvers: Sequence[Solver]) -> list[str]:
    parts = []
    for target in GAP_TARGETS:
        parts.append(f"To {target:g} above the minimum")
        parts += [
            format_solver_table(comparison, solvers, target, "above the minimum"),
            format_lead(comparison, target, 1.5),
        ]
    return parts


def logistic_tables(size: str, repeats: int) -> str:
    """Return the tables of both penalties, with separable and with noisy labels."""
    head = "{:,} × {:,}, {} non-zeros a row, no bias, C = 1".format(*SIZES[size])
    parts = [head]
    for name, with_noise in (("separable labels", False), ("a third of the labels flipped", True)):
        rows = LogisticRows(*make_labelled(*SIZES[size], with_noise=with_noise))
        for l1 in (False, True):
            parts.append(penalty_tables(name.capitalize(), rows, l1=l1, repeats=repeats))
    return "\n\n".join(parts)


ONLINE_PASSES = (1, 5)
ONLINE_RATES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
EXACT_NAME = "weigh, exact"


def online_calls(X: Any, y: Any) -> dict[str, Callable[[], Any]]:
    from sklearn.linear_model import SGDClassifier

    import weigh

    n = X.shape[0]
    calls: dict[str, Callable[[], Any]] = {}

    def fit(make: Callable[..., Any], **settings: Any) -> Any:
        return make(random_state=0, **settings).fit(X, y)

    sgd = partial(SGDClassifier, loss="log_loss", alpha=1 / n, fit_intercept=False, tol=None)

    def with_best_rate(**settings: Any) -> Callable[[], Any]:
        certificate = LogisticCertificate(X, y, l2=1.0)
        make = partial(sgd, learning_rate="constant", **settings)
        objectives = {rate: certificate.objective(fit(make, eta0=rate).coef_) for rate in ONLINE_RATES}
        return partial(fit, make, eta0=min(objectives, key=lambda rate: objectives[rate]))

    for passes in ONLINE_PASSES:
        passes_text = f"{passes} pass{'es' * (passes > 1)}"
        online = partial(weigh.LogisticRegression, method="online", bias=False, tol=0.0)
        calls[f"weigh, online, {passes_text}"] = partial(fit, online, max_iter=passes)
        for average in (True, False):
            weights = "averaged" if average else "last"
            settings = {"max_iter": passes, "average": average}
            calls[f"SGDClassifier, {weights}, {passes_text}"] = partial(fit, sgd, **settings)
            calls[f"SGDClassifier, rate chosen, {weights}, {passes_text}"] = with_best_rate(**settings)
    calls[EXACT_NAME] = partial(fit, weigh.LogisticRegression, bias=False)
    return calls


def online_table(X: Any, y: Floats, repeats: int) -> str:
    """Return the table of seconds, objective, and log loss and accuracy on the last tenth of the rows."""
    cut = X.shape[0] * 9 // 10
    certificate = LogisticCertificate(X[:cut], y[:cut], l2=1.0)
    calls = online_calls(X[:cut], y[:cut])
    timings = time_in_turns([TimedCall(name, call) for name, call in calls.items()], repeats)
    weights = {timing.name: np.ravel(timing.result.coef_) for timing in timings}
    min_objective = certificate.objective(weights[EXACT_NAME])
    body = []
    for timing in timings:
        w = weights[timing.name]
        scores = y[cut:] * (X[cut:] @ w)
        held_out = [f"{np.logaddexp(0.0, -scores).mean():.4f}", f"{np.mean(scores > 0):.4f}"]
        ratio = f"{timing.best / timings[0].best:.2f}"
        excess = f"{certificate.objective(w) / min_objective - 1:.1e}"
        body.append(
            [
                timing.name,
                format_duration(timing.best),
                format_duration(timing.median),
                ratio,
                excess,
                *held_out,
            ]
        )
    head = [
        "",
        "min",
        "median",
        f"min ÷ {timings[0].name}",
        "above the minimum",
        "held-out log loss",
        "accuracy",
    ]
    return format_markdown_table(head, body)


def online_tables(size: str, repeats: int) -> str:
    """Return the tables of online training, with separable and with noisy labels."""
    parts = [
        "{:,} × {:,}, {} non-zeros a row, no bias; one thread but for the exact solver".format(*SIZES[size])
    ]
    for name, with_noise in (("Separable labels", False), ("A third of the labels flipped", True)):
        parts += [name, online_table(*make_labelled(*SIZES[size], with_noise=with_noise), repeats)]
    return "\n\n".join(parts)
