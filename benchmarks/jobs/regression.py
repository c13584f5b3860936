"""Linear regression, beside the peers; the rows of logistic regression are in `logistic`.

Tolerances mean something else in every package, so the accuracy of a solution is computed from its weights
by the same code for all; the loosest tolerance that is good enough is timed. Every solver gets the rows in
its best memory order; conversions and centred copies, for solvers without an intercept, are made
beforehand. Of weigh the whole call is timed, from arrays to a model with its certificate. celer's LassoCV
is left out because it does not run with this scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import RECORDING, Rows, make_dense, make_wide, make_wide_sparse
from benchmarks.job import CORES, Check, Contender, Job, Quality, Row
from benchmarks.jobs.logistic import LOGISTIC_JOBS
from benchmarks.peers.regression import (
    ADELIE,
    CELER,
    GLMNET,
    GLUM,
    LOOSE,
    PACKAGES,
    SKGLM,
    STATSMODELS,
    TIGHT,
    Floats,
    LeastSquaresCertificate,
    Solution,
    adelie_call,
    estimator,
    glmnet_call,
    ladder,
    linear_model,
)

L2 = 1_000.0
N_VALUES, RATIO = 100, 1e-3  # of a path
EXACT = 1e-10


@dataclass(frozen=True)
class Problem:
    """Least squares with an L1 penalty; `path` has the values of a path, the last one is that of a single
    fit.
    """

    X: Any
    y: Floats
    path: Floats

    @property
    def l1(self) -> float:
        return float(self.path[-1])

    @property
    def alpha(self) -> float:
        return self.l1 / len(self.y)


def make_problem(make: Callable[..., Rows], share: float, **size: int) -> Problem:
    """Return rows with a path from λmax down to its `share`."""
    rows = make(**size)
    largest = LeastSquaresCertificate(rows.X, rows.y).largest_l1
    return Problem(rows.X, rows.y, largest * np.geomspace(1.0, share, N_VALUES))


def to_fortran(problem: Problem) -> Problem:
    columns = np.asfortranarray(problem.X) if isinstance(problem.X, np.ndarray) else problem.X.tocsc()
    return Problem(columns, problem.y, problem.path)


def ours(prior: Callable[[Any], Any]) -> Callable[[Any, float | None], Any]:
    """Return the maker of weigh's linear regression with the prior of a problem."""

    def make(problem: Any, tol: float | None) -> Any:
        import weigh

        settings = {} if tol is None else {"tol": tol}
        return weigh.LinearRegression(prior=prior(problem), **settings)

    return make


def penalty(**scales: float) -> Any:
    import weigh

    return weigh.Penalty(**scales)


def normal_equations(l2: float, problem: Problem) -> Solution:
    """Form the Gram matrix of the centred rows, factorise it and solve, without any check."""
    from scipy.linalg import cho_factor, cho_solve

    X, y = problem.X, problem.y
    mean, centre = X.mean(axis=0), y.mean()
    gram = X.T @ X
    gram -= len(y) * np.outer(mean, mean)
    gram.flat[:: len(mean) + 1] += l2
    factor = cho_factor(gram, overwrite_a=True, check_finite=False)
    w = cho_solve(factor, X.T @ (y - centre), check_finite=False)
    return Solution(w, centre - mean @ w)


def glum_regressor(problem: Problem, alpha: float) -> Any:
    settings = {"l1_ratio": 0.0} if alpha else {}
    return import_module("glum").GeneralizedLinearRegressor(alpha=alpha / len(problem.y), **settings)


def fit_statsmodels(problem: Problem) -> Solution:
    api = import_module("statsmodels.api")
    w = api.OLS(problem.y, api.add_constant(problem.X)).fit(method="qr").params
    return Solution(w[1:], w[0])


def floor(l2: float) -> Contender:
    run = partial(normal_equations, l2)
    return Contender(
        "NumPy: Gram, Cholesky, solve", run, role="floor", answer=lambda problem, solution: solution
    )


OLS = (
    estimator("weigh.LinearRegression()", ours(lambda problem: None), role="ours"),
    estimator("scikit-learn LinearRegression", lambda problem, tol: linear_model("LinearRegression")()),
    estimator("glum, normal, alpha 0", lambda problem, tol: glum_regressor(problem, 0.0), **GLUM),
    Contender("statsmodels OLS, QR", fit_statsmodels, **STATSMODELS),
    floor(0.0),
)


def sklearn_ridge(solver: str, tolerances: tuple[float, ...] = ()) -> Contender:
    def make(problem: Any, tol: float | None) -> Any:
        return linear_model("Ridge")(L2, solver=solver, **({"tol": tol} if tol else {}))

    return estimator(f"scikit-learn Ridge, {solver}", make, tolerances=tolerances)


RIDGE = (
    estimator("weigh, Penalty(l2)", ours(lambda problem: penalty(l2=L2)), role="ours"),
    sklearn_ridge("cholesky"),
    sklearn_ridge("lsqr", ladder(3, 8)),
    sklearn_ridge("sparse_cg", ladder(3, 8)),
    sklearn_ridge("svd"),
    estimator("glum, normal", lambda problem, tol: glum_regressor(problem, L2), **GLUM),
    floor(L2),
)


def our_path(problem: Problem, tol: float) -> Solution:
    import weigh

    learner = weigh.LinearRegression(prior=weigh.Penalty(l1=1.0), tol=tol)
    path = weigh.path(learner, problem.X, problem.y, n=N_VALUES, ratio=RATIO)
    return Solution(path.weights, path.intercepts)


class Centred(NamedTuple):
    """A problem with centred rows in Fortran order and centred targets, for paths without an intercept."""

    problem: Problem
    X: Floats
    y: Floats
    means: Floats
    centre: float


def centre(problem: Problem) -> Centred:
    means, target = problem.X.mean(axis=0), float(problem.y.mean())
    return Centred(problem, np.asfortranarray(problem.X - means), problem.y - target, means, target)


def peer_path(package: str, centred: Centred, tol: float) -> Solution:
    alphas = centred.problem.path / len(centred.y)
    if package == "celer":
        path = import_module("celer").celer_path
        _, W, _ = path(centred.X, centred.y, "lasso", alphas=alphas, tol=tol)
    else:
        path = linear_model("lasso_path")
        settings = {"precompute": True, "copy_X": False, "max_iter": 100_000}
        _, W, _ = path(centred.X, centred.y, alphas=alphas, tol=tol, **settings)
    return Solution(W.T, centred.centre - W.T @ centred.means)


def remote(
    name: str, call: Any, fields: Mapping[str, Any], tolerances: tuple[float, ...], **how: Any
) -> Contender:
    """Return a solver of the environment with an older NumPy; `how` are further arguments of its call."""

    def run(problem: Problem, tol: float) -> Solution:
        return Solution(*call(problem.X, problem.y, problem.path, tol, **how))

    return Contender(name, run, prepare=to_fortran, tolerances=tolerances, **fields)


PATH = (
    Contender("weigh.path", our_path, role="ours", tolerances=ladder(3, 8)),
    Contender("scikit-learn lasso_path, precomputed Gram", partial(peer_path, "scikit-learn"), prepare=centre,
              tolerances=ladder(3, 8)),
    Contender("celer_path", partial(peer_path, "celer"), prepare=centre, tolerances=ladder(3, 8), **CELER),
    remote("adelie, Gram", adelie_call, ADELIE, ladder(8, 15), method="gram"),
    remote("adelie, rows", adelie_call, ADELIE, ladder(8, 15)),
    remote("glmnet", glmnet_call, GLMNET, ladder(8, 15)),
)  # fmt: skip


def with_scale(make: Callable[[Any, float | None], Any], scale: Callable[[Any], float], **fields: Any) -> Any:
    """Return the fields of a contender whose solution has the scale that it chose."""

    def run(problem: Problem, tol: float | None = None) -> Solution:
        model = make(problem, tol).fit(problem.X, problem.y)
        return Solution(np.ravel(model.coef_), model.intercept_, scale(model))

    return {"run": run, **fields}


def laplace_cv(problem: Any) -> Any:
    import weigh

    return weigh.Laplace("cv")


def normal_cv(problem: Any) -> Any:
    import weigh

    return weigh.Normal("cv")


def lasso_cv(jobs: int | None, problem: Problem, tol: float | None) -> Any:
    settings = {"alphas": N_VALUES, "precompute": True, "eps": RATIO, "cv": 5, "n_jobs": jobs}
    return linear_model("LassoCV")(tol=tol, **settings)


def ridge_cv(folds: int | None, problem: Problem, tol: float | None) -> Any:
    squares = float(np.square(problem.X - problem.X.mean(axis=0)).sum(axis=0).mean())
    return linear_model("RidgeCV")(np.geomspace(1e-6, 1e3, N_VALUES) * squares, cv=folds)


def sklearn_lasso_cv(jobs: int | None) -> Contender:
    name = "scikit-learn LassoCV, Gram" + (f", n_jobs={jobs}" if jobs else "")
    # The estimator's alpha is per row.
    fields = with_scale(partial(lasso_cv, jobs), lambda model: float(model.alpha_), prepare=to_fortran)
    return Contender(name, tolerances=ladder(4, 8), answer=_scale_by_rows, **fields)


def _scale_by_rows(problem: Problem, solution: Solution) -> Solution:
    return solution._replace(scale=solution.scale * len(problem.y))


LASSO_CV = (
    Contender("weigh, Laplace('cv')", role="ours", tolerances=ladder(4, 8),
              **with_scale(ours(laplace_cv), lambda model: float(model.model_.fit.l1))),
    sklearn_lasso_cv(None),
    sklearn_lasso_cv(CORES),
    remote("adelie cv_grpnet, folds of its own", adelie_call, ADELIE, ladder(8, 15), method="cv"),
)  # fmt: skip
RIDGE_CV = (
    Contender("weigh, Normal('cv')", role="ours",
              **with_scale(ours(normal_cv), lambda model: float(model.model_.fit.l2))),
    *(Contender(f"scikit-learn RidgeCV, {name}",
                **with_scale(partial(ridge_cv, folds), lambda model: float(model.alpha_)))
      for name, folds in (("5 folds", 5), ("leave-one-out", None))),
)  # fmt: skip


def excess(problem: Problem, solution: Solution) -> Mapping[str, float]:
    return {"above the minimum": LeastSquaresCertificate(problem.X, problem.y).excess(*solution[:2])}


def ridge_gap(problem: Problem, solution: Solution) -> Mapping[str, float]:
    certificate = LeastSquaresCertificate(problem.X, problem.y)
    scale = solution.scale or L2
    gap = certificate.ridge_gap(solution.weights, solution.bias, scale)
    return {"gap": gap, **({"chosen λ": scale} if solution.scale else {})}


def lasso_gap(problem: Problem, solution: Solution) -> Mapping[str, float]:
    """Return the largest gap over the path, or that of a single solution at its λ."""
    W = np.atleast_2d(solution.weights)
    scales = problem.path if len(W) == len(problem.path) else solution.scale or problem.l1
    if len(W) not in (1, len(problem.path)):
        return {"gap": float("inf")}
    gaps = LeastSquaresCertificate(problem.X, problem.y).lasso_gap(W, solution.bias, scales)
    return {"gap": float(gaps.max()), **({"chosen λ": float(solution.scale)} if solution.scale else {})}


def dense_job(case: str, title: str, contenders: tuple[Contender, ...], facts: Any, check: Check) -> Job:
    return Job(
        f"regression.d.{case}", f"{title}; dense rows, neighbouring columns correlated by 0.5, with a bias",
        partial(make_problem, make_dense, RATIO), {"rows": 40_000, "features": 1_500},
        {"rows": 4_000, "features": 150}, contenders, facts, check, {"rows": 4_000, "features": 150},
        warm_up={"rows": 2_000, "features": 50}, keep_alive=False, repeats=3, packages=PACKAGES,
    )  # fmt: skip


def lasso(module: str, name: str, **settings: Any) -> Callable[[Any, float | None], Any]:
    """Return the maker of a package's lasso at the problem's λ."""
    return lambda problem, tol: getattr(import_module(module), name)(problem.alpha, tol=tol, **settings)


WIDE = (
    estimator("weigh, Penalty(l1)", ours(lambda problem: penalty(l1=problem.l1)), role="ours",
              tolerances=ladder(2, 9)),
    *(estimator(name, make, prepare=to_fortran, tolerances=ladder(2, 9), **fields) for name, make, fields in (
        ("celer", lasso("celer", "Lasso"), CELER),
        ("skglm", lasso("skglm", "Lasso"), SKGLM),
        ("scikit-learn Lasso", lasso("sklearn.linear_model", "Lasso", max_iter=100_000), {}),
    )),
    *(remote(f"adelie, {n} value{'s' * (n > 1)} of λ", adelie_call, ADELIE, ladder(5, 15), last_of=n)
      for n in (1, 10)),
)  # fmt: skip


def wide_job(storage: str, share: int) -> Job:
    """Return the lasso with more columns than rows at λmax / share."""
    is_dense = storage == "dense"
    make = make_wide if is_dense else make_wide_sparse
    size, quick = ((500, 20_000), (200, 2_000)) if is_dense else ((20_000, 200_000), (2_000, 20_000))
    large, small = (dict(zip(("rows", "features"), pair, strict=True)) for pair in (size, quick))
    return Job(
        f"regression.w.{storage}-{share}", f"Lasso at λmax/{share}, {storage} rows, with a bias",
        partial(make_problem, make, 1 / share), large, small, WIDE, lasso_gap, Check("gap", TIGHT, "zero"),
        small, packages=PACKAGES,
    )  # fmt: skip


def decoding_table(quick: bool) -> str:
    from benchmarks.quality.decoding import decoding_table

    return decoding_table(quick)


def certificate_tables(quick: bool) -> str:
    from benchmarks.quality.certificates import certificate_tables

    return certificate_tables(quick)


def reference_table(quick: bool) -> str:
    from benchmarks.quality.certificates import reference_table

    return reference_table(quick)


JOBS: list[Row] = [
    dense_job("ols", "Least squares", OLS, excess, Check("above the minimum", EXACT, "zero")),
    dense_job("ridge", f"Ridge, l2 = {L2:,.0f}", RIDGE, ridge_gap, Check("gap", EXACT, "zero")),
    *(
        dense_job(f"path-{target:.0e}".replace("e-0", "e-"),
                  f"Lasso, {N_VALUES} values of λ from λmax down to λmax/{1 / RATIO:,.0f}",
                  PATH, lasso_gap, Check("gap", target, "zero"))
        for target in (LOOSE, TIGHT)
    ),
    dense_job("lasso-cv", "Lasso, λ chosen of 100 by 5 folds", LASSO_CV, lasso_gap,
              Check("gap", LOOSE, "zero")),
    dense_job("ridge-cv", f"Ridge, λ chosen of {N_VALUES}", RIDGE_CV, ridge_gap, Check("gap", LOOSE, "zero")),
    *(wide_job(storage, share) for storage in ("dense", "sparse") for share in (10, 100)),
    *LOGISTIC_JOBS,
    Quality("regression.k", "Movements of a monkey's hand decoded from 95 neurons", decoding_table,
            (RECORDING,), packages=PACKAGES),
    Quality("regression.c", "Certificates of random problems, against exact arithmetic and other solvers",
            certificate_tables, packages=("weigh", "numpy", "scipy", "scikit-learn")),
    Quality("regression.n", "Correct digits of least squares on NIST's reference sets", reference_table,
            (), ("statsmodels",), "peers", ("weigh", "numpy", "scikit-learn", "statsmodels")),
]  # fmt: skip
