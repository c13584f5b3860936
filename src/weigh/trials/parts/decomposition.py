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

from weigh.judge.measures.losses import Floats

Codes = npt.NDArray[np.int64]

SAMPLES, SEED = 200, 0


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The loss of every row, and its parts, which sum to it.

    `rounds_errors` has the standard errors of the mean loss and the mean parts that come from the finite
    number of training sets: of squares the jackknife over the sets; of the main prediction, which may turn
    with a single set, the bootstrap over them.
    """

    loss: Floats
    parts: Mapping[str, Floats]
    rounds_errors: Mapping[str, float]
    rounds: int

    def mean(self, name: str) -> float:
        """The mean over the rows of the loss or of a part."""
        return float((self.loss if name == "loss" else self.parts[name]).mean())

    def error_of_rounds(self, name: str) -> float:
        """The standard error of the mean loss or part from the finite number of training sets."""
        return self.rounds_errors[name]

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
    parts = {"bias": bias, "variance": variance}
    if known is not None:
        parts["noise"] = loss - bias - variance
        without["noise"] = without["loss"] - without["bias"] - without["variance"]
    errors = {name: float(np.sqrt(less)) * _spread(left) for name, left in without.items()}
    return Decomposition(loss, parts, errors, rounds)


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
        {name: error / 2 for name, error in whole.rounds_errors.items()},
        whole.rounds,
    )


def domingos(predicted: Codes, true: Codes, k: int, known: Floats | None = None) -> Decomposition:
    """Take zero-one losses of k classes apart by the main prediction; parameters as `kohavi_wolpert`."""
    rounds, rows = predicted.shape
    goal = true if known is None else np.asarray(known.argmax(axis=1), np.int64)
    votes = one_hot(predicted, k).reshape(rounds, rows * k)

    def counted(times: Floats) -> dict[str, Floats]:
        """Return loss and parts where each set counts so many times."""
        found = _by_main((times @ votes).reshape(rows, k), true, goal)
        if known is not None:
            found["noise"] = found["loss"] - sum(part for name, part in found.items() if name != "loss")
        return found

    found = counted(np.ones(rounds))
    drawn = np.random.default_rng(SEED).multinomial(rounds, np.full(rounds, 1 / rounds), SAMPLES)
    means = [{name: part.mean() for name, part in counted(times).items()} for times in drawn.astype(float)]
    errors = {name: _spread(np.array([each[name] for each in means])) for name in found}
    # The loss is a mean over the sets, and its error needs no chance.
    errors["loss"] = _spread((predicted != true).mean(axis=1)) / float(np.sqrt(rounds - 1))
    return Decomposition(found.pop("loss"), found, errors, rounds)


def _spread(values: Floats) -> float:
    """Return the standard deviation; of equal values zero, and not their rounding."""
    return float((values - values[0]).std())


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


def one_hot(codes: npt.NDArray[Any], k: int) -> Floats:
    """Write codes of k classes as one 1 among zeros, on a new last axis."""
    return np.asarray(np.eye(k)[codes], np.float64)
