"""Perceptrons, beside scikit-learn, Vowpal Wabbit and a bare loop in C++.

The bare loop and weigh make the same mistakes in the same order, so their weights have the same norm.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks.corpus import read_corpus
from benchmarks.data import A9A, A9A_TEST, NEWS, SMS, Rows, make_sparse_rows
from benchmarks.job import ROOT, WORK, Check, Contender, Job, Quality, Role, Row
from benchmarks.jobs.text import (
    GROW,
    HASHED,
    QUICK,
    SIZE,
    WARM_UP,
    accuracy,
    fit_lists,
    list_accuracy,
    read_lists,
    sklearn_program,
    vw_program,
    weigh_program,
)
from benchmarks.peers.text import BUCKETS, LEARNERS, LOSSES, PASSES

N_EPOCHS = {"first": 1, "six": 6}


@cache
def bare_loop() -> Any:
    """Compile the averaged perceptron in plain C++ and return its function."""
    WORK.mkdir(parents=True, exist_ok=True)
    library = WORK / "bare_perceptron.so"
    source = ROOT / "benchmarks" / "bare_perceptron.cpp"
    compiler = os.environ.get("CXX", "c++")
    subprocess.run([compiler, "-O3", "-std=c++20", "-shared", "-fPIC", source, "-o", library], check=True)
    call = ctypes.CDLL(str(library)).averaged_perceptron
    call.restype = ctypes.c_int64
    return call


def prepare_bare(shuffle: bool, epochs: int, rows: Rows) -> tuple[Rows, Any]:
    """Return the rows and the order of every pass, which weigh makes as part of its call."""
    from weigh.learn.online_training import pass_order

    bare_loop()
    orders = (
        np.concatenate([pass_order(len(rows.y), 0, epoch) for epoch in range(epochs)]) if shuffle else None
    )
    return rows, orders


def run_bare(epochs: int, prepared: tuple[Rows, Any]) -> Any:
    """Return the averaged weights, intercept first."""
    rows, orders = prepared
    number, width = rows.X.shape
    table, mean = np.zeros((width + 1, 2)), np.empty(width + 1)
    arrays = [rows.X.indptr, rows.X.indices, rows.X.data, rows.y, orders]
    pointers = [None if array is None else ctypes.c_void_p(array.ctypes.data) for array in arrays]
    sizes = [ctypes.c_int64(epochs), ctypes.c_int64(width)]
    outputs = [ctypes.c_void_p(array.ctypes.data) for array in (table, mean)]
    bare_loop()(ctypes.c_int64(number), *pointers, *sizes, *outputs)
    return mean


def fit_ours(settings: Mapping[str, Any], rows: Rows) -> Any:
    import weigh

    return weigh.Perceptron(**settings, random_state=0).fit(rows.X, rows.y)


def fit_perceptron(settings: Mapping[str, Any], rows: Rows) -> Any:
    from sklearn.linear_model import Perceptron

    return Perceptron(**settings, tol=None, random_state=0).fit(rows.X, rows.y)


def fit_sgd(settings: Mapping[str, Any], rows: Rows) -> Any:
    from sklearn.linear_model import SGDClassifier

    constant = {"learning_rate": "constant", "eta0": 1.0, "penalty": None, "tol": None}
    learner = SGDClassifier(loss="perceptron", average=True, random_state=0, **constant, **settings)
    return learner.fit(rows.X, rows.y)


def stacked_weights(_: Any, model: Any) -> Any:
    return np.append(model.intercept_, model.coef_)


def weight_facts(rows: Rows, weights: Any) -> Mapping[str, float]:
    """Return the norm of the weights and the accuracy on the training rows."""
    right = (rows.X @ weights[1:] + weights[0] >= 0) == (rows.y > 0)
    return {"norm of the weights": float(np.linalg.norm(weights)), "accuracy": float(right.mean())}


def epoch_job(labels: str, order: str, epochs: str) -> Job:
    """Return the row of the first, or the first six, epochs over rows with few or many mistakes."""
    shuffle, number = order == "shuffled", N_EPOCHS[epochs]
    settings = {"max_iter": number, "shuffle": shuffle}
    fits: dict[str, tuple[Callable[..., Any], Role]] = {
        "weigh.Perceptron, averaged": (fit_ours, "ours"),
        "scikit-learn Perceptron, not averaged": (fit_perceptron, "peer"),
        "scikit-learn SGDClassifier, averaged": (fit_sgd, "peer"),
    }
    contenders = [
        Contender(name, partial(fit, settings), role=role, answer=stacked_weights)
        for name, (fit, role) in fits.items()
    ]
    floor = Contender(
        "bare loop in C++", partial(run_bare, number), role="floor",
        prepare=partial(prepare_bare, shuffle, number), answer=lambda prepared, weights: weights,
    )  # fmt: skip
    count = "The first epoch" if number == 1 else f"{number} epochs"
    small = {"rows": 20_000, "features": 50_000}
    return Job(
        f"online.s.{labels}-{order.replace(' ', '-')}-{epochs}",
        f"{count} of a perceptron over sparse rows of 75 non-zeros, {labels} mistakes, {order}, one thread",
        partial(make_sparse_rows, with_noise=labels == "many"), {"rows": 200_000, "features": 500_000}, small,
        (*contenders, floor), weight_facts, Check("accuracy", 0.15),
        small if (labels, epochs) == ("many", "first") else {},
        packages=("weigh", "numpy", "scipy", "scikit-learn"),
    )  # fmt: skip


def make_perceptron(passes: int) -> Any:
    import weigh

    return weigh.Perceptron(columns=weigh.Text(buckets=BUCKETS), max_iter=passes)


def name_passes(passes: int) -> str:
    return f"{passes} pass{'es' * (passes > 1)}"


def sgd_name(loss: str, passes: int) -> str:
    return f"scikit-learn, HashingVectorizer + SGDClassifier, {loss}, {name_passes(passes)}"


def list_job(passes: int) -> Job:
    """Return the row from a list of str to a perceptron of some passes."""
    name = f"weigh, perceptron, 2^20 buckets, {name_passes(passes)}"
    peers = [fit_lists(sgd_name(loss, passes), LEARNERS[f"{loss}-{passes}"]) for loss in LOSSES]
    return Job(
        f"online.t.list-{passes}", f"Texts as a list of str → perceptron, {name_passes(passes)}", read_lists,
        SIZE, QUICK, (fit_lists(name, partial(make_perceptron, passes), role="ours"), *peers),
        list_accuracy, Check("accuracy", 0.15), GROW if passes == 1 else {},
        warm_up=WARM_UP, keep_alive=False, repeats=3,
    )  # fmt: skip


def perceptron_program(passes: int, role: Role) -> Contender:
    options = ("--learner", "perceptron", "--set", f"max_iter={passes}")
    return weigh_program(f"weigh, perceptron, {name_passes(passes)}", HASHED, *options, role=role).fitting()


def dataset_tables(quick: bool) -> str:
    from benchmarks.quality import perceptrons

    return perceptrons.dataset_tables(quick)


def noise_tables(quick: bool) -> str:
    from benchmarks.quality import perceptrons

    return perceptrons.noise_tables(quick)


JOBS: list[Row] = [
    *(
        epoch_job(labels, order, epochs)
        for labels in ("many", "few")
        for order in ("in order", "shuffled")
        for epochs in N_EPOCHS
    ),
    *map(list_job, PASSES),
    Job(
        "online.t.file", "File → fitted and saved perceptron, whole process", read_corpus, SIZE, QUICK,
        (
            *(perceptron_program(passes, "ours" if passes == 1 else "variant") for passes in PASSES),
            *(sklearn_program(sgd_name(loss, 1), f"{loss}-1").fitting() for loss in LOSSES),
            vw_program(25).fitting(),
        ),
        accuracy, Check("accuracy", 0.15), GROW, warm_up=WARM_UP, keep_alive=False, repeats=3,
    ),
    Quality("online.r", "Perceptrons on real data, the same matrix for all", dataset_tables,
            (SMS, NEWS, A9A, A9A_TEST)),
    Quality("online.n", "Perceptrons under label noise", noise_tables),
]  # fmt: skip
