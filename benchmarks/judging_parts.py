"""Bias and variance, and learning curves, beside the programs that offer them too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold, learning_curve, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import weigh
from benchmarks.adult import NUMBERS, read
from benchmarks.harness import Contestant, race, ratio_table

ROUNDS = 200
SIZES = (200, 600, 2_000, 6_000, 20_000)


def job(repeats: int) -> str:
    try:
        from mlxtend.evaluate import bias_variance_decomp
    except ImportError:
        raise SystemExit("Row b needs mlxtend: pip install mlxtend, or make bench-judging.") from None
    X, y = make_classification(2_000, 20, n_informative=5, n_classes=3, flip_y=0.1, random_state=0)
    train, test, known, asked = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    tree = DecisionTreeClassifier(random_state=0)

    def theirs() -> Any:
        return bias_variance_decomp(tree, train, known, test, asked, "0-1_loss", ROUNDS, random_seed=0)

    def ours(which: str, workers: int) -> Any:
        return weigh.bias_variance(tree, X, y, rounds=ROUNDS, test=0.3, which=which, n_jobs=workers)

    timings = race(
        [
            Contestant("weigh, Kohavi & Wolpert", lambda: ours("kohavi-wolpert", -1)),
            Contestant("weigh, Domingos", lambda: ours("domingos", -1)),
            Contestant("weigh, Kohavi & Wolpert, one core", lambda: ours("kohavi-wolpert", 1)),
            Contestant("mlxtend, which knows one core", theirs),
        ],
        repeats,
    )
    left = [_left(each.result) for each in timings[:3]]
    loss, bias, variance = timings[3].result
    apart = [*(f"{each:.1e}" for each in left), f"{abs(loss - bias - variance):.4f}"]
    title = f"A decision tree, zero-one loss, three classes, 2,000 rows, {ROUNDS} training sets"
    return f"{title}\n\n{ratio_table(timings, {'loss − its parts, most': apart})}"


def _left(found: Any) -> float:
    [one] = found.learners.values()
    return float(np.abs(one.loss - sum(one.parts.values())).max())


def curve_job(data: Path, repeats: int) -> str:
    frame, labels = read(data / "adult" / "train.csv")
    X = frame[NUMBERS].to_numpy(np.float64)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def theirs() -> Any:
        return learning_curve(GaussianNB(), X, labels, train_sizes=list(SIZES), cv=folds, n_jobs=2)

    timings = race(
        [
            Contestant(
                "weigh.learning_curve, with law, intervals and diagnosis",
                lambda: weigh.learning_curve(
                    weigh.NaiveBayes(), X, labels, sizes=SIZES, folds=5, repeats=1, n_jobs=2
                ),
            ),
            Contestant("scikit-learn's learning_curve of GaussianNB", theirs),
        ],
        repeats,
    )
    title = f"Gaussian naive Bayes, {len(X):,} rows of {len(NUMBERS)} numbers, 5 folds, {len(SIZES)} sizes"
    return f"{title}\n\n{ratio_table(timings)}"
