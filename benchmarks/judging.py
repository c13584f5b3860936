"""Judging learners, side by side with the peers.

    python -m benchmarks.judging                      all rows
    python -m benchmarks.judging --rows e,b           some of them
    python -m benchmarks.judging --write              also into benchmarks/RESULTS.md

Rows: e all measures of a million predictions; a leave-one-out of a table; b bias and variance, and whether
they add up; l learning curves; r the report on a model.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold, cross_val_predict, learning_curve, train_test_split
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

import weigh
from benchmarks.adult import CATEGORIES, LABEL, NUMBERS, read_adult
from benchmarks.harness import (
    TimedCall,
    describe_machine,
    format_duration,
    format_markdown_table,
    format_ratio_table,
    replace_between_markers,
    time_in_turns,
    time_processes,
)
from benchmarks.row_arguments import RowParser
from benchmarks.text import RESULTS
from benchmarks.text_contenders import installed_distributions

DISTRIBUTIONS = ["weigh", "numpy", "scikit-learn", "mlxtend", "altair"]
JOBS: dict[str, Callable[[argparse.Namespace], str]] = {
    "e": lambda given: measures_table(given.repeats),
    "a": lambda given: leave_one_out_table(given.data, given.repeats),
    "b": lambda given: bias_variance_table(given.repeats),
    "l": lambda given: learning_curve_table(given.data, given.repeats),
    "r": lambda given: report_table(given.data, given.repeats),
}


def parse_arguments() -> argparse.Namespace:
    """Return what was asked; a row that is not there is refused."""
    return RowParser("judging", __doc__, JOBS, repeats=3, data="real data").parse()


def main() -> None:
    given = parse_arguments()
    for row in given.rows:
        found = JOBS[row](given)
        said = f"`python -m benchmarks.judging --rows {row} --repeats {given.repeats}`"
        page = f"{found}\n\n{said}; {describe_machine(installed_distributions(DISTRIBUTIONS))}"
        print(f"\n## {row}\n\n{page}", flush=True)
        if given.write:
            replace_between_markers(RESULTS, f"judging {row}", page)


if __name__ == "__main__":
    main()

N_REFITS = 50


def leave_one_out_table(data: Path, repeats: int) -> str:
    frame, labels = read_adult(data / "adult" / "train.csv")
    frame = frame[CATEGORIES]
    # The peer gets codes, so that only its own work is timed, and all numbers of levels: folds may lack some.
    codes = OrdinalEncoder().fit_transform(frame).astype(np.int64)
    peer = CategoricalNB(min_categories=codes.max(axis=0) + 1)
    model, n = weigh.NaiveBayes(columns="category").fit(frame, labels).model_, len(frame)
    some = np.random.default_rng(0).choice(n, N_REFITS, replace=False).tolist()

    rests = [(np.delete(codes, at, axis=0), np.delete(labels, at)) for at in some]

    def refitted() -> Any:
        return [peer.fit(*rest) for rest in rests]

    timings = time_in_turns(
        [
            TimedCall(
                "weigh: every row left out, from the counts", lambda: model.left_out_scores(frame, labels)
            ),
            TimedCall("weigh.audit: left out, ranked, explained", lambda: weigh.audit(model, frame, labels)),
            TimedCall(
                "scikit-learn: 10 folds in place of leave-one-out",
                lambda: cross_val_predict(peer, codes, labels, cv=10, method="predict_log_proba"),
            ),
            TimedCall(f"scikit-learn: {n:,} refits on codes ({N_REFITS} timed)", refitted),
        ],
        repeats,
    )
    seconds = [each.best * (n / N_REFITS if at == 3 else 1) for at, each in enumerate(timings)]
    rows = [
        [each.name, format_duration(time), f"{time / seconds[0]:,.1f}"]
        for each, time in zip(timings, seconds, strict=True)
    ]
    apart = [_score_difference(model, frame, labels, timings[0].result, at) for at in some]
    told = f"{N_REFITS} rows forgotten one by one get scores that differ by {max(apart):.1e} at most."
    title = f"{LABEL} of Adult, {n:,} rows of {len(CATEGORIES)} categories"
    return f"{title}\n\n{format_markdown_table(['', 'min', '÷ first'], rows)}\n\n{told}"


def _score_difference(model: weigh.BayesModel, frame: Any, labels: Any, left: Any, at: int) -> float:
    """Return how far a row's score is from that of a model that has forgotten it."""
    one = frame.iloc[[at]]
    return float(np.abs(model.forget(one, labels[at : at + 1]).scores(one)[0] - left[at]).max())


N_PREDICTIONS = 1_000_000
N_BOOTSTRAP_SAMPLES = 5  # samples of a bootstrap by hand, of which 1,000 would be wanted


class ProbabilityRows(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped base classes
    """A classifier whose rows are its probabilities: nothing is timed but the judging."""

    classes_ = np.array([0, 1])

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, rows: Any) -> Any:
        """Return the more probable class of every row."""
        return (rows[:, 1] > 0.5).astype(int)

    def predict_proba(self, rows: Any) -> Any:
        """Return the rows."""
        return rows


def sklearn_measures(labels: Any, rows: Any) -> dict[str, Any]:
    """Return the same measures from scikit-learn, which gives no intervals."""
    predicted, shares = (rows[:, 1] > 0.5).astype(int), rows[:, 1]
    return {
        "accuracy": metrics.accuracy_score(labels, predicted),
        "balanced": metrics.balanced_accuracy_score(labels, predicted),
        "classes": metrics.precision_recall_fscore_support(labels, predicted),
        "confusion": metrics.confusion_matrix(labels, predicted),
        "log_loss": metrics.log_loss(labels, shares),
        "brier": metrics.brier_score_loss(labels, shares),
        "roc": (metrics.roc_auc_score(labels, shares), metrics.roc_curve(labels, shares)),
        "pr": (
            metrics.average_precision_score(labels, shares),
            metrics.precision_recall_curve(labels, shares),
        ),
        "reliability": calibration_curve(labels, shares, n_bins=10, strategy="quantile"),
    }


def bootstrap_measures(labels: Any, rows: Any) -> list[dict[str, Any]]:
    """Return the measures of samples of the rows, as one writes a bootstrap by hand."""
    rng = np.random.default_rng(0)
    drawn = (rng.integers(len(labels), size=len(labels)) for _ in range(N_BOOTSTRAP_SAMPLES))
    return [sklearn_measures(labels[at], rows[at]) for at in drawn]


def measures_table(repeats: int) -> str:
    rng = np.random.default_rng(0)
    shares = rng.beta(0.7, 0.9, N_PREDICTIONS)
    labels = (rng.random(N_PREDICTIONS) < shares).astype(int)
    rows = np.column_stack([1 - shares, shares])
    timings = time_in_turns(
        [
            TimedCall(
                "weigh.evaluate, with intervals", lambda: weigh.evaluate(ProbabilityRows(), rows, labels)
            ),
            TimedCall("scikit-learn's metrics, without any", lambda: sklearn_measures(labels, rows)),
        ],
        repeats,
    )
    slow = time_in_turns(
        [
            TimedCall(
                f"the same in {N_BOOTSTRAP_SAMPLES} bootstrap samples",
                lambda: bootstrap_measures(labels, rows),
            )
        ],
        1,
        0,
    )
    found, theirs = timings[0].result, timings[1].result
    apart = max(
        abs(found.measure(name).value - value)
        for name, value in [
            ("accuracy", theirs["accuracy"]),
            ("log_loss", theirs["log_loss"]),
            ("roc_area", theirs["roc"][0]),
            ("pr_area", theirs["pr"][0]),
        ]
    )
    told = f"Accuracy, log loss and both areas differ by {apart:.1e} at most."
    return (
        f"{N_PREDICTIONS:,} predictions of two classes\n\n{format_ratio_table([*timings, *slow])}\n\n{told}"
    )


N_TRAINING_SETS = 200
CURVE_SIZES = (200, 600, 2_000, 6_000, 20_000)


def bias_variance_table(repeats: int) -> str:
    try:
        from mlxtend.evaluate import bias_variance_decomp
    except ImportError:
        raise SystemExit("Row b needs mlxtend: pip install mlxtend, or make bench-judging.") from None
    X, y = make_classification(2_000, 20, n_informative=5, n_classes=3, flip_y=0.1, random_state=0)
    train, test, known, asked = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    tree = DecisionTreeClassifier(random_state=0)

    def theirs() -> Any:
        return bias_variance_decomp(
            tree, train, known, test, asked, "0-1_loss", N_TRAINING_SETS, random_seed=0
        )

    def ours(which: str, workers: int) -> Any:
        return weigh.bias_variance(tree, X, y, rounds=N_TRAINING_SETS, test=0.3, which=which, n_jobs=workers)

    timings = time_in_turns(
        [
            TimedCall("weigh, Kohavi & Wolpert", lambda: ours("kohavi-wolpert", -1)),
            TimedCall("weigh, Domingos", lambda: ours("domingos", -1)),
            TimedCall("weigh, Kohavi & Wolpert, one core", lambda: ours("kohavi-wolpert", 1)),
            TimedCall("mlxtend, which knows one core", theirs),
        ],
        repeats,
    )
    left = [_decomposition_residual(each.result) for each in timings[:3]]
    loss, bias, variance = timings[3].result
    apart = [*(f"{each:.1e}" for each in left), f"{abs(loss - bias - variance):.4f}"]
    title = f"A decision tree, zero-one loss, three classes, 2,000 rows, {N_TRAINING_SETS} training sets"
    return f"{title}\n\n{format_ratio_table(timings, {'loss − its parts, most': apart})}"


def _decomposition_residual(found: Any) -> float:
    [one] = found.learners.values()
    return float(np.abs(one.loss - sum(one.parts.values())).max())


def learning_curve_table(data: Path, repeats: int) -> str:
    frame, labels = read_adult(data / "adult" / "train.csv")
    X = frame[NUMBERS].to_numpy(np.float64)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def theirs() -> Any:
        return learning_curve(GaussianNB(), X, labels, train_sizes=list(CURVE_SIZES), cv=folds, n_jobs=2)

    timings = time_in_turns(
        [
            TimedCall(
                "weigh.learning_curve, with law, intervals and diagnosis",
                lambda: weigh.learning_curve(
                    weigh.NaiveBayes(), X, labels, sizes=CURVE_SIZES, folds=5, repeats=1, n_jobs=2
                ),
            ),
            TimedCall("scikit-learn's learning_curve of GaussianNB", theirs),
        ],
        repeats,
    )
    title = (
        f"Gaussian naive Bayes, {len(X):,} rows of {len(NUMBERS)} numbers, 5 folds, {len(CURVE_SIZES)} sizes"
    )
    return f"{title}\n\n{format_ratio_table(timings)}"


def report_table(data: Path, repeats: int) -> str:
    train, test = (data / "adult" / f"{part}.csv" for part in ("train", "test"))
    with tempfile.TemporaryDirectory() as folder:
        model, plain, whole = (Path(folder) / name for name in ("adult.weigh", "plain.html", "whole.html"))
        weigh.NaiveBayes(missing=["?"]).fit(weigh.open(train, label=LABEL)).model_.save(model)
        command = [sys.executable, "-m", "weigh.cli.main", "report", str(model), str(test), "-o"]
        timings = time_processes(
            {
                "weigh report MODEL test.csv": [*command, str(plain)],
                "weigh report MODEL test.csv --train train.csv": [
                    *command,
                    str(whole),
                    "--train",
                    str(train),
                ],
            },
            repeats,
        )
        sizes = [f"{path.stat().st_size / 1e3:,.0f} kB" for path in (plain, whole)]
    rows = [
        [each.name, format_duration(each.best), format_duration(each.median), size]
        for each, size in zip(timings, sizes, strict=True)
    ]
    title = "The report on naive Bayes of Adult: 16,281 rows judged, 32,561 learned from; whole processes"
    return f"{title}\n\n{format_markdown_table(['', 'min', 'median', 'size'], rows)}"
