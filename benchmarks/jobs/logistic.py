"""Logistic and softmax regression with L2 and L1 penalties, exact and online, beside the peers.

The accuracy of a solution is its relative excess over the lowest objective of all runs, including a tight
one of weigh. LIBLINEAR gets the rows in its own format, converted beforehand; one contender includes the
conversion. The others get CSR or CSC matrices, whichever they prefer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import NEWS, Rows, make_sparse_rows, newsgroup_folders, read_folder
from benchmarks.job import CORES, Check, Contender, Job, Row
from benchmarks.peers.regression import (
    CELER,
    LOOSE,
    PACKAGES,
    SKGLM,
    TIGHT,
    Floats,
    LogisticCertificate,
    Solution,
    estimator,
    ladder,
    linear_model,
)


@dataclass(frozen=True)
class Logistic:
    """Rows and labels −1 and 1 of logistic regression without intercept, C = 1."""

    X: Any
    y: Floats
    l1: float
    l2: float


def make_logistic(with_noise: bool, l1: bool, **size: int) -> Logistic:
    rows = make_sparse_rows(**size, with_noise=with_noise)
    return Logistic(rows.X, rows.y.astype(np.float64), float(l1), float(not l1))


def objective(problem: Logistic, solution: Solution) -> Mapping[str, float]:
    certificate = LogisticCertificate(problem.X, problem.y, problem.l1, problem.l2)
    w = solution.weights
    return {"objective": certificate.objective(w), "gap": certificate.gap(w)}


def our_logistic(problem: Logistic, tol: float | None) -> Any:
    import weigh

    prior: Any = weigh.Laplace(1.0) if problem.l1 else 1.0
    return weigh.LogisticRegression(prior=prior, bias=False, **({} if tol is None else {"tol": tol}))


def liblinear(solver: int, converts: bool = False) -> Contender:
    """Return LIBLINEAR on rows in its own format, or with the conversion as part of the call."""

    def prepare(problem: Logistic) -> Any:
        return problem, None if converts else import_module("liblinear.liblinear").problem(
            problem.y, problem.X
        )

    def run(prepared: Any, tol: float) -> Solution:
        util = import_module("liblinear.liblinearutil")
        problem, converted = prepared
        options = f"-s {solver} -c 1 -e {tol:g} -q"
        given = (problem.y, problem.X, options) if converts else (converted, util.parameter(options))
        model = util.train(*given)
        w = np.ctypeslib.as_array(model.w, (problem.X.shape[1],)).copy()
        return Solution(w if model.label[0] == 1 else -w)

    return Contender(
        f"LIBLINEAR -s {solver}{' with its conversion' * converts}", run, prepare=prepare,
        tolerances=ladder(1, 8), tolerance_name="-e", environment="peers", needs=("liblinear-official",),
    )  # fmt: skip


def sklearn_logistic(solver: str, problem: Logistic, tol: float | None, **settings: Any) -> Any:
    # saga's tolerance stops it too early or never: its number of passes takes the place of the tolerance.
    stop = {"max_iter": int(tol or 1), "tol": 1e-9} if solver == "saga" else {"max_iter": 1_000, "tol": tol}
    make = linear_model("LogisticRegression")
    return make(solver=solver, fit_intercept=False, l1_ratio=problem.l1, random_state=0, **stop, **settings)


def skglm_l2(problem: Logistic, tol: float | None) -> Any:
    parts = map(import_module, ("skglm", "skglm.datafits", "skglm.penalties", "skglm.solvers"))
    skglm, datafits, penalties, solvers = parts
    solver = solvers.LBFGS(tol=tol, max_iter=1_000)
    # The estimator reads these attributes, which this solver does not set.
    solver.fit_intercept = solver.warm_start = False
    return skglm.GeneralizedLinearEstimator(datafits.Logistic(), penalties.L2(1 / len(problem.y)), solver)


def skglm_l1(problem: Logistic, tol: float | None) -> Any:
    make = import_module("skglm").SparseLogisticRegression
    return make(1 / len(problem.y), fit_intercept=False, max_iter=100, tol=tol)


def snapml(jobs: int, problem: Logistic, tol: float | None) -> Any:
    settings = {"penalty": "l1", "dual": False} if problem.l1 else {}
    make = import_module("snapml").LogisticRegression
    return make(regularizer=1.0, n_jobs=jobs, random_state=0, tol=tol, **settings)


def to_columns(problem: Logistic) -> Logistic:
    return Logistic(problem.X.tocsc(), problem.y, problem.l1, problem.l2)


def logistic_contenders(l1: bool) -> tuple[Contender, ...]:
    columns = {"prepare": to_columns}
    snap = [
        estimator(f"snapml, n_jobs={jobs}", partial(snapml, jobs), tolerances=ladder(1, 8),
                  environment="peers", needs=("snapml",), **(columns if l1 else {}))
        for jobs in (1, CORES)
    ]  # fmt: skip
    saga = estimator("scikit-learn saga", partial(sklearn_logistic, "saga"),
                     tolerances=(5.0, 10.0, 20.0, 40.0), tolerance_name="max_iter")  # fmt: skip
    mine = estimator(f"weigh, prior={'Laplace(1.0)' if l1 else '1.0'}", our_logistic, role="ours",
                     tolerances=ladder(2, 8))  # fmt: skip

    def sklearn(solver: str, **settings: Any) -> Contender:
        name = f"scikit-learn {solver}{''.join(f', {key}={value}' for key, value in settings.items())}"
        make = partial(sklearn_logistic, solver, **settings)
        return estimator(name, make, tolerances=ladder(1, 8))

    if l1:
        celer = estimator("celer", lambda problem, tol: import_module("celer").LogisticRegression(tol=tol),
                          tolerances=ladder(2, 8), **CELER, **columns)  # fmt: skip
        skglm = estimator("skglm", skglm_l1, tolerances=ladder(3, 8), **SKGLM, **columns)
        return mine, liblinear(6), liblinear(6, True), sklearn("liblinear"), saga, celer, skglm, *snap
    skglm = estimator("skglm, L-BFGS", skglm_l2, tolerances=ladder(3, 8), **SKGLM, **columns)
    duals = [sklearn("liblinear", dual=dual) for dual in (True, False)]
    solvers = (sklearn("lbfgs"), sklearn("newton-cg"), saga, *duals)
    return mine, liblinear(7), liblinear(0), liblinear(7, True), *solvers, *snap, skglm


def logistic_job(l1: bool, with_noise: bool, target: float) -> Job:
    labels = "flipped" if with_noise else "separable"
    kind = "l1" if l1 else "l2"
    title = (
        f"Logistic regression, {kind.upper()}, {labels} labels, sparse rows of 75 non-zeros, no bias, C = 1"
    )
    return Job(
        f"regression.l.{kind}-{labels}-{target:.0e}".replace("e-0", "e-"), title,
        partial(make_logistic, with_noise, l1), {"rows": 200_000, "features": 500_000},
        {"rows": 4_000, "features": 20_000}, logistic_contenders(l1), objective,
        Check("objective", target, "lowest"),
        {"rows": 4_000, "features": 20_000} if target == TIGHT else {}, reference=1e-9, limit=60.0,
        keep_alive=False, warm_up={"rows": 1_000, "features": 1_000}, repeats=3, packages=PACKAGES,
    )  # fmt: skip


ONLINE_RATES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)


class TrainTest(NamedTuple):
    """Training rows and the last tenth, held out."""

    train: Rows
    test: Rows


def make_train_test(with_noise: bool, **size: int) -> TrainTest:
    rows = make_sparse_rows(**size, with_noise=with_noise)
    cut, y = rows.X.shape[0] * 9 // 10, rows.y.astype(np.float64)
    return TrainTest(Rows(rows.X[:cut], y[:cut]), Rows(rows.X[cut:], y[cut:]))


def fit_ours_online(settings: Mapping[str, Any], data: TrainTest) -> Any:
    import weigh

    return weigh.LogisticRegression(bias=False, random_state=0, **settings).fit(data.train.X, data.train.y)


def sgd(settings: Mapping[str, Any], data: TrainTest, rate: float | None) -> Any:
    constant = {"learning_rate": "constant", "eta0": rate} if rate else {}
    make = partial(
        linear_model("SGDClassifier"), loss="log_loss", fit_intercept=False, tol=None, random_state=0
    )
    return make(alpha=1 / len(data.train.y), **constant, **settings).fit(data.train.X, data.train.y)


def choose_rate(settings: Mapping[str, Any], data: TrainTest) -> tuple[TrainTest, float]:
    """Return the data with the learning rate that reaches the lowest objective."""
    certificate = LogisticCertificate(data.train.X, data.train.y, l2=1.0)
    return data, min(ONLINE_RATES, key=lambda rate: certificate.objective(sgd(settings, data, rate).coef_))


def online_facts(data: TrainTest, model: Any) -> Mapping[str, float]:
    w = np.ravel(model.coef_)
    scores = data.test.y * (data.test.X @ w)
    return {
        "objective": LogisticCertificate(data.train.X, data.train.y, l2=1.0).objective(w),
        "held-out log loss": float(np.logaddexp(0.0, -scores).mean()),
        "held-out accuracy": float(np.mean(scores > 0)),
    }


def online_job(labels: str, passes: int) -> Job:
    """Return the row of online training, whose peers also have their learning rate chosen beforehand."""
    contenders = [
        Contender("weigh, online", role="ours",
                  run=partial(fit_ours_online, {"method": "online", "tol": 0.0, "max_iter": passes})),
        Contender("weigh, exact", partial(fit_ours_online, {}), role="variant"),
    ]  # fmt: skip
    for average in (True, False):
        settings = {"max_iter": passes, "average": average}
        name = f"SGDClassifier, {'averaged' if average else 'last'}"
        contenders.append(Contender(name, partial(sgd, settings, rate=None)))
        contenders.append(
            Contender(
                f"{name}, rate chosen",
                partial(_sgd_with_rate, settings),
                prepare=partial(choose_rate, settings),
            )
        )
    return Job(
        f"regression.o.{labels}-{passes}",
        f"Online logistic regression, {labels} labels, passes: {passes}, no bias",
        partial(make_train_test, labels == "flipped"), {"rows": 200_000, "features": 500_000},
        {"rows": 4_000, "features": 20_000}, tuple(contenders), online_facts, Check("held-out accuracy", 0.1),
        {"rows": 20_000, "features": 50_000} if passes == 1 else {}, packages=PACKAGES,
    )  # fmt: skip


def _sgd_with_rate(settings: Mapping[str, Any], prepared: tuple[TrainTest, float]) -> Any:
    return sgd(settings, *prepared)


@dataclass(frozen=True)
class Softmax:
    """Rows of words and class numbers of softmax regression with an intercept, C = 1."""

    X: Any
    y: Any


def make_newsgroups(weighting: str, rows: int) -> Softmax:
    """Return the words of evenly spaced newsgroup posts, as counts or as tf-idf of unit length."""
    text = import_module("sklearn.feature_extraction.text")
    posts = read_folder(newsgroup_folders()[0])
    posts = posts[np.linspace(0, len(posts.texts) - 1, rows).astype(np.int64)]
    vectorizer = text.TfidfVectorizer() if weighting == "tf-idf" else text.CountVectorizer(dtype=np.float64)
    return Softmax(vectorizer.fit_transform(posts.texts), np.unique(posts.labels, return_inverse=True)[1])


def fit_softmax(make: Any, problem: Softmax, tol: float) -> Solution:
    model = make(tol=tol).fit(problem.X, problem.y)
    return Solution(model.coef_, model.intercept_)


def our_softmax(tol: float) -> Any:
    import weigh

    return weigh.LogisticRegression(tol=tol)


def sklearn_softmax(solver: str, tol: float) -> Any:
    return linear_model("LogisticRegression")(solver=solver, max_iter=5_000, tol=tol)


def softmax_objective(problem: Softmax, solution: Solution) -> Mapping[str, float]:
    scores = problem.X @ solution.weights.T + solution.bias
    scores -= scores[np.arange(len(problem.y)), problem.y][:, None]
    top = scores.max(axis=1)
    loss = float((top + np.log(np.exp(scores - top[:, None]).sum(axis=1))).sum())
    return {"objective": loss + 0.5 * float(np.square(solution.weights).sum())}


def softmax_job(weighting: str, target: float) -> Job:
    """Return the row of exact softmax regression on the 20 newsgroups."""
    contenders = [Contender("weigh, prior=1.0", partial(fit_softmax, our_softmax), role="ours",
                            tolerances=ladder(2, 8))]  # fmt: skip
    for solver in ("lbfgs", "newton-cg"):
        run = partial(fit_softmax, partial(sklearn_softmax, solver))
        contenders.append(Contender(f"scikit-learn {solver}", run, tolerances=ladder(1, 6)))
    return Job(
        f"regression.m.{weighting}-{target:.0e}".replace("e-0", "e-"),
        f"Softmax regression, L2, 20 newsgroups, words as {weighting}, with a bias, C = 1",
        partial(make_newsgroups, weighting), {"rows": 11_314}, {"rows": 1_000}, tuple(contenders),
        softmax_objective, Check("objective", target, "lowest"),
        {"rows": 1_000} if target == LOOSE else {}, files=(NEWS,), reference=1e-9,
        warm_up={"rows": 200}, repeats=3, packages=PACKAGES,
    )  # fmt: skip


LOGISTIC_JOBS: list[Row] = [
    *(
        logistic_job(l1, with_noise, target)
        for with_noise in (False, True) for l1 in (False, True) for target in (LOOSE, TIGHT)
    ),
    *(softmax_job(weighting, target) for weighting in ("tf-idf", "counts") for target in (LOOSE, TIGHT)),
    *(online_job(labels, passes) for labels in ("separable", "flipped") for passes in (1, 5)),
]  # fmt: skip
