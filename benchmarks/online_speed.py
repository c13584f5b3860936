"""The speed of an epoch over sparse rows: a bare loop in C++, weigh, and scikit-learn.

The rows are like texts: column j of a row is drawn from the j-th of 75 ranges that widen like those
of Zipf's law, so that the first columns are in every row and the last ones rare. In some ranges the
class decides which half it is, which makes the rows separable after few mistakes; other labels for
the same rows, a third of them flipped, make many. The bare loop and weigh make the same mistakes in
the same order, and their weights are compared before anything is timed.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import ROOT, TimedCall, Timing, format_duration, format_markdown_table, time_in_turns

SIZES = {"full": (200_000, 500_000, 75), "small": (4_000, 20_000, 75)}
N_INFORMATIVE_RANGES = 12  # ranges whose halves tell the class
LABEL_NOISE = 0.3
N_FURTHER_EPOCHS = 5  # epochs after the first, whose mean is the cost of a further one
BARE_LOOP = "bare loop"
OURS = "weigh.Perceptron, averaged"
PLAIN = "scikit-learn Perceptron, not averaged"
AVERAGED = "scikit-learn SGDClassifier, averaged"

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class EpochTask:
    """Rows, labels of −1 and 1, and whether they are gone through in a shuffled order."""

    X: Any
    y: npt.NDArray[np.int8]
    shuffle: bool


class BareLoop:
    """The bare loop, compiled into a folder."""

    def __init__(self, folder: Path) -> None:
        library = folder / "bare_perceptron.so"
        source = ROOT / "benchmarks" / "bare_perceptron.cpp"
        compiler = os.environ.get("CXX", "c++")
        subprocess.run(
            [compiler, "-O3", "-std=c++20", "-shared", "-fPIC", str(source), "-o", str(library)], check=True
        )
        self._call = ctypes.CDLL(str(library)).averaged_perceptron
        self._call.restype = ctypes.c_int64

    def run(self, job: EpochTask, epochs: int, orders: Longs | None) -> tuple[int, npt.NDArray[np.float64]]:
        """Return how many passes were made, and the averaged weights, the bias first."""
        rows, width = job.X.shape
        table, mean = np.zeros((width + 1, 2)), np.empty(width + 1)
        arrays = [job.X.indptr, job.X.indices, job.X.data, job.y, orders]
        pointers = [None if array is None else ctypes.c_void_p(array.ctypes.data) for array in arrays]
        sizes = [ctypes.c_int64(epochs), ctypes.c_int64(width)]
        found = [ctypes.c_void_p(array.ctypes.data) for array in (table, mean)]
        return int(self._call(ctypes.c_int64(rows), *pointers, *sizes, *found)), mean


def make_text_like_rows(rows: int, width: int, entries: int) -> tuple[Any, npt.NDArray[np.int8]]:
    """Return a sparse matrix with so many entries in every row, and labels that separate it."""
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    edges = np.geomspace(4, width, entries + 1).astype(np.int64)
    edges[0] = 0
    edges = np.maximum(edges, 2 * np.arange(entries + 1))
    y = np.where(rng.random(rows) < 0.5, -1, 1).astype(np.int8)
    share = rng.random((rows, entries))
    telling = np.linspace(0, entries - 1, N_INFORMATIVE_RANGES).astype(int)
    share[:, telling] = (share[:, telling] + (y[:, None] > 0)) / 2
    indices = (edges[:-1] + (share * np.diff(edges)).astype(np.int64)).astype(np.int32)
    values = rng.integers(1, 4, rows * entries).astype(np.float64)
    indptr = np.arange(0, rows * entries + 1, entries, dtype=np.int32)
    return sp.csr_matrix((values, indices.ravel(), indptr), shape=(rows, width)), y


def flip_some_labels(y: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Return the labels with some of them flipped."""
    return np.where(np.random.default_rng(1).random(len(y)) < LABEL_NOISE, -y, y).astype(np.int8)


def make_calls(bare: BareLoop, job: EpochTask, epochs: int) -> dict[str, Callable[[], Any]]:
    """Return everyone's call from the same arrays to fitted weights."""
    from sklearn.linear_model import Perceptron, SGDClassifier

    import weigh
    from weigh.learn.online_training import pass_order

    def fit(make: Callable[..., Any], **settings: Any) -> Any:
        return make(max_iter=epochs, shuffle=job.shuffle, random_state=0, **settings).fit(job.X, job.y)

    orders = None
    if job.shuffle:
        orders = np.concatenate([pass_order(len(job.y), 0, number) for number in range(epochs)])
    constant = {"learning_rate": "constant", "eta0": 1.0, "penalty": None, "tol": None}
    return {
        BARE_LOOP: partial(bare.run, job, epochs, orders),
        OURS: partial(fit, weigh.Perceptron),
        PLAIN: partial(fit, Perceptron, tol=None),
        AVERAGED: partial(fit, SGDClassifier, loss="perceptron", average=True, **constant),
    }


def check_agreement(found: dict[str, Callable[[], Any]]) -> int:
    """Compare the weights of the bare loop with ours; return the mistakes of the run."""
    _, mean = found[BARE_LOOP]()
    fitted = found[OURS]()
    weights = np.append(fitted.intercept_, fitted.coef_)
    if not np.allclose(weights, mean, rtol=1e-9, atol=1e-9):
        raise SystemExit("The bare loop and weigh.Perceptron disagree: they do not do the same work.")
    return int(fitted.mistakes_)


def count_passes(name: str, result: Any) -> int:
    """How many passes a fit has made; one that finds nothing to change is the last."""
    return int(result[0] if name == BARE_LOOP else result.n_iter_)


def epoch_table(bare: BareLoop, job: EpochTask, repeats: int) -> str:
    """Return the table of a first epoch and a further one, and what is asked of it."""
    once, often = make_calls(bare, job, 1), make_calls(bare, job, 1 + N_FURTHER_EPOCHS)
    groups = {"once": once, "often": often}
    mistakes = check_agreement(once)
    check_agreement(often)
    turns = [TimedCall(f"{name}, {label}", group[name]) for name in once for label, group in groups.items()]
    timings = time_in_turns(turns, repeats)
    first, many = (dict(zip(once, timings[k::2], strict=True)) for k in (0, 1))
    further = {name: _further_epoch_seconds(name, first[name], many[name]) for name in once}
    nanoseconds = 1e9 / job.X.nnz
    head = ["", "first epoch, min", "median", "ns per non-zero", "÷ bare", "further epoch", "ns", "÷ bare"]
    body = []
    for name, timing in first.items():
        one = [
            format_duration(timing.best),
            format_duration(timing.median),
            f"{timing.best * nanoseconds:.2f}",
        ]
        more = [format_duration(further[name]), f"{further[name] * nanoseconds:.2f}"]
        ratios = [f"{timing.best / first[BARE_LOOP].best:.2f}", f"{further[name] / further[BARE_LOOP]:.2f}"]
        body.append([name, *one, ratios[0], *more, ratios[1]])
    said = f"{mistakes:,} mistakes in the first epoch of {len(job.y):,} rows."
    return f"{format_markdown_table(head, body)}\n\n{said} {format_targets(first, further, job.shuffle)}"


def _further_epoch_seconds(name: str, first: Timing, many: Timing) -> float:
    return (many.best - first.best) / max(count_passes(name, many.result) - 1, 1)


def format_targets(first: dict[str, Timing], further: dict[str, float], is_shuffled: bool) -> str:
    """Say how the figures stand to what is wanted of them."""
    ours = first[OURS].best
    loop = ours / first[BARE_LOOP].best, further[OURS] / further[BARE_LOOP]
    parts = [
        f"{loop[0]:.2f} and {loop[1]:.2f} times the bare loop (wanted: at most 1.3)",
        f"{first[PLAIN].best / ours:.2f} times as fast as Perceptron (wanted: at least 1)",
        f"{first[AVERAGED].best / ours:.2f} times as fast as averaged SGD"
        + (" (wanted: at least 2)" if is_shuffled else ""),
    ]
    return f"weigh: {'; '.join(parts)}."


def speed_tables(size: str, repeats: int) -> str:
    """Return the tables: few and many mistakes, in order and shuffled."""
    X, y = make_text_like_rows(*SIZES[size])
    rows, width, entries = SIZES[size]
    parts = [f"{rows:,} × {width:,}, {entries} non-zeros a row, two classes; one thread"]
    with tempfile.TemporaryDirectory() as folder:
        bare = BareLoop(Path(folder))
        for labels, name in ((flip_some_labels(y), "many mistakes"), (y, "few mistakes, separable")):
            for shuffle in (False, True):
                how = "shuffled" if shuffle else "in order"
                parts += [
                    f"{name}, {how}".capitalize(),
                    epoch_table(bare, EpochTask(X, labels, shuffle), repeats),
                ]
    return "\n\n".join(parts)
