"""Decode the movements of a monkey's hand from the firing rates of 95 neurons.

`contdata95.mat` contains firing rates in bins of 50 ms and four kinematic signals. The features are the rates
of the bin and of the 14 before it; the first four fifths of the time are for training, the last fifth for
testing. Five folds of consecutive training rows select the scale of the prior.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.data import RECORDING
from benchmarks.job import CORES, DATA, ROOT
from benchmarks.results import format_duration, format_markdown_table

LAGS, BIN = 15, 0.05
SIGNALS = ("x position", "y position", "x velocity", "y velocity")
PLOT_SECONDS, PLOT_START = 12.0, 60.0  # length and start of the plot within the test part
RIDGE, LASSO = "weigh, ridge, Normal('cv')", "weigh, lasso, Laplace('cv')"
PLOT_PATH = ROOT / "docs" / "decoding.svg"

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Recording:
    """Lagged firing rates [n, d] and signals [n, 4], in order of time."""

    X: Floats
    Y: Floats

    @property
    def n_training_rows(self) -> int:
        return len(self.X) * 4 // 5


def lag_columns(rates: Floats, lags: int) -> Floats:
    """Return every column with its values 1 to lags − 1 rows before; the first lags − 1 rows are dropped."""
    windows = np.lib.stride_tricks.sliding_window_view(rates, lags, axis=0)
    return np.ascontiguousarray(windows.reshape(len(windows), -1))


def read_recording(max_rows: int | None) -> Recording:
    from scipy.io import loadmat

    arrays = loadmat(DATA / RECORDING)
    rates, signals = (np.asarray(arrays[name], dtype=np.float64)[:max_rows] for name in ("Y", "X"))
    return Recording(lag_columns(rates, LAGS), signals[LAGS - 1 :])


@dataclass(frozen=True)
class Decoder:
    """A factory of a regressor, and whether one fit takes all signals."""

    make: Callable[[], Any]
    together: bool = False

    def fit_predict(self, recording: Recording) -> tuple[Floats, float, float]:
        """Return the predictions on the test part, the seconds of fitting and the mean non-zero weights."""
        n = recording.n_training_rows
        X, Y, X_test = recording.X[:n], recording.Y[:n], recording.X[n:]
        predictions, seconds, n_nonzero = [], 0.0, []
        for target in [Y] if self.together else list(Y.T):
            model = self.make()
            start = time.perf_counter()
            model.fit(X, target)
            seconds += time.perf_counter() - start
            predictions.append(np.asarray(model.predict(X_test)).reshape(len(X_test), -1))
            n_nonzero.append(float(np.count_nonzero(model.coef_)))
        return np.hstack(predictions), seconds, sum(n_nonzero) / Y.shape[1]


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


def r2(y_true: Floats, y_pred: Floats) -> float:
    return 1.0 - float(np.square(y_true - y_pred).sum() / np.square(y_true - y_true.mean()).sum())


def decode_all(recording: Recording) -> tuple[str, dict[str, Floats]]:
    """Return the table of R² and seconds, and the predictions of every decoder on the test part."""
    body, predictions, Y_test = [], {}, recording.Y[recording.n_training_rows :]
    for name, decoder in make_decoders().items():
        prediction, seconds, n_nonzero = decoder.fit_predict(recording)
        scores = [r2(Y_test[:, j], prediction[:, j]) for j in range(Y_test.shape[1])]
        predictions[name] = prediction
        cells = [f"{score:.4f}" for score in [*scores, float(np.mean(scores))]]
        body.append([name, *cells, format_duration(seconds), f"{n_nonzero:,.0f}"])
    head = ["R² of the held-out fifth", *SIGNALS, "mean", "seconds of four fits", "weights not zero, mean"]
    return format_markdown_table(head, body), predictions


def plot_decoding(recording: Recording, predictions: dict[str, Floats]) -> Any:
    """Plot some seconds of the first signal: measured, and decoded by ridge and lasso."""
    from weigh.pictures import line_chart

    start = int(PLOT_START / BIN)
    indices = range(start, start + int(PLOT_SECONDS / BIN))
    series = {"measured": recording.Y[recording.n_training_rows :, 0]}
    for name, prior in ((RIDGE, "ridge"), (LASSO, "lasso")):
        series[f"decoded, {prior}"] = predictions[name][:, 0]
    rows = [
        {"series": name, "x": round(i * BIN, 2), "y": round(float(values[i]), 2)}
        for name, values in series.items()
        for i in indices
    ]
    return line_chart(rows, "seconds of the held-out part", SIGNALS[0], "Where a hand is, from 95 neurons")


def decoding_table(quick: bool) -> str:
    """Return the table; a full run also writes docs/decoding.svg."""
    recording = read_recording(3_000 if quick else None)
    table, predictions = decode_all(recording)
    if not quick:
        from weigh.pictures import image

        image(plot_decoding(recording, predictions), PLOT_PATH)
    rows, width = recording.X.shape
    return f"{rows:,} × {width:,}, of which {recording.n_training_rows:,} rows train\n\n{table}"
