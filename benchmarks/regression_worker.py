"""A worker process for peers that need an older NumPy; reads jobs and writes replies as JSON lines.

It runs in a separate environment, so it imports nothing from this project. Arrays are exchanged through
files; the seconds are those of the solver call alone.
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

WorkerSolution = tuple[
    Any, ...
]  # weights [k, d], intercepts [k] and, after cross-validation, the selected l1


@lru_cache(maxsize=4)
def load_data(folder: str) -> tuple[Any, Any]:
    """Return the rows, in Fortran order or as a CSC matrix, and the targets."""
    data_folder = Path(folder)
    y = np.load(data_folder / "y.npy")
    if (data_folder / "X.npy").exists():
        return np.asfortranarray(np.load(data_folder / "X.npy")), y
    parts = [np.load(data_folder / f"X_{name}.npy") for name in ("data", "indices", "indptr", "shape")]
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
    """Run the covariance method; forming the Gram matrix of the centred rows is part of the call."""
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
    """Run five folds over adelie's own grid of 100 values, then the path down to the selected one."""
    ad = import_module("adelie")
    rows, loss = ad.matrix.dense(X, method="naive", n_threads=threads), ad.glm.gaussian(y)
    settings = {"tol": tol, "progress_bar": False, "n_threads": threads, "early_exit": False}
    cv = ad.cv_grpnet(rows, loss, n_folds=5, min_ratio=1e-3, seed=0, **settings)
    state = cv.fit(rows, loss, **settings)
    return state.betas[-1], state.intercepts[-1:], cv.lmdas[cv.best_idx] * len(y)


def glmnet(X: Any, y: Any, l1: Any, tol: float, threads: int) -> WorkerSolution:
    # glmnet mishandles masked arrays if the path has a single value, so a second value is appended.
    path = np.asarray(l1) / len(y)
    lambda_path = np.concatenate([path, path[-1:] * 0.999]) if len(path) == 1 else path
    make = import_module("glmnet").ElasticNet
    model = make(alpha=1, lambda_path=lambda_path, standardize=False, n_splits=0, tol=tol).fit(X, y)
    return model.coef_path_.T[: len(path)], model.intercept_path_[: len(path)]


JOBS: dict[str, Callable[..., WorkerSolution]] = {
    "adelie": adelie,
    "adelie_gram": adelie_gram,
    "adelie_cv": adelie_cv,
    "glmnet": glmnet,
}


def run_job(request: dict[str, Any]) -> dict[str, Any]:
    """Run one job, save its weights and return the seconds."""
    if request["job"] == "versions":
        return {"versions": ", ".join(f"{name} {version(name)}" for name in PACKAGES)}
    X, y = load_data(request["folder"])
    start = time.perf_counter()
    weights, bias, *chosen = JOBS[request["job"]](X, y, request["l1"], request["tol"], request["threads"])
    seconds = time.perf_counter() - start
    dense = weights.toarray() if hasattr(weights, "toarray") else np.asarray(weights)
    np.savez(request["answer"], weights=dense, bias=np.asarray(bias), chosen=np.asarray(chosen))
    return {"seconds": seconds}


def main() -> None:
    # Output printed by the packages must not be mixed with the replies.
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        try:
            reply = run_job(json.loads(line))
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=out, flush=True)


if __name__ == "__main__":
    main()
