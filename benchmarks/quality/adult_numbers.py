"""Compare models of numeric columns in naive Bayes on UCI Adult, in plain NumPy.

With two classes, naive Bayes is a sum of log-odds with one term per column, so every column is modelled
once per fold and the sums are compared. Missing values add nothing. Cut points come from the first
10,000 training rows, counts from all of them, with a pseudo-count per value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.data import ADULT, ADULT_CATEGORIES, ADULT_LABEL, ADULT_NUMBERS, ADULT_TEST
from benchmarks.job import DATA
from benchmarks.results import format_markdown_table

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Edges = Callable[[Floats, int], Floats]
Terms = Callable[[Floats, Codes, Floats], Floats]
N_ROWS_FOR_CUTS = 10_000


def equal_count(values: Floats, count: int) -> Floats:
    return np.unique(np.quantile(values, np.arange(1, count) / count, method="inverted_cdf"))


def equal_width(values: Floats, count: int) -> Floats:
    return np.linspace(values.min(), values.max(), count + 1)[1:-1]


def log_width(values: Floats, count: int) -> Floats:
    low = values.min()
    return np.asarray(low + np.expm1(equal_width(np.log1p(values - low), count)))


def heavy_values_alone(values: Floats, count: int) -> Floats:
    """Give every value with a bin's share of the rows its own bin; cut the others into equal counts."""
    distinct, counts = np.unique(values, return_counts=True)
    heavy = np.zeros(len(distinct), dtype=bool)
    while True:
        n_free_bins = max(count - int(heavy.sum()), 1)
        bin_size = counts[~heavy].sum() / n_free_bins
        new = ~heavy & (counts >= bin_size)
        if n_free_bins == 1 or not new.any():
            break
        heavy |= new
    edges, filled = [], 0
    for i in range(len(distinct) - 1):
        filled += 0 if heavy[i] else int(counts[i])
        if heavy[i] or heavy[i + 1] or filled >= bin_size:
            edges.append((distinct[i] + distinct[i + 1]) / 2)
            filled = 0
    return np.array(edges)


def log_odds_from_counts(codes: Codes, y: Codes, new: Codes, levels: int, a: float) -> Floats:
    """Return the log-odds of each code of `new`; -1 is missing and adds nothing."""
    is_known = codes >= 0
    counts = [np.bincount(codes[is_known & (y == k)], minlength=levels) for k in (0, 1)]
    no, yes = ((n + a) / (n.sum() + a * levels) for n in counts)
    return np.append(np.log(yes / no), 0.0)[new]


def binned_log_odds(edges: Edges, count: int, a: float, v: Floats, y: Codes, new: Floats) -> Floats:
    cuts = edges(v[:N_ROWS_FOR_CUTS], count)
    codes, new_codes = np.searchsorted(cuts, v), np.searchsorted(cuts, new)
    return log_odds_from_counts(codes, y, new_codes, len(cuts) + 1, a)


def level_log_odds(a: float, v: Floats, y: Codes, new: Floats) -> Floats:
    """Return log-odds with every value as a level; values not seen in training share one more level."""
    distinct = np.unique(v)
    index = np.minimum(np.searchsorted(distinct, new), len(distinct) - 1)
    new_codes = np.where(distinct[index] == new, index, len(distinct))
    return log_odds_from_counts(np.searchsorted(distinct, v), y, new_codes, len(distinct) + 1, a)


def gaussian_log_odds(shared: bool, log: bool, v: Floats, y: Codes, new: Floats) -> Floats:
    if log:
        v, new = np.log1p(v), np.log1p(new)
    means = [v[y == k].mean() for k in (0, 1)]
    spreads = [v[y == k].var() + 1e-9 * v.var() for k in (0, 1)]
    if shared:
        spreads = [float(np.average(spreads, weights=np.bincount(y)))] * 2
    no, yes = (-0.5 * (np.log(s) + (new - m) ** 2 / s) for m, s in zip(means, spreads, strict=True))
    return np.asarray(yes - no)


def number_models(a: float) -> dict[str, Terms]:
    models: dict[str, Terms] = {
        "Gaussian, own spread": partial(gaussian_log_odds, False, False),
        "Gaussian, shared spread": partial(gaussian_log_odds, True, False),
        "Gaussian of log(1 + x)": partial(gaussian_log_odds, False, True),
        "every value a level": partial(level_log_odds, a),
    }
    for edges in (equal_count, equal_width, log_width, heavy_values_alone):
        name = edges.__name__.replace("_", " ")
        for count in (10, 16, 20, 32, 64, 128):
            models[f"{name}, {count} bins"] = partial(binned_log_odds, edges, count, a)
    return models


class AdultFolds:
    """The training and test files as codes and floats, with five folds of the training rows."""

    def __init__(self, max_rows: int | None) -> None:
        files = [pd.read_csv(DATA / f, na_values="?", nrows=max_rows) for f in (ADULT, ADULT_TEST)]
        self.y, self.y_test = ((f[ADULT_LABEL] == ">50K").to_numpy(dtype=np.int64) for f in files)
        both = pd.concat(files, ignore_index=True)
        self.codes = {name: pd.factorize(both[name])[0] for name in ADULT_CATEGORIES}
        self.values = {name: both[name].to_numpy(dtype=float) for name in ADULT_NUMBERS}
        self.fold = np.random.default_rng(0).permutation(len(self.y)) % 5

    def column_log_odds(self, model: Terms, a: float) -> dict[str, tuple[Floats, Floats]]:
        """Return every column's log-odds: out of fold for the training rows, and for the test rows."""
        n = len(self.y)
        log_odds = {}
        for name in ADULT_CATEGORIES + ADULT_NUMBERS:
            out_of_fold, all_rows = np.empty(n), np.arange(n)
            for k in range(5):
                new = np.flatnonzero(self.fold == k)
                out_of_fold[new] = self._column(name, model, a, np.flatnonzero(self.fold != k), new)
            test = np.arange(n, n + len(self.y_test))
            log_odds[name] = out_of_fold, self._column(name, model, a, all_rows, test)
        return log_odds

    def _column(self, name: str, model: Terms, a: float, rows: Codes, new: Codes) -> Floats:
        if name in self.values:
            return model(self.values[name][rows], self.y[rows], self.values[name][new])
        codes = self.codes[name]
        return log_odds_from_counts(codes[rows], self.y[rows], codes[new], int(codes.max()) + 1, a)

    def accuracies(self, terms: dict[str, tuple[Floats, Floats]], stated: bool) -> list[str]:
        """Return the accuracy over folds and on test; with `stated`, the folds choose the prior odds."""
        p = self.y.mean()
        train, test = (sum(pair[i] for pair in terms.values()) for i in (0, 1))
        offsets = np.arange(-4.0, 2.01, 0.05) if stated else np.array([np.log(p / (1 - p))])
        by_folds = [((train + b > 0) == self.y).mean() for b in offsets]
        best = int(np.argmax(by_folds))
        on_test = ((test + offsets[best] > 0) == self.y_test).mean()
        return [f"{by_folds[best]:.4f}", f"{on_test:.4f}"]


def accuracy_table(quick: bool) -> str:
    """Return the accuracies of all models of numbers with one pseudo-count per value."""
    a = 1.0
    data = AdultFolds(3_000 if quick else None)
    rows = []
    for name, model in number_models(a).items():
        terms = data.column_log_odds(model, a)
        without = {column: pair for column, pair in terms.items() if column != "education_num"}
        rows.append([name, *data.accuracies(terms, False), *data.accuracies(without, False),
                     *data.accuracies(terms, True)])  # fmt: skip
    head = ["numbers as", "folds", "test", "folds, no education_num", "test, no education_num",
            "folds, prior chosen", "test, prior chosen"]  # fmt: skip
    return format_markdown_table(head, rows)
