"""Bias–variance decompositions whose parts add up to the loss of every row.

With p_r the prediction of the learner trained on set r of R, and m the mean of p_r over the sets:

    squared         mean of ‖p_r − y‖²  =  ‖m − y‖²  +  mean of ‖p_r − m‖²        (bias², variance)

The decomposition of the zero-one loss by Kohavi & Wolpert (1996) is half of this for one-hot predictions and
labels: with P(c) the fraction of sets that predict class c, bias² = ½ Σ ([y = c] − P(c))² and variance =
½ (1 − Σ P(c)²). Domingos (2000) uses the main prediction, the class that most sets predict (the first of tied
classes):

    main = y        bias 0,  variance +P(class ≠ main)     unbiased variance, which increases the loss
    main ≠ y        bias 1,  variance −P(y)                biased variance, which decreases the loss

If the true means or probabilities of the labels are known, bias is measured against them, and noise is the
remainder of the measured loss. It may be negative in a single row; its expectation is the label noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.immutable import Immutable
from weigh.judge.metrics.confidence_intervals import standard_error
from weigh.judge.metrics.losses import Floats

Codes = npt.NDArray[np.int64]

BOOTSTRAP_SAMPLES, BOOTSTRAP_SEED = 200, 0


@dataclass(frozen=True, eq=False)
class Decomposition(Immutable):
    """The loss of every row and its parts, which add up to it.

    `rounds_errors` has the standard errors of the mean loss and of the mean parts that are due to the finite
    number of training sets. For squares they come from the jackknife over the sets; for the main prediction,
    which a single set can change, from the bootstrap.
    """

    loss: Floats
    parts: Mapping[str, Floats]
    rounds_errors: Mapping[str, float]
    rounds: int

    def mean(self, name: str) -> float:
        """Return the mean over the rows of a part, or of the loss for "loss"."""
        return float((self.loss if name == "loss" else self.parts[name]).mean())

    def error_of_rounds(self, name: str) -> float:
        """Return the standard error of a mean that is due to the finite number of training sets."""
        return self.rounds_errors[name]

    def error_of_rows(self, name: str) -> float:
        """Return the standard error of a mean that is due to the finite number of test rows, or NaN."""
        values = self.loss if name == "loss" else self.parts[name]
        return float(standard_error(values))

    def corrected(self) -> dict[str, float] | None:
        """Return unbiased estimates of bias² and variance for infinitely many training sets.

        These are variance · R / (R − 1) and bias² − variance / (R − 1). None for Domingos' decomposition,
        whose parts are not squares.
        """
        if "variance" not in self.parts:
            return None
        excess = self.mean("variance") / (self.rounds - 1)
        return {"bias": self.mean("bias") - excess, "variance": self.mean("variance") + excess}


def decompose_squared_loss(
    predicted: Sequence[Floats] | Floats, true: Floats, true_mean: Floats | None = None
) -> Decomposition:
    """Decompose squared losses.

    Parameters
    ----------
    predicted : [rounds, rows, outputs]
    true : [rows, outputs], the labels
    true_mean : [rows, outputs], true means of the labels, or None if they are unknown
    """
    mean = np.asarray(sum(predicted) / len(predicted))
    target = true if true_mean is None else true_mean
    mean_error, label_error = mean - target, target - true

    def statistics(prediction: Floats) -> tuple[Floats, ...]:
        deviation = prediction - mean
        squares = np.square(prediction - true), np.square(deviation)
        return tuple(
            table.sum(axis=1) for table in (*squares, mean_error * deviation, label_error * deviation)
        )

    # One set at a time: tables of all sets at once would need several times the memory of the predictions.
    losses, squared_deviations, bias_products, noise_products = np.array(
        [statistics(each) for each in predicted]
    ).transpose(1, 0, 2)
    bias = np.square(mean_error).sum(axis=1)
    noise = None if true_mean is None else (label_error * (mean_error + mean - true)).sum(axis=1)
    return _squared_decomposition(losses, squared_deviations, bias_products, noise_products, bias, noise)


def decompose_kohavi_wolpert(
    predicted: Codes, true: Codes, k: int, true_proba: Floats | None = None
) -> Decomposition:
    """Decompose zero-one losses of k classes into squares.

    Parameters
    ----------
    predicted : [rounds, rows] class codes
    true : [rows] class codes
    true_proba : [rows, k] true probabilities of the classes, or None if they are unknown
    """
    vote_shares = _count_votes(predicted, np.ones(len(predicted)), k) / len(predicted)
    label = one_hot(true, k)
    target = label if true_proba is None else true_proba
    mean_error, label_error = vote_shares - target, target - label

    def deviation_product(table: Floats) -> Floats:
        """Return the products [rounds, rows] of a table [rows, k] with one-hot predictions minus P."""
        return np.asarray(table[np.arange(len(true)), predicted] - (table * vote_shares).sum(axis=1))

    losses = np.asarray(predicted != true, np.float64)
    squared_deviations = 0.5 * (1.0 - np.square(vote_shares).sum(axis=1)) - deviation_product(vote_shares)
    bias = 0.5 * np.square(mean_error).sum(axis=1)
    noise = 0.5 * (label_error * (mean_error + vote_shares - label)).sum(axis=1)
    return _squared_decomposition(
        losses,
        squared_deviations,
        0.5 * deviation_product(mean_error),
        0.5 * deviation_product(label_error),
        bias,
        None if true_proba is None else noise,
    )


def _squared_decomposition(
    losses: Floats,
    squared_deviations: Floats,
    bias_products: Floats,
    noise_products: Floats,
    bias: Floats,
    noise: Floats | None,
) -> Decomposition:
    """Return bias², variance and noise with jackknife errors, from tables [rounds, rows].

    With m the mean prediction, g the target and d = p − m: `squared_deviations` is ‖d‖², `bias_products`
    (m − g)·d and `noise_products` (g − y)·d. The noise ‖m − y‖² − ‖m − g‖² = (g − y)·(2 m − g − y) is zero if
    target and label are equal.
    """
    n_others = len(losses) - 1
    loss, variance = losses.mean(axis=0), squared_deviations.mean(axis=0)
    set_deviations = squared_deviations.mean(axis=1)
    # The mean prediction without set r is m − d_r / (R − 1).
    leave_one_out = {
        "loss": ((n_others + 1) * loss.mean() - losses.mean(axis=1)) / n_others,
        "bias": bias.mean() - 2 * bias_products.mean(axis=1) / n_others + set_deviations / n_others**2,
        "variance": (n_others + 1) * (variance.mean() - set_deviations / n_others) / n_others,
    }
    parts = {"bias": bias, "variance": variance}
    if noise is not None:
        parts["noise"] = noise
        leave_one_out["noise"] = noise.mean() - 2 * noise_products.mean(axis=1) / n_others
    errors = {
        name: float(np.sqrt(n_others)) * _standard_deviation(means) for name, means in leave_one_out.items()
    }
    return Decomposition(loss, parts, errors, n_others + 1)


def decompose_domingos(
    predicted: Codes, true: Codes, k: int, true_proba: Floats | None = None
) -> Decomposition:
    """Decompose zero-one losses of k classes by the main prediction.

    The parameters are those of `decompose_kohavi_wolpert`.
    """
    rounds = len(predicted)
    target = true if true_proba is None else np.asarray(true_proba.argmax(axis=1), np.int64)

    def weighted_parts(set_weights: Floats) -> dict[str, Floats]:
        parts = _domingos_parts(_count_votes(predicted, set_weights, k), true, target)
        if true_proba is not None:
            parts["noise"] = parts["loss"] - sum(part for name, part in parts.items() if name != "loss")
        return parts

    parts = weighted_parts(np.ones(rounds))
    samples = np.random.default_rng(BOOTSTRAP_SEED).multinomial(
        rounds, np.full(rounds, 1 / rounds), BOOTSTRAP_SAMPLES
    )
    means = [
        {name: part.mean() for name, part in weighted_parts(weights).items()}
        for weights in samples.astype(float)
    ]
    errors = {name: _standard_deviation(np.array([each[name] for each in means])) for name in parts}
    # The loss is a mean over the sets, so its standard error has a closed form.
    errors["loss"] = _standard_deviation((predicted != true).mean(axis=1)) / float(np.sqrt(rounds - 1))
    return Decomposition(parts.pop("loss"), parts, errors, rounds)


def _count_votes(predicted: Codes, set_weights: Floats, k: int) -> Floats:
    """Return the weighted number of sets that predict each class for each row [rows, k]."""
    n_rows = predicted.shape[1]
    cells = (np.arange(n_rows) * k + predicted).ravel()
    votes = np.bincount(cells, np.repeat(set_weights, n_rows), n_rows * k)
    return np.asarray(votes.reshape(n_rows, k), np.float64)


def _standard_deviation(values: Floats) -> float:
    """Return the standard deviation, which is exactly zero if all values are equal."""
    return float((values - values[0]).std())


def _domingos_parts(votes: Floats, true: Codes, target: Codes) -> dict[str, Floats]:
    """Return loss, bias and signed variances [rows] from the votes [rows, k]."""
    shares = votes / votes.sum(axis=1, keepdims=True)
    rows, main = np.arange(len(shares)), shares.argmax(axis=1)
    is_biased = main != target
    return {
        "loss": 1.0 - shares[rows, true],
        "bias": is_biased.astype(np.float64),
        "variance_unbiased": np.where(is_biased, 0.0, 1.0 - shares[rows, main]),
        "variance_biased": np.where(is_biased, -shares[rows, target], 0.0),
    }


def one_hot(codes: npt.NDArray[Any], k: int) -> Floats:
    """Return codes of k classes as one-hot vectors on a new last axis."""
    return np.asarray(np.eye(k)[codes], np.float64)
