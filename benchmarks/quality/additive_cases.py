"""Tables and splits of the rows `additive`, kept in files that the processes of all environments read.

Adult has its stated training and test rows. The other tables, their halves and their five folds are those of
the rows `defaults`; a selection may take fewer of the folds, or random training parts of a few rows.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from benchmarks.data import ADULT, ADULT_LABEL, ADULT_TEST
from benchmarks.job import DATA
from benchmarks.quality import defaults, public_tables
from benchmarks.quality.public_tables import Half, Table, Task

Subject = Literal["adult", "classification", "regression"]


@dataclass(frozen=True)
class Selection:
    """Which tables, how many of their rows, and how many splits are measured."""

    subject: Subject
    half: Half = "tuning"
    tables: int = 25
    rows: int = 1_000
    splits: int = 3
    train_rows: int | None = None  # of random training parts, instead of folds

    @property
    def task(self) -> Task:
        return "classification" if self.subject == "adult" else self.subject


@dataclass(frozen=True)
class Case:
    """A table with its splits into training and test rows."""

    table: Table
    splits: list[tuple[Any, Any]]

    @property
    def has_stated_split(self) -> bool:
        return self.table.name == ADULT

    @property
    def name(self) -> str:
        """Return a file name that changes with the rows, the columns and the splits."""
        digest = hashlib.sha256(pd.util.hash_pandas_object(self.table.X.astype(str)).to_numpy().tobytes())
        digest.update(repr((list(self.table.X), self.table.y.tolist())).encode())
        for train, test in self.splits:
            digest.update(np.concatenate([train, [-1], test]).tobytes())
        slug = re.sub(r"[^\w.]+", "-", self.table.name)
        return f"{self.table.task}-{slug}-{digest.hexdigest()[:8]}"


def find_cases(selection: Selection, folder: Path) -> Path:
    """Return the file with the cases of a selection, written on first use."""
    rules = hashlib.sha256(Path(public_tables.__file__).read_bytes()).hexdigest()[:8]
    sizes = (selection.tables, selection.rows, selection.splits, selection.train_rows or "folds")
    size = f"{selection.half}-{'-'.join(map(str, sizes))}-{rules}"
    name = "adult" if selection.subject == "adult" else f"{selection.subject}-{size}"
    path = folder / "cases" / f"{name}.pickle"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cases = make_cases(selection)
        path.write_bytes(pickle.dumps(cases))
    return path


def load_cases(path: Path) -> list[Case]:
    cases: list[Case] = pickle.loads(path.read_bytes())
    return cases


def make_cases(selection: Selection) -> list[Case]:
    """Return the cases; the sample of Adult among the tables is left out in favour of all its rows."""
    if selection.subject == "adult":
        return [read_adult()]
    tables = defaults.select_tables(selection.task, [selection.half], selection.tables, selection.rows)
    make_splits = draw_few_rows if selection.train_rows else make_folds
    cases = [Case(table, make_splits(table, selection)) for table in tables if table.name != ADULT]
    return [case for case in cases if case.splits]


def make_folds(table: Table, selection: Selection) -> list[tuple[Any, Any]]:
    return defaults.make_splits(table, n_repeats=1)[: selection.splits]


def draw_few_rows(table: Table, selection: Selection) -> list[tuple[Any, Any]]:
    """Return random training parts with every class, and all other rows to test; none of a small table."""
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    n, is_classification = selection.train_rows, table.task == "classification"
    assert n is not None
    least = np.unique(table.y, return_counts=True)[1].min() if is_classification else len(table.y)
    if len(table.y) < 2 * n or n * least < len(table.y):
        return []
    draw = StratifiedShuffleSplit if is_classification else ShuffleSplit
    return list(draw(selection.splits, train_size=n, random_state=0).split(table.X, table.y))


def read_adult() -> Case:
    """Return Adult with its stated training and test rows."""
    parts = [pd.read_csv(DATA / name, na_values=["?"]) for name in (ADULT, ADULT_TEST)]
    frame = pd.concat(parts, ignore_index=True)
    y = frame.pop(ADULT_LABEL).to_numpy(object)
    split = (np.arange(len(parts[0])), np.arange(len(parts[0]), len(frame)))
    return Case(Table(ADULT, "classification", frame.apply(public_tables.read_like_a_file), y), [split])
