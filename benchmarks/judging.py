"""Evaluation of learners, side by side with the peers.

    python -m benchmarks.judging                      all rows
    python -m benchmarks.judging --rows e,b           some of them
    python -m benchmarks.judging --write              also into benchmarks/RESULTS.md

Rows: e all measures of a million predictions; a leave-one-out of a table; b the bias–variance decomposition
and its residual; l learning curves; r the report on a model.
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
    "e": lambda args: measures_table(args.repeats),
    "a": lambda args: leave_one_out_table(args.data, args.repeats),
    "b": lambda args: bias_variance_table(args.repeats),
    "l": lambda args: learning_curve_table(args.data, args.repeats),
    "r": lambda args: report_table(args.data, args.repeats),
}


def parse_arguments() -> argparse.Namespace:
    """Parse the command line; an unknown row is an error."""
    return RowParser("judging", __doc__, JOBS, repeats=3, data="real data").parse()


def main() -> None:
    args = parse_arguments()
    for row in args.rows:
        tables = JOBS[row](args)
        command = f"`python -m benchmarks.judging --rows {row} --repeats {args.repeats}`"
        page = f"{tables}\n\n{command}; {describe_machine(installed_distributions(DISTRIBUTIONS))}"
        print(f"\n## {row}\n\n{page}", flush=True)
        if args.write:
            replace_between_markers(RESULTS, f"judging {row}", page)


N_REFITS = 50


def leave_one_out_table(data: Path, repeats: int) -> str:
    frame, labels = read_adult(data / "adult" / "train.csv")
    frame = frame[CATEGORIES]
    # The peer gets codes, so that only its own work is timed, and all level counts, as folds may miss levels.
    codes = OrdinalEncoder().fit_transform(frame).astype(np.int64)
    peer = CategoricalNB(min_categories=codes.max(axis=0) + 1)
    model, n = weigh.NaiveBayes(columns="category").fit(frame, labels).model_, len(frame)
    sample = np.random.default_rng(0).choice(n, N_REFITS, replace=False).tolist()

    training_sets = [(np.delete(codes, i, axis=0), np.delete(labels, i)) for i in sample]

    def refit() -> Any:
        return [peer.fit(*training_set) for training_set in training_sets]

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
            TimedCall(f"scikit-learn: {n:,} refits on codes ({N_REFITS} timed)", refit),
        ],
        repeats,
    )
    seconds = [timing.best * (n / N_REFITS if i == 3 else 1) for i, timing in enumerate(timings)]
    rows = [
        [timing.name, format_duration(time), f"{time / seconds[0]:,.1f}"]
        for timing, time in zip(timings, seconds, strict=True)
    ]
    differences = [_score_difference(model, frame, labels, timings[0].result, i) for i in sample]
    note = f"{N_REFITS} rows forgotten one by one get scores that differ by {max(differences):.1e} at most."
    title = f"{LABEL} of Adult, {n:,} rows of {len(CATEGORIES)} categories"
    return f"{title}\n\n{format_markdown_table(['', 'min', '÷ first'], rows)}\n\n{note}"


def _score_difference(
    model: weigh.BayesModel, frame: Any, labels: Any, left_out_scores: Any, i: int
) -> float:
    """Return the difference between a row's leave-one-out score and that of a model that forgot the row."""
    row = frame.iloc[[i]]
    return float(np.abs(model.forget(row, labels[i : i + 1]).scores(row)[0] - left_out_scores[i]).max())


N_PREDICTIONS = 1_000_000
N_BOOTSTRAP_SAMPLES = 5  # a real bootstrap would take 1,000


class ProbabilityRows(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped base classes
    """A classifier whose input rows are its probabilities, so that only the evaluation is timed."""

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
    """Return the same measures from scikit-learn, without intervals."""
    predicted, probabilities = (rows[:, 1] > 0.5).astype(int), rows[:, 1]
    return {
        "accuracy": metrics.accuracy_score(labels, predicted),
        "balanced": metrics.balanced_accuracy_score(labels, predicted),
        "classes": metrics.precision_recall_fscore_support(labels, predicted),
        "confusion": metrics.confusion_matrix(labels, predicted),
        "log_loss": metrics.log_loss(labels, probabilities),
        "brier": metrics.brier_score_loss(labels, probabilities),
        "roc": (metrics.roc_auc_score(labels, probabilities), metrics.roc_curve(labels, probabilities)),
        "pr": (
            metrics.average_precision_score(labels, probabilities),
            metrics.precision_recall_curve(labels, probabilities),
        ),
        "reliability": calibration_curve(labels, probabilities, n_bins=10, strategy="quantile"),
    }


def bootstrap_measures(labels: Any, rows: Any) -> list[dict[str, Any]]:
    """Return the measures of bootstrap samples of the rows."""
    rng = np.random.default_rng(0)
    samples = (rng.integers(len(labels), size=len(labels)) for _ in range(N_BOOTSTRAP_SAMPLES))
    return [sklearn_measures(labels[sample], rows[sample]) for sample in samples]


def measures_table(repeats: int) -> str:
    rng = np.random.default_rng(0)
    probabilities = rng.beta(0.7, 0.9, N_PREDICTIONS)
    labels = (rng.random(N_PREDICTIONS) < probabilities).astype(int)
    rows = np.column_stack([1 - probabilities, probabilities])
    timings = time_in_turns(
        [
            TimedCall(
                "weigh.evaluate, with intervals", lambda: weigh.evaluate(ProbabilityRows(), rows, labels)
            ),
            TimedCall("scikit-learn's metrics, without any", lambda: sklearn_measures(labels, rows)),
        ],
        repeats,
    )
    bootstrap = time_in_turns(
        [
            TimedCall(
                f"the same in {N_BOOTSTRAP_SAMPLES} bootstrap samples",
                lambda: bootstrap_measures(labels, rows),
            )
        ],
        1,
        0,
    )
    ours, theirs = timings[0].result, timings[1].result
    difference = max(
        abs(ours.measure(name).value - value)
        for name, value in [
            ("accuracy", theirs["accuracy"]),
            ("log_loss", theirs["log_loss"]),
            ("roc_area", theirs["roc"][0]),
            ("pr_area", theirs["pr"][0]),
        ]
    )
    note = f"Accuracy, log loss and both areas differ by {difference:.1e} at most."
    table = format_ratio_table([*timings, *bootstrap])
    return f"{N_PREDICTIONS:,} predictions of two classes\n\n{table}\n\n{note}"


N_TRAINING_SETS = 200
CURVE_SIZES = (200, 600, 2_000, 6_000, 20_000)


def bias_variance_table(repeats: int) -> str:
    try:
        from mlxtend.evaluate import bias_variance_decomp
    except ImportError:
        raise SystemExit(
            "Row b needs mlxtend: run `pip install mlxtend`, or use `make bench-judging`."
        ) from None
    X, y = make_classification(2_000, 20, n_informative=5, n_classes=3, flip_y=0.1, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    tree = DecisionTreeClassifier(random_state=0)

    def theirs() -> Any:
        return bias_variance_decomp(
            tree, X_train, y_train, X_test, y_test, "0-1_loss", N_TRAINING_SETS, random_seed=0
        )

    def ours(which: str, n_jobs: int) -> Any:
        return weigh.bias_variance(tree, X, y, rounds=N_TRAINING_SETS, test=0.3, which=which, n_jobs=n_jobs)

    timings = time_in_turns(
        [
            TimedCall("weigh, Kohavi & Wolpert", lambda: ours("kohavi-wolpert", -1)),
            TimedCall("weigh, Domingos", lambda: ours("domingos", -1)),
            TimedCall("weigh, Kohavi & Wolpert, one core", lambda: ours("kohavi-wolpert", 1)),
            TimedCall("mlxtend, which knows one core", theirs),
        ],
        repeats,
    )
    residuals = [_decomposition_residual(timing.result) for timing in timings[:3]]
    loss, bias, variance = timings[3].result
    cells = [*(f"{timing:.1e}" for timing in residuals), f"{abs(loss - bias - variance):.4f}"]
    title = f"A decision tree, zero-one loss, three classes, 2,000 rows, {N_TRAINING_SETS} training sets"
    return f"{title}\n\n{format_ratio_table(timings, {'loss − its parts, most': cells})}"


def _decomposition_residual(result: Any) -> float:
    [learner] = result.learners.values()
    return float(np.abs(learner.loss - sum(learner.parts.values())).max())


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
        model, plain, full = (Path(folder) / name for name in ("adult.weigh", "plain.html", "whole.html"))
        weigh.NaiveBayes(missing=["?"]).fit(weigh.open(train, label=LABEL)).model_.save(model)
        command = [sys.executable, "-m", "weigh.cli.main", "report", str(model), str(test), "-o"]
        timings = time_processes(
            {
                "weigh report MODEL test.csv": [*command, str(plain)],
                "weigh report MODEL test.csv --train train.csv": [
                    *command,
                    str(full),
                    "--train",
                    str(train),
                ],
            },
            repeats,
        )
        sizes = [f"{path.stat().st_size / 1e3:,.0f} kB" for path in (plain, full)]
    rows = [
        [timing.name, format_duration(timing.best), format_duration(timing.median), size]
        for timing, size in zip(timings, sizes, strict=True)
    ]
    title = "The report on naive Bayes of Adult: 16,281 rows judged, 32,561 learned from; whole processes"
    return f"{title}\n\n{format_markdown_table(['', 'min', 'median', 'size'], rows)}"


if __name__ == "__main__":
    main()
