"""Peers that want an older NumPy, in a process of their own: reads jobs as JSON lines, answers likewise.

It runs in another environment than everyone else, so it imports nothing of this project. The arrays lie in
files that both sides read; the seconds are those of the call alone.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = ("numpy", "adelie", "python-glmnet")

WorkerSolution = tuple[Any, ...]  # weights [k, d], biases [k], and the l1 that was chosen, if one was


@lru_cache(maxsize=4)
def load_data(folder: str) -> tuple[Any, Any]:
    """Return the rows, in Fortran order or as sparse columns, and the targets."""
    home = Path(folder)
    y = np.load(home / "y.npy")
    if (home / "X.npy").exists():
        return np.asfortranarray(np.load(home / "X.npy")), y
    parts = [np.load(home / f"X_{name}.npy") for name in ("data", "indices", "indptr", "shape")]
    sparse = import_module("scipy.sparse")
    return sparse.csc_matrix(sparse.csr_matrix(tuple(parts[:3]), shape=tuple(parts[3]))), y


def adelie(X: Any, y: Any, l1: Any, tol: float, threads: int) -> WorkerSolution:
    ad = import_module("adelie")
    wrap = ad.matrix.dense if isinstance(X, np.ndarray) else ad.matrix.sparse
    state = ad.grpnet(
        wrap(X, method="naive", n_threads=threads),
        ad.glm.gaussian(y),
        lmda_path=np.asarray(l1) / len(y),
        tol=tol,
        early_exit=False,
        progress_bar=False,
        n_threads=threads,
    )
    return state.betas, state.intercepts


def adelie_gram(X: Any, y: Any, l1: Any, tol: float, threads: int) -> WorkerSolution:
    """The covariance method on the Gram matrix of centred rows, which this makes too."""
    ad = import_module("adelie")
    n, mean = len(y), X.mean(axis=0)
    A = (X.T @ X - n * np.outer(mean, mean)) / n
    v = X.T @ (y - y.mean()) / n
    state = ad.gaussian_cov(
        ad.matrix.dense(np.asfortranarray(A), method="cov", n_threads=threads),
        v,
        lmda_path=np.asarray(l1) / n,
        tol=tol,
        rdev_tol=0.0,
        early_exit=False,
        progress_bar=False,
        n_threads=threads,
    )
    return state.betas, y.mean() - state.betas @ mean


def adelie_cv(X: Any, y: Any, l1: Any, tol: float, threads: int) -> WorkerSolution:
    """Five folds over its own grid of 100, then the path down to the chosen value."""
    ad = import_module("adelie")
    rows, loss = ad.matrix.dense(X, method="naive", n_threads=threads), ad.glm.gaussian(y)
    settings = {"tol": tol, "progress_bar": False, "n_threads": threads, "early_exit": False}
    found = ad.cv_grpnet(rows, loss, n_folds=5, min_ratio=1e-3, seed=0, **settings)
    state = found.fit(rows, loss, **settings)
    return state.betas[-1], state.intercepts[-1:], found.lmdas[found.best_idx] * len(y)


def glmnet(X: Any, y: Any, l1: Any, tol: float, threads: int) -> WorkerSolution:
    # The package forgets to tell NumPy's masked arrays from arrays unless the path has two values.
    path = np.asarray(l1) / len(y)
    own = np.concatenate([path, path[-1:] * 0.999]) if len(path) == 1 else path
    make = import_module("glmnet").ElasticNet
    model = make(alpha=1, lambda_path=own, standardize=False, n_splits=0, tol=tol).fit(X, y)
    return model.coef_path_.T[: len(path)], model.intercept_path_[: len(path)]


JOBS: dict[str, Callable[..., WorkerSolution]] = {
    "adelie": adelie,
    "adelie_gram": adelie_gram,
    "adelie_cv": adelie_cv,
    "glmnet": glmnet,
}


def run_job(asked: dict[str, Any]) -> dict[str, Any]:
    """Do one job, save its weights, and return the seconds."""
    if asked["job"] == "versions":
        return {"versions": ", ".join(f"{name} {version(name)}" for name in PACKAGES)}
    X, y = load_data(asked["folder"])
    start = time.perf_counter()
    weights, bias, *chosen = JOBS[asked["job"]](X, y, asked["l1"], asked["tol"], asked["threads"])
    seconds = time.perf_counter() - start
    dense = weights.toarray() if hasattr(weights, "toarray") else np.asarray(weights)
    np.savez(asked["answer"], weights=dense, bias=np.asarray(bias), chosen=np.asarray(chosen))
    return {"seconds": seconds}


def main() -> None:
    # What the packages print must not be taken for an answer.
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        try:
            told = run_job(json.loads(line))
        except Exception as error:
            told = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(told), file=out, flush=True)


if __name__ == "__main__":
    main()
