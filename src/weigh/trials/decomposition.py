"""What a loss is made of: bias, variance and noise, that add up to it row by row.

With p_r the prediction of the learner that was trained on set r of R, and m its mean over the sets:

    squared         mean of ‖p_r − y‖²  =  ‖m − y‖²  +  mean of ‖p_r − m‖²        (bias², variance)

Kohavi & Wolpert's form of the zero-one loss is half of this for predictions and labels written as one 1 among
zeros: with P(c) the share of the sets that lead to class c, bias² = ½ Σ ([y = c] − P(c))² and variance =
½ (1 − Σ P(c)²). Domingos' form takes the main prediction, the class that most sets lead to (of equally
frequent ones the first), and asks whether it is wrong:

    main = y        bias 0,  variance +P(another class than the main one)         it hurts
    main ≠ y        bias 1,  variance −P(y)                                       it helps

Where the true means or probabilities of the labels are known, bias is measured against them, and noise is the
rest of the measured loss: of its own sign in one row, in expectation the noise of the labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.judge.losses import Floats

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The loss of every row, and its parts, which sum to it.

    `without` has, for the loss and each part, its mean over the rows when one set is left out: [rounds].
    """

    loss: Floats
    parts: Mapping[str, Floats]
    without: Mapping[str, Floats]
    rounds: int

    def mean(self, name: str) -> float:
        """The mean over the rows of the loss or of a part."""
        return float((self.loss if name == "loss" else self.parts[name]).mean())

    def error_of_rounds(self, name: str) -> float:
        """The standard error from the finite number of training sets: the jackknife over them."""
        # Less the first, equal means have a spread of zero and not of a rounding.
        left = self.without[name] - self.without[name][0]
        return float(np.sqrt((self.rounds - 1) * left.var()))

    def error_of_rows(self, name: str) -> float:
        """The standard error from the finite number of judged rows; nan of one row."""
        rows = self.loss if name == "loss" else self.parts[name]
        return float(rows.std(ddof=1) / np.sqrt(len(rows))) if len(rows) > 1 else float("nan")

    def corrected(self) -> dict[str, float] | None:
        """Bias² and variance without the share that a finite number of sets adds and takes away.

        variance · R / (R − 1), and bias² − variance / (R − 1): of both the expectation is the same for any
        R. None where the parts are no squares (Domingos).
        """
        if "variance" not in self.parts:
            return None
        more = self.mean("variance") / (self.rounds - 1)
        return {"bias": self.mean("bias") - more, "variance": self.mean("variance") + more}


def squared(predicted: Floats, true: Floats, known: Floats | None = None) -> Decomposition:
    """Take squared losses apart.

    Parameters
    ----------
    predicted : [rounds, rows, outputs]
    true : [rows, outputs], what the predictions are judged by
    known : [rows, outputs] true means of the labels, or None
    """
    rounds = len(predicted)
    centre = predicted.mean(axis=0)
    goal = true if known is None else known
    away = predicted - centre
    spread, miss = np.square(away).sum(axis=2), centre - goal
    losses = np.square(predicted - true).sum(axis=2)
    loss, variance = losses.mean(axis=0), spread.mean(axis=0)
    bias = np.square(miss).sum(axis=1)
    # The centre without set r is the centre less away_r / (R − 1).
    tilt, size = 2 * (miss * away).sum(axis=2).mean(axis=1), spread.mean(axis=1)
    less = rounds - 1
    without = {
        "loss": (rounds * loss.mean() - losses.mean(axis=1)) / less,
        "bias": bias.mean() - tilt / less + size / less**2,
        "variance": rounds * (variance.mean() - size / less) / less,
    }
    return _with_noise(loss, {"bias": bias, "variance": variance}, without, known is not None, rounds)


def kohavi_wolpert(predicted: Codes, true: Codes, k: int, known: Floats | None = None) -> Decomposition:
    """Take zero-one losses of k classes apart into squares.

    Parameters
    ----------
    predicted : [rounds, rows] codes of classes
    true : [rows] codes of classes
    known : [rows, k] true probabilities of the classes, or None
    """
    whole = squared(one_hot(predicted, k), one_hot(true, k), known)
    return Decomposition(
        whole.loss / 2,
        {name: part / 2 for name, part in whole.parts.items()},
        {name: means / 2 for name, means in whole.without.items()},
        whole.rounds,
    )


def domingos(predicted: Codes, true: Codes, k: int, known: Floats | None = None) -> Decomposition:
    """Take zero-one losses of k classes apart by the main prediction; parameters as `kohavi_wolpert`."""
    rounds, rows = predicted.shape
    counts = np.zeros((rows, k))
    np.add.at(counts, (np.arange(rows)[None, :].repeat(rounds, axis=0), predicted), 1.0)
    goal = true if known is None else np.asarray(known.argmax(axis=1), np.int64)
    found = _by_main(counts, true, goal)
    without = {name: np.zeros(rounds) for name in found}
    for code in range(k):
        # One set less is one vote less for what it predicted.
        voted = np.flatnonzero(counts[:, code] > 0)
        fewer = counts[voted]
        fewer[:, code] -= 1.0
        chosen = predicted[:, voted] == code
        for name, part in _by_main(fewer, true[voted], goal[voted]).items():
            without[name] += chosen @ part
    loss = found.pop("loss")
    means = {name: sums / rows for name, sums in without.items()}
    return _with_noise(loss, found, means, known is not None, rounds)


def _by_main(counts: Floats, true: Codes, goal: Codes) -> dict[str, Floats]:
    """Return the loss, and bias and signed variances against the goal, from the votes [rows, k]."""
    share = counts / counts.sum(axis=1, keepdims=True)
    at, main = np.arange(len(share)), share.argmax(axis=1)
    wrong = main != goal
    return {
        "loss": 1.0 - share[at, true],
        "bias": wrong.astype(np.float64),
        "variance_unbiased": np.where(wrong, 0.0, 1.0 - share[at, main]),
        "variance_biased": np.where(wrong, -share[at, goal], 0.0),
    }


def _with_noise(
    loss: Floats, parts: dict[str, Floats], without: dict[str, Floats], is_known: bool, rounds: int
) -> Decomposition:
    if is_known:
        parts = parts | {"noise": loss - sum(parts.values())}
        without = without | {
            "noise": without["loss"] - sum(without[name] for name in parts if name != "noise")
        }
    return Decomposition(loss, parts, without, rounds)


def one_hot(codes: npt.NDArray[Any], k: int) -> Floats:
    """Write codes of k classes as one 1 among zeros, on a new last axis."""
    return np.asarray(np.eye(k)[codes], np.float64)
