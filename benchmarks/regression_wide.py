"""Lasso with more columns than rows, dense and sparse, to a stated gap.

Rows are dense in Fortran order or sparse rows; sparse columns, which most peers want, are ready made, and
scikit-learn and adelie take them too. λ is a share of λmax, at which all weights are zero.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.regression_contest import Answer, Entrant, contest, ladder, leads, table
from benchmarks.regression_data import wide, wide_sparse
from benchmarks.regression_dense import Makers, entrants
from benchmarks.regression_elsewhere import Elsewhere
from benchmarks.regression_judge import Squares

DENSE = {"full": (500, 20_000), "small": (200, 2_000)}
SPARSE = {"full": (20_000, 200_000, 75), "small": (2_000, 20_000, 75)}
SHARES = (10, 100)
TARGET = 1e-6
LADDER = ladder(2, 9)
FINE = ladder(5, 15)  # of adelie: changes of squared weights


def compared(title: str, X: Any, y: Any, share: int, home: Any, elsewhere: Elsewhere, repeats: int) -> str:
    """Return the table of one λ."""
    import weigh

    judge = Squares(X, y)
    l1 = judge.largest_l1 / share
    alpha = l1 / len(y)
    columns = X if isinstance(X, np.ndarray) else X.tocsc()
    ours: Makers = [
        (
            "weigh, Penalty(l1)",
            lambda tol: weigh.LinearRegression(prior=weigh.Penalty(l1=l1), tol=tol),
            LADDER,
        )
    ]
    lm, celer, skglm = map(import_module, ("sklearn.linear_model", "celer", "skglm"))
    theirs: Makers = [
        ("celer", lambda tol: celer.Lasso(alpha, tol=tol), LADDER),
        ("skglm", lambda tol: skglm.Lasso(alpha, tol=tol), LADDER),
        ("scikit-learn Lasso", lambda tol: lm.Lasso(alpha, tol=tol, max_iter=100_000), LADDER),
    ]
    everyone = entrants(ours, X, y) + entrants(theirs, columns, y)
    if elsewhere.python:
        everyone += [
            Entrant(
                f"adelie, {values} value{'s' * (values > 1)} of λ",
                _adelie(elsewhere, home, judge, l1, values),
                FINE,
            )
            for values in (1, 10)
        ]

    def quality(answer: Answer) -> float:
        return float(judge.lasso_gap(answer.weights, answer.bias, l1)[0])

    found = contest(everyone, quality, [TARGET], repeats)
    shown = table(found, everyone, TARGET, "gap")
    return f"{title}, λmax/{share}\n\n{shown}\n\n{leads(found, TARGET, 1)}"


def _adelie(elsewhere: Elsewhere, home: Any, judge: Squares, l1: float, values: int) -> Any:
    """Return adelie's call, straight to the wanted λ or along a path to it, on which it can screen."""
    run = elsewhere.call("adelie", home, np.geomspace(judge.largest_l1, l1, values + 1)[1:])

    def last(tol: float) -> Answer:
        found = run(tol)
        return Answer(found.weights[-1:], found.bias[-1:], found.seconds)

    return last


def job(size: str, repeats: int, elsewhere: Elsewhere) -> str:
    """Return the tables of dense and sparse rows at two values of λ."""
    given = wide(*DENSE[size])
    cases: list[tuple[str, Any, Any]] = [("dense, {:,} × {:,}".format(*DENSE[size]), given.X, given.y)]
    X, y = wide_sparse(*SPARSE[size])
    cases.append(("sparse, {:,} × {:,}, {} non-zeros a row".format(*SPARSE[size]), X, y))
    parts = []
    for title, rows, targets in cases:
        home = elsewhere.keep(title.split(",")[0] + "_wide", rows, targets)
        for share in SHARES:
            parts.append(compared(title.capitalize(), rows, targets, share, home, elsewhere, repeats))
    return "\n\n".join([f"Lasso to a gap of {TARGET:g}, with a bias", *parts])
