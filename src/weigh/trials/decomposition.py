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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.judge.metrics.losses import Floats

Codes = npt.NDArray[np.int64]

BOOTSTRAP_SAMPLES, BOOTSTRAP_SEED = 200, 0


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


def decompose_squared_loss(
    predicted: Sequence[Floats] | Floats, true: Floats, known: Floats | None = None
) -> Decomposition:
    """Take squared losses apart.

    Parameters
    ----------
    predicted : [rounds, rows, outputs]
    true : [rows, outputs], what the predictions are judged by
    known : [rows, outputs] true means of the labels, or None
    """
    centre = np.asarray(sum(predicted) / len(predicted))
    goal = true if known is None else known
    miss, odd = centre - goal, goal - true

    def of_set(answer: Floats) -> tuple[Floats, ...]:
        away = answer - centre
        tables = (np.square(answer - true), np.square(away), miss * away, odd * away)
        return tuple(table.sum(axis=1) for table in tables)

    # Set by set: tables of all sets at once would be as large as all answers, several times.
    losses, spread, lean, stray = np.array([of_set(each) for each in predicted]).transpose(1, 0, 2)
    bias, noise = np.square(miss).sum(axis=1), (odd * (miss + centre - true)).sum(axis=1)
    return _squared_decomposition(losses, spread, lean, stray, bias, None if known is None else noise)


def decompose_kohavi_wolpert(
    predicted: Codes, true: Codes, k: int, known: Floats | None = None
) -> Decomposition:
    """Take zero-one losses of k classes apart into squares.

    Parameters
    ----------
    predicted : [rounds, rows] codes of classes
    true : [rows] codes of classes
    known : [rows, k] true probabilities of the classes, or None
    """
    share = _count_votes(predicted, np.ones(len(predicted)), k) / len(predicted)
    label = one_hot(true, k)
    goal = label if known is None else known
    miss, odd = share - goal, goal - label

    def away(table: Floats) -> Floats:
        """Return the product of a table [rows, k] and every prediction, as one 1 among zeros, less P."""
        return np.asarray(table[np.arange(len(true)), predicted] - (table * share).sum(axis=1))

    losses = np.asarray(predicted != true, np.float64)
    spread = 0.5 * (1.0 - np.square(share).sum(axis=1)) - away(share)
    bias, noise = 0.5 * np.square(miss).sum(axis=1), 0.5 * (odd * (miss + share - label)).sum(axis=1)
    return _squared_decomposition(
        losses, spread, 0.5 * away(miss), 0.5 * away(odd), bias, None if known is None else noise
    )


def _squared_decomposition(
    losses: Floats, spread: Floats, lean: Floats, stray: Floats, bias: Floats, noise: Floats | None
) -> Decomposition:
    """Return the parts of squares with their errors, from tables [rounds, rows].

    With m the mean prediction, g the goal and d = p − m: `spread` is ‖d‖², `lean` (m − g)·d and `stray`
    (g − y)·d. The noise ‖m − y‖² − ‖m − g‖² = (g − y)·(2 m − g − y) is zero where goal and label are one.
    """
    less = len(losses) - 1
    loss, variance = losses.mean(axis=0), spread.mean(axis=0)
    size = spread.mean(axis=1)
    # The centre without set r is the centre less d_r / (R − 1).
    without = {
        "loss": ((less + 1) * loss.mean() - losses.mean(axis=1)) / less,
        "bias": bias.mean() - 2 * lean.mean(axis=1) / less + size / less**2,
        "variance": (less + 1) * (variance.mean() - size / less) / less,
    }
    parts = {"bias": bias, "variance": variance}
    if noise is not None:
        parts["noise"] = noise
        without["noise"] = noise.mean() - 2 * stray.mean(axis=1) / less
    errors = {name: float(np.sqrt(less)) * _standard_deviation(left) for name, left in without.items()}
    return Decomposition(loss, parts, errors, less + 1)


def decompose_domingos(predicted: Codes, true: Codes, k: int, known: Floats | None = None) -> Decomposition:
    """Take zero-one losses of k classes apart by the main prediction; parameters as `kohavi_wolpert`."""
    rounds = len(predicted)
    goal = true if known is None else np.asarray(known.argmax(axis=1), np.int64)

    def counted(times: Floats) -> dict[str, Floats]:
        """Return loss and parts where each set counts so many times."""
        found = _domingos_parts(_count_votes(predicted, times, k), true, goal)
        if known is not None:
            found["noise"] = found["loss"] - sum(part for name, part in found.items() if name != "loss")
        return found

    found = counted(np.ones(rounds))
    drawn = np.random.default_rng(BOOTSTRAP_SEED).multinomial(
        rounds, np.full(rounds, 1 / rounds), BOOTSTRAP_SAMPLES
    )
    means = [{name: part.mean() for name, part in counted(times).items()} for times in drawn.astype(float)]
    errors = {name: _standard_deviation(np.array([each[name] for each in means])) for name in found}
    # The loss is a mean over the sets, and its error needs no chance.
    errors["loss"] = _standard_deviation((predicted != true).mean(axis=1)) / float(np.sqrt(rounds - 1))
    return Decomposition(found.pop("loss"), found, errors, rounds)


def _count_votes(predicted: Codes, times: Floats, k: int) -> Floats:
    """Return how often each row is given each class [rows, k], each set counted so many times."""
    rows = predicted.shape[1]
    places = (np.arange(rows) * k + predicted).ravel()
    return np.asarray(np.bincount(places, np.repeat(times, rows), rows * k).reshape(rows, k), np.float64)


def _standard_deviation(values: Floats) -> float:
    """Return the standard deviation; of equal values zero, and not their rounding."""
    return float((values - values[0]).std())


def _domingos_parts(counts: Floats, true: Codes, goal: Codes) -> dict[str, Floats]:
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
