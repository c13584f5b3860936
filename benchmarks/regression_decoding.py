"""Decoding: the movements of a monkey's hand from the firing of 95 neurons.

`contdata95.mat` holds firing rates in bins of 50 ms and four kinematic signals. The columns are the rates of
the bin and of the 14 before it; the first four fifths of the time train, the last fifth judges. The scale of
the prior is chosen by 5 folds of consecutive rows of the training part.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import ROOT, format_duration, format_markdown_table
from benchmarks.text_peers import CORES

RECORDING_FILE = "contdata95.mat"
LAGS, BIN = 15, 0.05
SIGNALS = ("x position", "y position", "x velocity", "y velocity")
PLOT_SECONDS, PLOT_START = 12.0, 60.0  # seconds of the picture, and where in the held-out part it begins
RIDGE, LASSO = "weigh, ridge, Normal('cv')", "weigh, lasso, Laplace('cv')"
PLOT_PATH = ROOT / "docs" / "decoding.svg"

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Recording:
    """Lagged firing rates and signals, in order of time."""

    X: Floats
    Y: Floats

    @property
    def n_training_rows(self) -> int:
        return len(self.X) * 4 // 5


def lag_columns(rates: Floats, lags: int) -> Floats:
    """Return every column beside itself of 1 to lags − 1 rows before; the first rows have no past."""
    windows = np.lib.stride_tricks.sliding_window_view(rates, lags, axis=0)
    return np.ascontiguousarray(windows.reshape(len(windows), -1))


def read_recording(path: Path, most: int | None = None) -> Recording:
    from scipy.io import loadmat

    found = loadmat(path)
    rates, signals = (np.asarray(found[name], dtype=np.float64)[:most] for name in ("Y", "X"))
    return Recording(lag_columns(rates, LAGS), signals[LAGS - 1 :])


@dataclass(frozen=True)
class Decoder:
    """How to make a learner, and whether it takes all signals at once."""

    make: Callable[[], Any]
    together: bool = False

    def fit_predict(self, given: Recording) -> tuple[Floats, float, float]:
        """Return what is predicted of the held-out part, the seconds of fitting, the weights that count."""
        X, Y, held_out = (
            given.X[: given.n_training_rows],
            given.Y[: given.n_training_rows],
            given.X[given.n_training_rows :],
        )
        guesses, seconds, kept = [], 0.0, []
        for target in [Y] if self.together else list(Y.T):
            model = self.make()
            start = time.perf_counter()
            model.fit(X, target)
            seconds += time.perf_counter() - start
            guesses.append(np.asarray(model.predict(held_out)).reshape(len(held_out), -1))
            kept.append(float(np.count_nonzero(model.coef_)))
        return np.hstack(guesses), seconds, sum(kept) / Y.shape[1]


def make_decoders() -> dict[str, Decoder]:
    import weigh

    lm = import_module("sklearn.linear_model")
    few, many = np.geomspace(1e1, 1e7, 10), np.geomspace(1e1, 1e7, 100)
    lasso = partial(lm.LassoCV, cv=5, precompute=True, n_jobs=CORES, max_iter=10_000)
    return {
        "weigh, least squares": Decoder(lambda: weigh.LinearRegression()),
        RIDGE: Decoder(lambda: weigh.LinearRegression(prior=weigh.Normal("cv"))),
        LASSO: Decoder(lambda: weigh.LinearRegression(prior=weigh.Laplace("cv"))),
        f"{LASSO}, tol 1e-4": Decoder(lambda: weigh.LinearRegression(prior=weigh.Laplace("cv"), tol=1e-4)),
        "scikit-learn LinearRegression": Decoder(lambda: lm.LinearRegression(), True),
        "scikit-learn RidgeCV, 5 folds, 10 λ, one for all signals": Decoder(
            lambda: lm.RidgeCV(few, cv=5), True
        ),
        "scikit-learn RidgeCV, leave-one-out, 100 λ": Decoder(
            lambda: lm.RidgeCV(many, alpha_per_target=True), True
        ),
        "scikit-learn LassoCV, 5 folds, 100 λ": Decoder(lasso),
    }


def r2(truth: Floats, found: Floats) -> float:
    return 1.0 - float(np.square(truth - found).sum() / np.square(truth - truth.mean()).sum())


def decode_all(given: Recording) -> tuple[str, dict[str, Floats]]:
    """Return the table of R² and seconds, and what everyone predicts of the held-out part."""
    body, guesses, truth = [], {}, given.Y[given.n_training_rows :]
    for name, decoder in make_decoders().items():
        guess, seconds, kept = decoder.fit_predict(given)
        scores = [r2(truth[:, j], guess[:, j]) for j in range(truth.shape[1])]
        guesses[name] = guess
        cells = [f"{score:.4f}" for score in [*scores, float(np.mean(scores))]]
        body.append([name, *cells, format_duration(seconds), f"{kept:,.0f}"])
        print(f"  {body[-1]}", flush=True)
    head = ["R² of the held-out fifth", *SIGNALS, "mean", "seconds of four fits", "weights not zero, mean"]
    return format_markdown_table(head, body), guesses


def plot_decoding(given: Recording, guesses: dict[str, Floats]) -> Any:
    """Return the picture of some seconds of the first signal: measured, and decoded by ridge and lasso."""
    from weigh.pictures import line_chart

    start = int(PLOT_START / BIN)
    places = range(start, start + int(PLOT_SECONDS / BIN))
    series = {"measured": given.Y[given.n_training_rows :, 0]}
    for name, word in ((RIDGE, "ridge"), (LASSO, "lasso")):
        series[f"decoded, {word}"] = guesses[name][:, 0]
    rows = [
        {"series": name, "x": round(place * BIN, 2), "y": round(float(values[place]), 2)}
        for name, values in series.items()
        for place in places
    ]
    return line_chart(rows, "seconds of the held-out part", SIGNALS[0], "Where a hand is, from 95 neurons")


def decoding_table(data: Path, *, small: bool) -> str:
    """Return the table, or a sentence about what is missing; draw docs/decoding.svg unless it is small."""
    if not (data / RECORDING_FILE).exists():
        return f"Left out, for --data {data} has no {RECORDING_FILE}."
    given = read_recording(data / RECORDING_FILE, 3_000 if small else None)
    shown, guesses = decode_all(given)
    if not small:
        from weigh.pictures import image

        image(plot_decoding(given, guesses), PLOT_PATH)
    rows, width = given.X.shape
    return f"{rows:,} × {width:,}, of which {given.n_training_rows:,} rows train\n\n{shown}"
