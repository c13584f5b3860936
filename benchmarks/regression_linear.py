"""Many rows of many dense columns: least squares, ridge, a lasso path, and both by cross-validation.

Everyone gets the rows in the order of memory that suits it best; centred copies, for those who know no
bias, are ready made. The bare floor is what a Gram matrix, its Cholesky factor and one solve cost in NumPy
and SciPy, without any check. celer's LassoCV is not here, for it does not run with this scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.regression_contest import (
    NO_TOLERANCE,
    RemotePeers,
    Solution,
    Solver,
    compare_solvers,
    format_lead,
    format_solver_table,
    tolerance_ladder,
)
from benchmarks.regression_problems import (
    LeastSquaresCertificate,
    RegressionTable,
    make_dense,
    make_wide,
    make_wide_sparse,
)
from benchmarks.text_peers import CORES

DENSE_SIZES = {"full": (40_000, 1_500), "small": (4_000, 150)}
L2 = 1_000.0
VALUES, RATIO = 100, 1e-3
DENSE_LADDER = tolerance_ladder(3, 8)
DENSE_FINE_LADDER = tolerance_ladder(8, 15)  # of adelie and glmnet: changes of squared weights
GOOD, LOOSE, TIGHT = 1e-10, 1e-4, 1e-6

Floats = npt.NDArray[np.float64]
EstimatorFactories = Sequence[tuple[str, Callable[[float], Any], Sequence[float]]]


def fit_solution(model: Any, X: Any, y: Any, note: Callable[[Any], str] = lambda model: "") -> Solution:
    model = model.fit(X, y)
    return Solution(np.ravel(model.coef_), model.intercept_, note=note(model))


def make_solvers(
    makers: EstimatorFactories, X: Any, y: Any, note: Callable[[Any], str] = lambda model: ""
) -> list[Solver]:
    """Return estimators as contestants on the same rows."""

    def call(make: Callable[[float], Any]) -> Callable[[float], Solution]:
        return lambda tol: fit_solution(make(tol), X, y, note)

    return [Solver(name, call(make), tolerances) for name, make, tolerances in makers]


def normal_equations(given: RegressionTable, l2: float) -> Solver:
    def run(tol: float) -> Solution:
        from scipy.linalg import cho_factor, cho_solve

        X, y = given.X, given.y
        mean, centre = X.mean(axis=0), y.mean()
        gram = X.T @ X
        gram -= len(y) * np.outer(mean, mean)
        gram.flat[:: len(mean) + 1] += l2
        cross = X.T @ (y - centre)
        w = cho_solve(cho_factor(gram, overwrite_a=True, check_finite=False), cross, check_finite=False)
        return Solution(w, centre - mean @ w)

    return Solver("bare: Gram, Cholesky, solve", run)


def least_squares_table(given: RegressionTable, judge: LeastSquaresCertificate, repeats: int) -> str:
    import weigh

    lm, glum = import_module("sklearn.linear_model"), import_module("glum")

    def statsmodels(tol: float) -> Solution:
        api = import_module("statsmodels.api")
        w = api.OLS(given.y, api.add_constant(given.X)).fit(method="qr").params
        return Solution(w[1:], w[0])

    makers: EstimatorFactories = [
        ("weigh.LinearRegression()", lambda tol: weigh.LinearRegression(), NO_TOLERANCE),
        ("scikit-learn LinearRegression", lambda tol: lm.LinearRegression(), NO_TOLERANCE),
        ("glum, normal, alpha 0", lambda tol: glum.GeneralizedLinearRegressor(alpha=0.0), NO_TOLERANCE),
    ]
    everyone = [
        *make_solvers(makers, given.X, given.y),
        Solver("statsmodels OLS, QR", statsmodels),
        normal_equations(given, 0.0),
    ]
    found = compare_solvers(everyone, lambda a: judge.excess(a.weights, a.bias), [GOOD], repeats)
    shown = format_solver_table(found, everyone, GOOD, "above the minimum")
    return f"Least squares\n\n{shown}\n\n{format_lead(found, GOOD)}"


def ridge_table(given: RegressionTable, judge: LeastSquaresCertificate, repeats: int) -> str:
    import weigh

    lm, glum = import_module("sklearn.linear_model"), import_module("glum")
    prior = weigh.Penalty(l2=L2)
    alpha = L2 / len(given.y)
    makers: EstimatorFactories = [
        ("weigh, Penalty(l2)", lambda tol: weigh.LinearRegression(prior=prior), NO_TOLERANCE),
        ("scikit-learn Ridge, cholesky", lambda tol: lm.Ridge(L2, solver="cholesky"), NO_TOLERANCE),
        ("scikit-learn Ridge, lsqr", lambda tol: lm.Ridge(L2, solver="lsqr", tol=tol), DENSE_LADDER),
        (
            "scikit-learn Ridge, sparse_cg",
            lambda tol: lm.Ridge(L2, solver="sparse_cg", tol=tol),
            DENSE_LADDER,
        ),
        ("scikit-learn Ridge, svd", lambda tol: lm.Ridge(L2, solver="svd"), NO_TOLERANCE),
        (
            "glum, normal",
            lambda tol: glum.GeneralizedLinearRegressor(alpha=alpha, l1_ratio=0.0),
            NO_TOLERANCE,
        ),
    ]
    everyone = [*make_solvers(makers, given.X, given.y), normal_equations(given, L2)]
    found = compare_solvers(everyone, lambda a: judge.ridge_gap(a.weights, a.bias, L2), [GOOD], repeats)
    shown = format_solver_table(found, everyone, GOOD, "gap")
    return f"Ridge, l2 = {L2:,.0f}\n\n{shown}\n\n{format_lead(found, GOOD, 1.5)}"


def lasso_path_table(
    given: RegressionTable, judge: LeastSquaresCertificate, elsewhere: RemotePeers, repeats: int
) -> str:
    import weigh

    l1 = judge.largest_l1 * np.geomspace(1.0, RATIO, VALUES)
    alphas = l1 / len(given.y)
    mean, centre = judge.means, given.y.mean()

    def ours(tol: float) -> Solution:
        learner = weigh.LinearRegression(prior=weigh.Penalty(l1=1.0), tol=tol)
        found = weigh.path(learner, given.X, given.y, n=VALUES, ratio=RATIO)
        return Solution(found.weights, found.intercepts)

    def skl(tol: float) -> Solution:
        path = import_module("sklearn.linear_model").lasso_path
        _, W, _ = path(
            *given.centred, alphas=alphas, precompute=True, copy_X=False, tol=tol, max_iter=100_000
        )
        return Solution(W.T, centre - W.T @ mean)

    def celer(tol: float) -> Solution:
        _, W, _ = import_module("celer").celer_path(*given.centred, "lasso", alphas=alphas, tol=tol)
        return Solution(W.T, centre - W.T @ mean)

    everyone = [
        Solver("weigh.path", ours, DENSE_LADDER),
        Solver("scikit-learn lasso_path, precomputed Gram", skl, DENSE_LADDER),
        Solver("celer_path", celer, DENSE_LADDER),
    ]
    if elsewhere.python:
        home = elsewhere.save_data("dense", given.X, given.y)
        for name, job in (("adelie, Gram", "adelie_gram"), ("adelie, rows", "adelie"), ("glmnet", "glmnet")):
            everyone.append(Solver(name, elsewhere.make_call(job, home, l1), DENSE_FINE_LADDER))
    found = compare_solvers(everyone, lambda a: _worst_gap(judge, a, l1), [LOOSE, TIGHT], repeats)
    parts = [f"Lasso, {VALUES} values of λ from λmax down to λmax/{1 / RATIO:,.0f}"]
    for target in (LOOSE, TIGHT):
        parts.append(f"To a gap of {target:g} at every λ")
        parts += [
            format_solver_table(found, everyone, target, "largest gap"),
            format_lead(found, target, 1.5),
        ]
    return "\n\n".join(parts)


def _worst_gap(judge: LeastSquaresCertificate, answer: Solution, l1: Floats) -> float:
    if len(answer.weights) != len(l1):
        return float("inf")
    return float(judge.lasso_gap(answer.weights, answer.bias, l1).max())


def lasso_cv_table(
    given: RegressionTable, judge: LeastSquaresCertificate, elsewhere: RemotePeers, repeats: int
) -> str:
    import weigh

    n = len(given.y)
    lm = import_module("sklearn.linear_model")
    ours = partial(weigh.LinearRegression, prior=weigh.Laplace("cv"))
    own = make_solvers(
        [("weigh, Laplace('cv')", lambda tol: ours(tol=tol), DENSE_LADDER[2:])],
        given.X,
        given.y,
        lambda model: f"{model.model_.fit.l1:.0f}",
    )
    gram = partial(lm.LassoCV, alphas=VALUES, precompute=True, eps=RATIO, cv=5)
    makers: EstimatorFactories = [
        ("scikit-learn LassoCV, Gram", lambda tol: gram(tol=tol), DENSE_LADDER[2:]),
        (
            f"scikit-learn LassoCV, Gram, n_jobs={CORES}",
            lambda tol: gram(tol=tol, n_jobs=CORES),
            DENSE_LADDER[2:],
        ),
    ]
    theirs = make_solvers(makers, given.fortran, given.y, lambda model: f"{model.alpha_ * n:.0f}")
    everyone = own + theirs
    if elsewhere.python:
        run = elsewhere.make_call("adelie_cv", elsewhere.save_data("dense", given.X, given.y), 0.0)
        everyone.append(Solver("adelie cv_grpnet, folds of its own", run, DENSE_FINE_LADDER))

    def quality(answer: Solution) -> float:
        return float(judge.lasso_gap(answer.weights, answer.bias, float(answer.note))[0])

    found = compare_solvers(everyone, quality, [LOOSE], repeats)
    shown = format_solver_table(found, everyone, LOOSE, "gap of the last fit", "chosen λ")
    said = "Lasso, λ chosen of 100 by 5 folds"
    return f"{said}\n\n{shown}\n\n{format_lead(found, LOOSE, 5)}"


def ridge_cv_table(given: RegressionTable, judge: LeastSquaresCertificate, repeats: int) -> str:
    import weigh

    lm = import_module("sklearn.linear_model")
    grid = np.geomspace(1e-6, 1e3, VALUES) * float(np.square(given.X - judge.means).sum(axis=0).mean())
    ours = make_solvers(
        [("weigh, Normal('cv')", lambda tol: weigh.LinearRegression(prior=weigh.Normal("cv")), NO_TOLERANCE)],
        given.X,
        given.y,
        lambda model: f"{model.model_.fit.l2:.4g}",
    )
    makers: EstimatorFactories = [
        ("scikit-learn RidgeCV, 5 folds", lambda tol: lm.RidgeCV(grid, cv=5), NO_TOLERANCE),
        ("scikit-learn RidgeCV, leave-one-out", lambda tol: lm.RidgeCV(grid), NO_TOLERANCE),
    ]
    everyone = ours + make_solvers(makers, given.X, given.y, lambda model: f"{model.alpha_:.4g}")

    def quality(answer: Solution) -> float:
        return judge.ridge_gap(answer.weights, answer.bias, float(answer.note))

    found = compare_solvers(everyone, quality, [LOOSE], repeats)
    shown = format_solver_table(found, everyone, LOOSE, "gap of the last fit", "chosen λ")
    return f"Ridge, λ chosen of {VALUES}\n\n{shown}\n\n{format_lead(found, LOOSE, 20)}"


def dense_tables(size: str, repeats: int, elsewhere: RemotePeers) -> str:
    """Return the tables of all five contests."""
    given = make_dense(*DENSE_SIZES[size])
    judge = LeastSquaresCertificate(given.X, given.y)
    rows, width = given.X.shape
    head = f"{rows:,} × {width:,}, dense, neighbouring columns correlated by 0.5; with a bias"
    parts = [
        least_squares_table(given, judge, repeats),
        ridge_table(given, judge, repeats),
        lasso_path_table(given, judge, elsewhere, repeats),
        lasso_cv_table(given, judge, elsewhere, repeats),
        ridge_cv_table(given, judge, repeats),
    ]
    return "\n\n".join([head, *parts])


WIDE_DENSE_SIZES = {"full": (500, 20_000), "small": (200, 2_000)}
WIDE_SPARSE_SIZES = {"full": (20_000, 200_000, 75), "small": (2_000, 20_000, 75)}
WIDE_L1_SHARES = (10, 100)
WIDE_TARGET = 1e-6
WIDE_LADDER = tolerance_ladder(2, 9)
WIDE_FINE_LADDER = tolerance_ladder(5, 15)  # of adelie: changes of squared weights


def wide_lasso_table(
    title: str, X: Any, y: Any, share: int, home: Any, elsewhere: RemotePeers, repeats: int
) -> str:
    """Return the table of one λ."""
    import weigh

    judge = LeastSquaresCertificate(X, y)
    l1 = judge.largest_l1 / share
    alpha = l1 / len(y)
    columns = X if isinstance(X, np.ndarray) else X.tocsc()
    ours: EstimatorFactories = [
        (
            "weigh, Penalty(l1)",
            lambda tol: weigh.LinearRegression(prior=weigh.Penalty(l1=l1), tol=tol),
            WIDE_LADDER,
        )
    ]
    lm, celer, skglm = map(import_module, ("sklearn.linear_model", "celer", "skglm"))
    theirs: EstimatorFactories = [
        ("celer", lambda tol: celer.Lasso(alpha, tol=tol), WIDE_LADDER),
        ("skglm", lambda tol: skglm.Lasso(alpha, tol=tol), WIDE_LADDER),
        ("scikit-learn Lasso", lambda tol: lm.Lasso(alpha, tol=tol, max_iter=100_000), WIDE_LADDER),
    ]
    everyone = make_solvers(ours, X, y) + make_solvers(theirs, columns, y)
    if elsewhere.python:
        everyone += [
            Solver(
                f"adelie, {values} value{'s' * (values > 1)} of λ",
                _adelie(elsewhere, home, judge, l1, values),
                WIDE_FINE_LADDER,
            )
            for values in (1, 10)
        ]

    def quality(answer: Solution) -> float:
        return float(judge.lasso_gap(answer.weights, answer.bias, l1)[0])

    found = compare_solvers(everyone, quality, [WIDE_TARGET], repeats)
    shown = format_solver_table(found, everyone, WIDE_TARGET, "gap")
    return f"{title}, λmax/{share}\n\n{shown}\n\n{format_lead(found, WIDE_TARGET, 1)}"


def _adelie(elsewhere: RemotePeers, home: Any, judge: LeastSquaresCertificate, l1: float, values: int) -> Any:
    """Return adelie's call, straight to the wanted λ or along a path to it, on which it can screen."""
    run = elsewhere.make_call("adelie", home, np.geomspace(judge.largest_l1, l1, values + 1)[1:])

    def last(tol: float) -> Solution:
        found = run(tol)
        return Solution(found.weights[-1:], found.bias[-1:], found.seconds)

    return last


def wide_tables(size: str, repeats: int, elsewhere: RemotePeers) -> str:
    """Return the tables of dense and sparse rows at two values of λ."""
    given = make_wide(*WIDE_DENSE_SIZES[size])
    cases: list[tuple[str, Any, Any]] = [
        ("dense, {:,} × {:,}".format(*WIDE_DENSE_SIZES[size]), given.X, given.y)
    ]
    X, y = make_wide_sparse(*WIDE_SPARSE_SIZES[size])
    cases.append(("sparse, {:,} × {:,}, {} non-zeros a row".format(*WIDE_SPARSE_SIZES[size]), X, y))
    parts = []
    for title, rows, targets in cases:
        home = elsewhere.save_data(title.split(",")[0] + "_wide", rows, targets)
        for share in WIDE_L1_SHARES:
            parts.append(wide_lasso_table(title.capitalize(), rows, targets, share, home, elsewhere, repeats))
    return "\n\n".join([f"Lasso to a gap of {WIDE_TARGET:g}, with a bias", *parts])
