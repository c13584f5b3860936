"""Learners of rows one by one, and the settings that are best for each on a validation part.

The validation part is a fifth of the training rows, stratified and the same for all. Settings are
chosen anew for every number of epochs, so that nobody has to make do with those of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.text_peers import CORES

MARGINS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # in mean squared lengths of a row
KEPT = ("last", "lazy", "averaged", "voted")
DECAYS = (1e-4, 1e-5, 1e-6)

Maker = Callable[..., Any]  # takes random_state and max_iter


@dataclass(frozen=True)
class Split:
    """Rows to learn from and rows to be judged by, as the same matrix for all."""

    X: Any
    y: npt.NDArray[Any]
    X_new: Any
    y_new: npt.NDArray[Any]

    def validation(self) -> Split:
        """Return the training rows alone, a fifth of them to be judged by."""
        from sklearn.model_selection import train_test_split

        places = np.arange(len(self.y))
        kept, judged = train_test_split(places, test_size=0.2, random_state=0, stratify=self.y)
        return Split(self.X[kept], self.y[kept], self.X[judged], self.y[judged])

    def accuracy(self, model: Any) -> float:
        return float(np.mean(model.predict(self.X_new) == self.y_new))

    def hits(self, maker: Maker, seed: int, epochs: int) -> float:
        """Return the accuracy of a learner after so many epochs."""
        return self.accuracy(maker(random_state=seed, max_iter=epochs).fit(self.X, self.y))

    @property
    def square(self) -> float:
        """The mean squared length of a training row."""
        return float(np.sum(np.square(getattr(self.X, "data", self.X))) / self.X.shape[0])


@dataclass
class Choice:
    """What was found on a validation part, by setting and number of epochs."""

    within: Split
    seeds: int
    found: dict[tuple[str, int], float] = field(default_factory=dict)

    def best(self, makers: Mapping[str, Maker], epochs: int) -> str:
        """Return the name of the learner with the best mean accuracy."""
        return max(makers, key=lambda name: self._mean(name, makers[name], epochs)) if len(makers) > 1 else ""

    def _mean(self, name: str, maker: Maker, epochs: int) -> float:
        key = (name, epochs)
        if key not in self.found:
            self.found[key] = sum(self.within.hits(maker, seed, epochs) for seed in range(self.seeds))
        return self.found[key]


def hypotheses(split: Split, kept: Iterable[str], **settings: Any) -> dict[str, float]:
    """Return the accuracy of several hypotheses of one recorded run."""
    import weigh

    model = weigh.Perceptron(record=True, **settings).fit(split.X, split.y).model_
    return {how: split.accuracy(model.keep(how)) for how in kept}


def margins(square: float) -> dict[str, partial[Any]]:
    """Return averaged perceptrons by their margin, in mean squared lengths of a row."""
    import weigh

    return {
        f"margin {share:g} · mean ‖x‖²": partial(weigh.Perceptron, margin=share * square) for share in MARGINS
    }


def perceptrons() -> dict[str, Maker]:
    """Return scikit-learn's Perceptron, without and with penalties."""
    from sklearn.linear_model import Perceptron

    make = partial(Perceptron, tol=None, n_jobs=CORES)
    found: dict[str, Maker] = {"no penalty": make}
    for penalty in ("l2", "l1"):
        for alpha in DECAYS[1:]:
            found[f"{penalty} {alpha:g}"] = partial(make, penalty=penalty, alpha=alpha)
    return found


def descents(losses: Iterable[str]) -> dict[str, Maker]:
    """Return scikit-learn's SGDClassifier with averaged weights, by loss, rate and penalty."""
    from sklearn.linear_model import SGDClassifier

    make = partial(SGDClassifier, average=True, tol=None, n_jobs=CORES)
    found: dict[str, Maker] = {}
    for loss in losses:
        if loss == "perceptron":
            steady = partial(make, loss=loss, learning_rate="constant", eta0=1.0)
            found["perceptron, rate 1, no penalty"] = partial(steady, penalty=None)
            found["perceptron, rate 1, alpha 1e-06"] = partial(steady, alpha=1e-6)
        for alpha in DECAYS:
            found[f"{loss}, alpha {alpha:g}"] = partial(make, loss=loss, alpha=alpha)
    return found
