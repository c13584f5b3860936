"""The speed of an epoch over sparse rows: a bare loop in C++, weigh, and scikit-learn.

The rows resemble bags of words: entry j of a row is drawn from the j-th of 75 column ranges that widen
geometrically, as in Zipf's law, so that the first columns are frequent and the last ones rare. In some
ranges the class decides which half is drawn, which makes the rows separable after few mistakes; flipping
30 % of the labels causes many. The bare loop and weigh make the same mistakes in the same order, and their
weights are compared before anything is timed.
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
N_INFORMATIVE_RANGES = 12  # column ranges whose halves depend on the class
LABEL_NOISE = 0.3
N_FURTHER_EPOCHS = 5  # epochs after the first; their mean is the cost of a further epoch
BARE_LOOP = "bare loop"
OURS = "weigh.Perceptron, averaged"
PLAIN = "scikit-learn Perceptron, not averaged"
AVERAGED = "scikit-learn SGDClassifier, averaged"

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class EpochTask:
    """Rows, labels −1 and 1, and whether to shuffle the rows before every pass."""

    X: Any
    y: npt.NDArray[np.int8]
    shuffle: bool


class BareLoop:
    """An averaged perceptron in plain C++, compiled into a folder."""

    def __init__(self, folder: Path) -> None:
        library = folder / "bare_perceptron.so"
        source = ROOT / "benchmarks" / "bare_perceptron.cpp"
        compiler = os.environ.get("CXX", "c++")
        subprocess.run(
            [compiler, "-O3", "-std=c++20", "-shared", "-fPIC", str(source), "-o", str(library)], check=True
        )
        self._call = ctypes.CDLL(str(library)).averaged_perceptron
        self._call.restype = ctypes.c_int64

    def run(self, task: EpochTask, epochs: int, orders: Longs | None) -> tuple[int, npt.NDArray[np.float64]]:
        """Return the number of passes made and the averaged weights, intercept first."""
        rows, width = task.X.shape
        table, mean = np.zeros((width + 1, 2)), np.empty(width + 1)
        arrays = [task.X.indptr, task.X.indices, task.X.data, task.y, orders]
        pointers = [None if array is None else ctypes.c_void_p(array.ctypes.data) for array in arrays]
        sizes = [ctypes.c_int64(epochs), ctypes.c_int64(width)]
        outputs = [ctypes.c_void_p(array.ctypes.data) for array in (table, mean)]
        return int(self._call(ctypes.c_int64(rows), *pointers, *sizes, *outputs)), mean


def make_text_like_rows(rows: int, width: int, entries: int) -> tuple[Any, npt.NDArray[np.int8]]:
    """Return a CSR matrix with `entries` non-zeros per row, and labels for which it is separable."""
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    edges = np.geomspace(4, width, entries + 1).astype(np.int64)
    edges[0] = 0
    edges = np.maximum(edges, 2 * np.arange(entries + 1))
    y = np.where(rng.random(rows) < 0.5, -1, 1).astype(np.int8)
    position = rng.random((rows, entries))
    informative = np.linspace(0, entries - 1, N_INFORMATIVE_RANGES).astype(int)
    position[:, informative] = (position[:, informative] + (y[:, None] > 0)) / 2
    indices = (edges[:-1] + (position * np.diff(edges)).astype(np.int64)).astype(np.int32)
    values = rng.integers(1, 4, rows * entries).astype(np.float64)
    indptr = np.arange(0, rows * entries + 1, entries, dtype=np.int32)
    return sp.csr_matrix((values, indices.ravel(), indptr), shape=(rows, width)), y


def flip_some_labels(y: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Return the labels with a share `LABEL_NOISE` of them flipped."""
    return np.where(np.random.default_rng(1).random(len(y)) < LABEL_NOISE, -y, y).astype(np.int8)


def make_calls(bare: BareLoop, task: EpochTask, epochs: int) -> dict[str, Callable[[], Any]]:
    """Return the fit of every learner on the same arrays, by name."""
    from sklearn.linear_model import Perceptron, SGDClassifier

    import weigh
    from weigh.learn.online_training import pass_order

    def fit(make: Callable[..., Any], **settings: Any) -> Any:
        return make(max_iter=epochs, shuffle=task.shuffle, random_state=0, **settings).fit(task.X, task.y)

    orders = None
    if task.shuffle:
        orders = np.concatenate([pass_order(len(task.y), 0, epoch) for epoch in range(epochs)])
    constant = {"learning_rate": "constant", "eta0": 1.0, "penalty": None, "tol": None}
    return {
        BARE_LOOP: partial(bare.run, task, epochs, orders),
        OURS: partial(fit, weigh.Perceptron),
        PLAIN: partial(fit, Perceptron, tol=None),
        AVERAGED: partial(fit, SGDClassifier, loss="perceptron", average=True, **constant),
    }


def check_agreement(calls: dict[str, Callable[[], Any]]) -> int:
    """Check that the bare loop and weigh find the same weights; return the number of mistakes."""
    _, bare_weights = calls[BARE_LOOP]()
    fitted = calls[OURS]()
    weights = np.append(fitted.intercept_, fitted.coef_)
    if not np.allclose(weights, bare_weights, rtol=1e-9, atol=1e-9):
        raise SystemExit(
            "The weights of the bare loop and of weigh.Perceptron differ, so their times are not comparable."
        )
    return int(fitted.mistakes_)


def count_passes(name: str, result: Any) -> int:
    """Return the number of passes of a fit, which ends early after a pass without mistakes."""
    return int(result[0] if name == BARE_LOOP else result.n_iter_)


def epoch_table(bare: BareLoop, task: EpochTask, repeats: int) -> str:
    """Return the table of the first and of a further epoch, with a sentence on the targets."""
    single, several = make_calls(bare, task, 1), make_calls(bare, task, 1 + N_FURTHER_EPOCHS)
    groups = {"once": single, "often": several}
    mistakes = check_agreement(single)
    check_agreement(several)
    calls = [TimedCall(f"{name}, {label}", group[name]) for name in single for label, group in groups.items()]
    timings = time_in_turns(calls, repeats)
    first, many = (dict(zip(single, timings[k::2], strict=True)) for k in (0, 1))
    further = {name: _further_epoch_seconds(name, first[name], many[name]) for name in single}
    nanoseconds = 1e9 / task.X.nnz
    head = ["", "first epoch, min", "median", "ns per non-zero", "÷ bare", "further epoch", "ns", "÷ bare"]
    body = []
    for name, timing in first.items():
        first_cells = [
            format_duration(timing.best),
            format_duration(timing.median),
            f"{timing.best * nanoseconds:.2f}",
        ]
        further_cells = [format_duration(further[name]), f"{further[name] * nanoseconds:.2f}"]
        ratios = [f"{timing.best / first[BARE_LOOP].best:.2f}", f"{further[name] / further[BARE_LOOP]:.2f}"]
        body.append([name, *first_cells, ratios[0], *further_cells, ratios[1]])
    note = f"{mistakes:,} mistakes in the first epoch of {len(task.y):,} rows."
    return f"{format_markdown_table(head, body)}\n\n{note} {format_targets(first, further, task.shuffle)}"


def _further_epoch_seconds(name: str, first: Timing, many: Timing) -> float:
    return (many.best - first.best) / max(count_passes(name, many.result) - 1, 1)


def format_targets(first: dict[str, Timing], further: dict[str, float], is_shuffled: bool) -> str:
    """Return a sentence that compares the figures with their targets."""
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
    """Return the tables for few and many mistakes, in order and shuffled."""
    X, y = make_text_like_rows(*SIZES[size])
    rows, width, entries = SIZES[size]
    parts = [f"{rows:,} × {width:,}, {entries} non-zeros a row, two classes; one thread"]
    with tempfile.TemporaryDirectory() as folder:
        bare = BareLoop(Path(folder))
        for labels, name in ((flip_some_labels(y), "many mistakes"), (y, "few mistakes, separable")):
            for shuffle in (False, True):
                order = "shuffled" if shuffle else "in order"
                parts += [
                    f"{name}, {order}".capitalize(),
                    epoch_table(bare, EpochTask(X, labels, shuffle), repeats),
                ]
    return "\n\n".join(parts)
