"""Linear regression: least squares, ridge and lasso on many dense rows, and lasso on wide data.

Every solver gets the rows in its best memory order; centred copies, for solvers without an intercept, are
made beforehand. The bare floor is the cost of a Gram matrix, its Cholesky factorisation and one solve in
NumPy and SciPy, without any check. celer's LassoCV is left out because it does not run with this
scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.regression_comparison import (
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
DENSE_FINE_LADDER = tolerance_ladder(8, 15)  # adelie and glmnet bound changes of squared weights
GOOD, LOOSE, TIGHT = 1e-10, 1e-4, 1e-6

Floats = npt.NDArray[np.float64]
EstimatorFactories = Sequence[tuple[str, Callable[[float], Any], Sequence[float]]]


def fit_solution(model: Any, X: Any, y: Any, note: Callable[[Any], str] = lambda model: "") -> Solution:
    model = model.fit(X, y)
    return Solution(np.ravel(model.coef_), model.intercept_, note=note(model))


def make_solvers(
    makers: EstimatorFactories, X: Any, y: Any, note: Callable[[Any], str] = lambda model: ""
) -> list[Solver]:
    """Return estimators as solvers on the same rows."""

    def call(make: Callable[[float], Any]) -> Callable[[float], Solution]:
        return lambda tol: fit_solution(make(tol), X, y, note)

    return [Solver(name, call(make), tolerances) for name, make, tolerances in makers]


def normal_equations(table: RegressionTable, l2: float) -> Solver:
    def run(tol: float) -> Solution:
        from scipy.linalg import cho_factor, cho_solve

        X, y = table.X, table.y
        mean, centre = X.mean(axis=0), y.mean()
        gram = X.T @ X
        gram -= len(y) * np.outer(mean, mean)
        gram.flat[:: len(mean) + 1] += l2
        cross = X.T @ (y - centre)
        w = cho_solve(cho_factor(gram, overwrite_a=True, check_finite=False), cross, check_finite=False)
        return Solution(w, centre - mean @ w)

    return Solver("bare: Gram, Cholesky, solve", run)


def least_squares_table(table: RegressionTable, certificate: LeastSquaresCertificate, repeats: int) -> str:
    import weigh

    lm, glum = import_module("sklearn.linear_model"), import_module("glum")

    def statsmodels(tol: float) -> Solution:
        api = import_module("statsmodels.api")
        w = api.OLS(table.y, api.add_constant(table.X)).fit(method="qr").params
        return Solution(w[1:], w[0])

    makers: EstimatorFactories = [
        ("weigh.LinearRegression()", lambda tol: weigh.LinearRegression(), NO_TOLERANCE),
        ("scikit-learn LinearRegression", lambda tol: lm.LinearRegression(), NO_TOLERANCE),
        ("glum, normal, alpha 0", lambda tol: glum.GeneralizedLinearRegressor(alpha=0.0), NO_TOLERANCE),
    ]
    solvers = [
        *make_solvers(makers, table.X, table.y),
        Solver("statsmodels OLS, QR", statsmodels),
        normal_equations(table, 0.0),
    ]
    comparison = compare_solvers(solvers, lambda a: certificate.excess(a.weights, a.bias), [GOOD], repeats)
    results = format_solver_table(comparison, solvers, GOOD, "above the minimum")
    return f"Least squares\n\n{results}\n\n{format_lead(comparison, GOOD)}"


def ridge_table(table: RegressionTable, certificate: LeastSquaresCertificate, repeats: int) -> str:
    import weigh

    lm, glum = import_module("sklearn.linear_model"), import_module("glum")
    prior = weigh.Penalty(l2=L2)
    alpha = L2 / len(table.y)
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
    solvers = [*make_solvers(makers, table.X, table.y), normal_equations(table, L2)]
    comparison = compare_solvers(
        solvers, lambda a: certificate.ridge_gap(a.weights, a.bias, L2), [GOOD], repeats
    )
    results = format_solver_table(comparison, solvers, GOOD, "gap")
    return f"Ridge, l2 = {L2:,.0f}\n\n{results}\n\n{format_lead(comparison, GOOD, 1.5)}"


def lasso_path_table(
    table: RegressionTable, certificate: LeastSquaresCertificate, remote: RemotePeers, repeats: int
) -> str:
    import weigh

    l1 = certificate.largest_l1 * np.geomspace(1.0, RATIO, VALUES)
    alphas = l1 / len(table.y)
    mean, centre = certificate.means, table.y.mean()

    def ours(tol: float) -> Solution:
        learner = weigh.LinearRegression(prior=weigh.Penalty(l1=1.0), tol=tol)
        path = weigh.path(learner, table.X, table.y, n=VALUES, ratio=RATIO)
        return Solution(path.weights, path.intercepts)

    def skl(tol: float) -> Solution:
        path = import_module("sklearn.linear_model").lasso_path
        _, W, _ = path(
            *table.centred, alphas=alphas, precompute=True, copy_X=False, tol=tol, max_iter=100_000
        )
        return Solution(W.T, centre - W.T @ mean)

    def celer(tol: float) -> Solution:
        _, W, _ = import_module("celer").celer_path(*table.centred, "lasso", alphas=alphas, tol=tol)
        return Solution(W.T, centre - W.T @ mean)

    solvers = [
        Solver("weigh.path", ours, DENSE_LADDER),
        Solver("scikit-learn lasso_path, precomputed Gram", skl, DENSE_LADDER),
        Solver("celer_path", celer, DENSE_LADDER),
    ]
    if remote.python:
        data_folder = remote.save_data("dense", table.X, table.y)
        for name, job in (("adelie, Gram", "adelie_gram"), ("adelie, rows", "adelie"), ("glmnet", "glmnet")):
            solvers.append(Solver(name, remote.make_call(job, data_folder, l1), DENSE_FINE_LADDER))
    comparison = compare_solvers(solvers, lambda a: _worst_gap(certificate, a, l1), [LOOSE, TIGHT], repeats)
    parts = [f"Lasso, {VALUES} values of λ from λmax down to λmax/{1 / RATIO:,.0f}"]
    for target in (LOOSE, TIGHT):
        parts.append(f"To a gap of {target:g} at every λ")
        parts += [
            format_solver_table(comparison, solvers, target, "largest gap"),
            format_lead(comparison, target, 1.5),
        ]
    return "\n\n".join(parts)


def _worst_gap(certificate: LeastSquaresCertificate, answer: Solution, l1: Floats) -> float:
    if len(answer.weights) != len(l1):
        return float("inf")
    return float(certificate.lasso_gap(answer.weights, answer.bias, l1).max())


def lasso_cv_table(
    table: RegressionTable, certificate: LeastSquaresCertificate, remote: RemotePeers, repeats: int
) -> str:
    import weigh

    n = len(table.y)
    lm = import_module("sklearn.linear_model")
    ours = partial(weigh.LinearRegression, prior=weigh.Laplace("cv"))
    our_solvers = make_solvers(
        [("weigh, Laplace('cv')", lambda tol: ours(tol=tol), DENSE_LADDER[2:])],
        table.X,
        table.y,
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
    peer_solvers = make_solvers(makers, table.fortran, table.y, lambda model: f"{model.alpha_ * n:.0f}")
    solvers = our_solvers + peer_solvers
    if remote.python:
        run = remote.make_call("adelie_cv", remote.save_data("dense", table.X, table.y), 0.0)
        solvers.append(Solver("adelie cv_grpnet, folds of its own", run, DENSE_FINE_LADDER))

    def quality(answer: Solution) -> float:
        return float(certificate.lasso_gap(answer.weights, answer.bias, float(answer.note))[0])

    comparison = compare_solvers(solvers, quality, [LOOSE], repeats)
    results = format_solver_table(comparison, solvers, LOOSE, "gap of the last fit", "chosen λ")
    title = "Lasso, λ chosen of 100 by 5 folds"
    return f"{title}\n\n{results}\n\n{format_lead(comparison, LOOSE, 5)}"


def ridge_cv_table(table: RegressionTable, certificate: LeastSquaresCertificate, repeats: int) -> str:
    import weigh

    lm = import_module("sklearn.linear_model")
    grid = np.geomspace(1e-6, 1e3, VALUES) * float(np.square(table.X - certificate.means).sum(axis=0).mean())
    ours = make_solvers(
        [("weigh, Normal('cv')", lambda tol: weigh.LinearRegression(prior=weigh.Normal("cv")), NO_TOLERANCE)],
        table.X,
        table.y,
        lambda model: f"{model.model_.fit.l2:.4g}",
    )
    makers: EstimatorFactories = [
        ("scikit-learn RidgeCV, 5 folds", lambda tol: lm.RidgeCV(grid, cv=5), NO_TOLERANCE),
        ("scikit-learn RidgeCV, leave-one-out", lambda tol: lm.RidgeCV(grid), NO_TOLERANCE),
    ]
    solvers = ours + make_solvers(makers, table.X, table.y, lambda model: f"{model.alpha_:.4g}")

    def quality(answer: Solution) -> float:
        return certificate.ridge_gap(answer.weights, answer.bias, float(answer.note))

    comparison = compare_solvers(solvers, quality, [LOOSE], repeats)
    results = format_solver_table(comparison, solvers, LOOSE, "gap of the last fit", "chosen λ")
    return f"Ridge, λ chosen of {VALUES}\n\n{results}\n\n{format_lead(comparison, LOOSE, 20)}"


def dense_tables(size: str, repeats: int, remote: RemotePeers) -> str:
    """Return the tables of the five problems on dense rows."""
    table = make_dense(*DENSE_SIZES[size])
    certificate = LeastSquaresCertificate(table.X, table.y)
    rows, width = table.X.shape
    head = f"{rows:,} × {width:,}, dense, neighbouring columns correlated by 0.5; with a bias"
    parts = [
        least_squares_table(table, certificate, repeats),
        ridge_table(table, certificate, repeats),
        lasso_path_table(table, certificate, remote, repeats),
        lasso_cv_table(table, certificate, remote, repeats),
        ridge_cv_table(table, certificate, repeats),
    ]
    return "\n\n".join([head, *parts])


WIDE_DENSE_SIZES = {"full": (500, 20_000), "small": (200, 2_000)}
WIDE_SPARSE_SIZES = {"full": (20_000, 200_000, 75), "small": (2_000, 20_000, 75)}
WIDE_L1_SHARES = (10, 100)
WIDE_TARGET = 1e-6
WIDE_LADDER = tolerance_ladder(2, 9)
WIDE_FINE_LADDER = tolerance_ladder(5, 15)  # adelie bounds changes of squared weights


def wide_lasso_table(
    title: str, X: Any, y: Any, share: int, data_folder: Any, remote: RemotePeers, repeats: int
) -> str:
    """Return the table of the lasso at λmax / share."""
    import weigh

    certificate = LeastSquaresCertificate(X, y)
    l1 = certificate.largest_l1 / share
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
    solvers = make_solvers(ours, X, y) + make_solvers(theirs, columns, y)
    if remote.python:
        solvers += [
            Solver(
                f"adelie, {values} value{'s' * (values > 1)} of λ",
                _adelie(remote, data_folder, certificate, l1, values),
                WIDE_FINE_LADDER,
            )
            for values in (1, 10)
        ]

    def quality(answer: Solution) -> float:
        return float(certificate.lasso_gap(answer.weights, answer.bias, l1)[0])

    comparison = compare_solvers(solvers, quality, [WIDE_TARGET], repeats)
    results = format_solver_table(comparison, solvers, WIDE_TARGET, "gap")
    return f"{title}, λmax/{share}\n\n{results}\n\n{format_lead(comparison, WIDE_TARGET, 1)}"


def _adelie(
    remote: RemotePeers, data_folder: Any, certificate: LeastSquaresCertificate, l1: float, values: int
) -> Any:
    """Return adelie's call, directly at the target λ or along a path to it, which allows screening."""
    run = remote.make_call("adelie", data_folder, np.geomspace(certificate.largest_l1, l1, values + 1)[1:])

    def last(tol: float) -> Solution:
        solution = run(tol)
        return Solution(solution.weights[-1:], solution.bias[-1:], solution.seconds)

    return last


def wide_tables(size: str, repeats: int, remote: RemotePeers) -> str:
    """Return the tables of wide dense and sparse data at two values of λ."""
    table = make_wide(*WIDE_DENSE_SIZES[size])
    cases: list[tuple[str, Any, Any]] = [
        ("dense, {:,} × {:,}".format(*WIDE_DENSE_SIZES[size]), table.X, table.y)
    ]
    X, y = make_wide_sparse(*WIDE_SPARSE_SIZES[size])
    cases.append(("sparse, {:,} × {:,}, {} non-zeros a row".format(*WIDE_SPARSE_SIZES[size]), X, y))
    parts = []
    for title, rows, targets in cases:
        data_folder = remote.save_data(title.split(",")[0] + "_wide", rows, targets)
        for share in WIDE_L1_SHARES:
            parts.append(
                wide_lasso_table(title.capitalize(), rows, targets, share, data_folder, remote, repeats)
            )
    return "\n\n".join([f"Lasso to a gap of {WIDE_TARGET:g}, with a bias", *parts])
