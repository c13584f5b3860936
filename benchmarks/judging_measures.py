"""All measures of a classifier on many rows: with our intervals, and with those of a bootstrap."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import calibration_curve

import weigh
from benchmarks.harness import Contestant, race, ratio_table

ROWS = 1_000_000
RESAMPLED = 5  # samples of a bootstrap by hand, of which 1,000 would be wanted


class Ready(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped base classes
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


def by_sklearn(labels: Any, rows: Any) -> dict[str, Any]:
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


def resampled(labels: Any, rows: Any) -> list[dict[str, Any]]:
    """Return the measures of samples of the rows, as one writes a bootstrap by hand."""
    rng = np.random.default_rng(0)
    drawn = (rng.integers(len(labels), size=len(labels)) for _ in range(RESAMPLED))
    return [by_sklearn(labels[at], rows[at]) for at in drawn]


def job(repeats: int) -> str:
    rng = np.random.default_rng(0)
    shares = rng.beta(0.7, 0.9, ROWS)
    labels = (rng.random(ROWS) < shares).astype(int)
    rows = np.column_stack([1 - shares, shares])
    timings = race(
        [
            Contestant("weigh.evaluate, with intervals", lambda: weigh.evaluate(Ready(), rows, labels)),
            Contestant("scikit-learn's metrics, without any", lambda: by_sklearn(labels, rows)),
        ],
        repeats,
    )
    slow = race(
        [Contestant(f"the same in {RESAMPLED} bootstrap samples", lambda: resampled(labels, rows))], 1, 0
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
    return f"{ROWS:,} predictions of two classes\n\n{ratio_table([*timings, *slow])}\n\n{told}"
