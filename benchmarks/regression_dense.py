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

from benchmarks.regression_contest import EXACT, Answer, Entrant, contest, ladder, leads, table
from benchmarks.regression_data import Table, dense
from benchmarks.regression_elsewhere import Elsewhere
from benchmarks.regression_judge import Squares
from benchmarks.text_peers import CORES

SIZES = {"full": (40_000, 1_500), "small": (4_000, 150)}
L2 = 1_000.0
VALUES, RATIO = 100, 1e-3
LADDER = ladder(3, 8)
FINE = ladder(8, 15)  # of adelie and glmnet: changes of squared weights
GOOD, LOOSE, TIGHT = 1e-10, 1e-4, 1e-6

Floats = npt.NDArray[np.float64]
Makers = Sequence[tuple[str, Callable[[float], Any], Sequence[float]]]


def fitted(model: Any, X: Any, y: Any, note: Callable[[Any], str] = lambda model: "") -> Answer:
    model = model.fit(X, y)
    return Answer(np.ravel(model.coef_), model.intercept_, note=note(model))


def entrants(makers: Makers, X: Any, y: Any, note: Callable[[Any], str] = lambda model: "") -> list[Entrant]:
    """Return estimators as contestants on the same rows."""

    def call(make: Callable[[float], Any]) -> Callable[[float], Answer]:
        return lambda tol: fitted(make(tol), X, y, note)

    return [Entrant(name, call(make), tolerances) for name, make, tolerances in makers]


def bare(given: Table, l2: float) -> Entrant:
    def run(tol: float) -> Answer:
        from scipy.linalg import cho_factor, cho_solve

        X, y = given.X, given.y
        mean, centre = X.mean(axis=0), y.mean()
        gram = X.T @ X
        gram -= len(y) * np.outer(mean, mean)
        gram.flat[:: len(mean) + 1] += l2
        cross = X.T @ (y - centre)
        w = cho_solve(cho_factor(gram, overwrite_a=True, check_finite=False), cross, check_finite=False)
        return Answer(w, centre - mean @ w)

    return Entrant("bare: Gram, Cholesky, solve", run)


def least_squares(given: Table, judge: Squares, repeats: int) -> str:
    import weigh

    lm, glum = import_module("sklearn.linear_model"), import_module("glum")

    def statsmodels(tol: float) -> Answer:
        api = import_module("statsmodels.api")
        w = api.OLS(given.y, api.add_constant(given.X)).fit(method="qr").params
        return Answer(w[1:], w[0])

    makers: Makers = [
        ("weigh.LinearRegression()", lambda tol: weigh.LinearRegression(), EXACT),
        ("scikit-learn LinearRegression", lambda tol: lm.LinearRegression(), EXACT),
        ("glum, normal, alpha 0", lambda tol: glum.GeneralizedLinearRegressor(alpha=0.0), EXACT),
    ]
    everyone = [
        *entrants(makers, given.X, given.y),
        Entrant("statsmodels OLS, QR", statsmodels),
        bare(given, 0.0),
    ]
    found = contest(everyone, lambda a: judge.excess(a.weights, a.bias), [GOOD], repeats)
    shown = table(found, everyone, GOOD, "above the minimum")
    return f"Least squares\n\n{shown}\n\n{leads(found, GOOD)}"


def ridge(given: Table, judge: Squares, repeats: int) -> str:
    import weigh

    lm, glum = import_module("sklearn.linear_model"), import_module("glum")
    prior = weigh.Penalty(l2=L2)
    alpha = L2 / len(given.y)
    makers: Makers = [
        ("weigh, Penalty(l2)", lambda tol: weigh.LinearRegression(prior=prior), EXACT),
        ("scikit-learn Ridge, cholesky", lambda tol: lm.Ridge(L2, solver="cholesky"), EXACT),
        ("scikit-learn Ridge, lsqr", lambda tol: lm.Ridge(L2, solver="lsqr", tol=tol), LADDER),
        ("scikit-learn Ridge, sparse_cg", lambda tol: lm.Ridge(L2, solver="sparse_cg", tol=tol), LADDER),
        ("scikit-learn Ridge, svd", lambda tol: lm.Ridge(L2, solver="svd"), EXACT),
        ("glum, normal", lambda tol: glum.GeneralizedLinearRegressor(alpha=alpha, l1_ratio=0.0), EXACT),
    ]
    everyone = [*entrants(makers, given.X, given.y), bare(given, L2)]
    found = contest(everyone, lambda a: judge.ridge_gap(a.weights, a.bias, L2), [GOOD], repeats)
    shown = table(found, everyone, GOOD, "gap")
    return f"Ridge, l2 = {L2:,.0f}\n\n{shown}\n\n{leads(found, GOOD, 1.5)}"


def lasso_path(given: Table, judge: Squares, elsewhere: Elsewhere, repeats: int) -> str:
    import weigh

    l1 = judge.largest_l1 * np.geomspace(1.0, RATIO, VALUES)
    alphas = l1 / len(given.y)
    mean, centre = judge.means, given.y.mean()

    def ours(tol: float) -> Answer:
        learner = weigh.LinearRegression(prior=weigh.Penalty(l1=1.0), tol=tol)
        found = weigh.path(learner, given.X, given.y, n=VALUES, ratio=RATIO)
        return Answer(found.weights, found.intercepts)

    def skl(tol: float) -> Answer:
        path = import_module("sklearn.linear_model").lasso_path
        _, W, _ = path(
            *given.centred, alphas=alphas, precompute=True, copy_X=False, tol=tol, max_iter=100_000
        )
        return Answer(W.T, centre - W.T @ mean)

    def celer(tol: float) -> Answer:
        _, W, _ = import_module("celer").celer_path(*given.centred, "lasso", alphas=alphas, tol=tol)
        return Answer(W.T, centre - W.T @ mean)

    everyone = [
        Entrant("weigh.path", ours, LADDER),
        Entrant("scikit-learn lasso_path, precomputed Gram", skl, LADDER),
        Entrant("celer_path", celer, LADDER),
    ]
    if elsewhere.python:
        home = elsewhere.keep("dense", given.X, given.y)
        for name, job in (("adelie, Gram", "adelie_gram"), ("adelie, rows", "adelie"), ("glmnet", "glmnet")):
            everyone.append(Entrant(name, elsewhere.call(job, home, l1), FINE))
    found = contest(everyone, lambda a: _worst(judge, a, l1), [LOOSE, TIGHT], repeats)
    parts = [f"Lasso, {VALUES} values of λ from λmax down to λmax/{1 / RATIO:,.0f}"]
    for target in (LOOSE, TIGHT):
        parts.append(f"To a gap of {target:g} at every λ")
        parts += [table(found, everyone, target, "largest gap"), leads(found, target, 1.5)]
    return "\n\n".join(parts)


def _worst(judge: Squares, answer: Answer, l1: Floats) -> float:
    if len(answer.weights) != len(l1):
        return float("inf")
    return float(judge.lasso_gap(answer.weights, answer.bias, l1).max())


def lasso_cv(given: Table, judge: Squares, elsewhere: Elsewhere, repeats: int) -> str:
    import weigh

    n = len(given.y)
    lm = import_module("sklearn.linear_model")
    ours = partial(weigh.LinearRegression, prior=weigh.Laplace("cv"))
    own = entrants(
        [("weigh, Laplace('cv')", lambda tol: ours(tol=tol), LADDER[2:])],
        given.X,
        given.y,
        lambda model: f"{model.model_.fit.l1:.0f}",
    )
    gram = partial(lm.LassoCV, alphas=VALUES, precompute=True, eps=RATIO, cv=5)
    makers: Makers = [
        ("scikit-learn LassoCV, Gram", lambda tol: gram(tol=tol), LADDER[2:]),
        (f"scikit-learn LassoCV, Gram, n_jobs={CORES}", lambda tol: gram(tol=tol, n_jobs=CORES), LADDER[2:]),
    ]
    theirs = entrants(makers, given.fortran, given.y, lambda model: f"{model.alpha_ * n:.0f}")
    everyone = own + theirs
    if elsewhere.python:
        run = elsewhere.call("adelie_cv", elsewhere.keep("dense", given.X, given.y), 0.0)
        everyone.append(Entrant("adelie cv_grpnet, folds of its own", run, FINE))

    def quality(answer: Answer) -> float:
        return float(judge.lasso_gap(answer.weights, answer.bias, float(answer.note))[0])

    found = contest(everyone, quality, [LOOSE], repeats)
    shown = table(found, everyone, LOOSE, "gap of the last fit", "chosen λ")
    said = "Lasso, λ chosen of 100 by 5 folds"
    return f"{said}\n\n{shown}\n\n{leads(found, LOOSE, 5)}"


def ridge_cv(given: Table, judge: Squares, repeats: int) -> str:
    import weigh

    lm = import_module("sklearn.linear_model")
    grid = np.geomspace(1e-6, 1e3, VALUES) * float(np.square(given.X - judge.means).sum(axis=0).mean())
    ours = entrants(
        [("weigh, Normal('cv')", lambda tol: weigh.LinearRegression(prior=weigh.Normal("cv")), EXACT)],
        given.X,
        given.y,
        lambda model: f"{model.model_.fit.l2:.4g}",
    )
    makers: Makers = [
        ("scikit-learn RidgeCV, 5 folds", lambda tol: lm.RidgeCV(grid, cv=5), EXACT),
        ("scikit-learn RidgeCV, leave-one-out", lambda tol: lm.RidgeCV(grid), EXACT),
    ]
    everyone = ours + entrants(makers, given.X, given.y, lambda model: f"{model.alpha_:.4g}")

    def quality(answer: Answer) -> float:
        return judge.ridge_gap(answer.weights, answer.bias, float(answer.note))

    found = contest(everyone, quality, [LOOSE], repeats)
    shown = table(found, everyone, LOOSE, "gap of the last fit", "chosen λ")
    return f"Ridge, λ chosen of {VALUES}\n\n{shown}\n\n{leads(found, LOOSE, 20)}"


def job(size: str, repeats: int, elsewhere: Elsewhere) -> str:
    """Return the tables of all five contests."""
    given = dense(*SIZES[size])
    judge = Squares(given.X, given.y)
    rows, width = given.X.shape
    head = f"{rows:,} × {width:,}, dense, neighbouring columns correlated by 0.5; with a bias"
    parts = [
        least_squares(given, judge, repeats),
        ridge(given, judge, repeats),
        lasso_path(given, judge, elsewhere, repeats),
        lasso_cv(given, judge, elsewhere, repeats),
        ridge_cv(given, judge, repeats),
    ]
    return "\n\n".join([head, *parts])
