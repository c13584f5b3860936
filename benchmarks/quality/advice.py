"""Measure advice on data with known truth: redundancy warnings, estimates of wrong labels, macro intervals.

    python -m benchmarks.quality.advice redundancy
    python -m benchmarks.quality.advice labels
    python -m benchmarks.quality.advice macro

Constants may be chosen on the settings of the tuning half, every second one; the other half judges them.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

import weigh
from benchmarks.job import DATA
from benchmarks.results import format_markdown_table
from weigh import errors
from weigh.judge.metrics.confusion_matrix import ConfusionMatrix, macro_measures

Rng = np.random.Generator
Table = dict[str, Any]
HALVES = ("tuning", "held-out")

ROWS = (20, 50, 100, 300, 1_000, 10_000, 100_000)
CLASSES = (2, 5, 20)
N_COLUMNS = 5
LEVELS = {"2 levels": 2, "5 levels": 5, "20 levels": 20, "normal": None, "log-normal": None}
FLIPS = (0.0, 0.01, 0.05, 0.1, 0.3)  # share of the rows in which a copy differs
CORRELATIONS = (1.0, 0.98, 0.9, 0.75, 0.4)

NOISE_RATES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)
SEPARATIONS = {"overlapping": 0.7, "apart": 1.5}  # standard deviation of the means
MAX_NOISE_ROWS = 2_000
REAL_REPEATS = 3

MACRO_ROWS = (30, 100, 300, 1_000, 10_000)
MACRO_CLASSES = (3, 10, 30)
SKEWS = {"equal": 0.0, "rare": 1.5}  # exponent of the frequency of a class by its rank
MACRO_MEASURES = ("macro_precision", "macro_recall", "macro_f1")


def warns(table: Table) -> bool:
    """Return whether fitting warns about redundant columns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        weigh.NaiveBayes().fit(table, "y")
    return any(issubclass(each.category, errors.DependentColumns) for each in caught)


def draw_independent(rng: Rng, n: int, n_classes: int, kind: str) -> Table:
    """Draw columns that are independent within each class, with distributions that depend on the class."""
    y = rng.integers(0, n_classes, n)
    table: Table = {}
    for k in range(N_COLUMNS):
        name, levels = f"c{k}", LEVELS[kind]
        if levels is None:
            numbers = rng.normal(rng.normal(0, 1, n_classes)[y])
            table[name] = np.exp(numbers) if kind == "log-normal" else numbers
        else:
            p = rng.dirichlet(np.ones(levels), n_classes).cumsum(axis=1)
            codes = (rng.random(n)[:, None] > p[y, :-1]).sum(axis=1)
            table[name] = np.char.add("v", codes.astype(str))
    return table | {"y": np.char.add("class ", y.astype(str))}


def draw_dependent(rng: Rng, n: int, kind: str, strength: int) -> Table:
    """Draw an informative column, and a copy that differs by the strength-th amount."""
    y = rng.integers(0, 2, n)
    if kind == "flags":
        a = np.where(rng.random(n) < 0.8, y, 1 - y)
        b = np.where(rng.random(n) < FLIPS[strength], 1 - a, a)
        columns: Table = {"a": np.char.add("v", a.astype(str)), "b": np.char.add("w", b.astype(str))}
    else:
        r = CORRELATIONS[strength]
        a = rng.normal(size=n)
        columns = {"a": a + y, "b": r * a + np.sqrt(1 - r**2) * rng.normal(size=n) + y}
    return columns | {"c": rng.normal(0.5 * y), "y": np.char.add("class ", y.astype(str))}


def count_repeats(n: int, quick: bool) -> int:
    return max(2, min(100, 150_000 // n) // (10 if quick else 1))


def redundancy_report(quick: bool) -> str:
    """Return the rates of warnings for independent and for dependent columns."""
    settings = [s for s in product(ROWS, CLASSES, LEVELS) if not quick or s[0] <= 1_000]
    alarms: dict[tuple[str, int], list[bool]] = {}
    for number, (n, n_classes, kind) in enumerate(settings):
        rng = np.random.default_rng(number)
        found = [warns(draw_independent(rng, n, n_classes, kind)) for _ in range(count_repeats(n, quick))]
        alarms.setdefault((HALVES[number % 2], n), []).extend(found)
    rows = [
        [half, *(_format_rate(alarms.get((half, n), [])) for n in ROWS), _format_rate(_pool(alarms, half))]
        for half in HALVES
    ]
    head = ["false alarms, by rows", *(f"{n:,}" for n in ROWS), "all"]
    parts = [
        f"{N_COLUMNS} columns that are independent within the classes ({', '.join(map(str, CLASSES))} "
        f"classes; {', '.join(LEVELS)}): share of tables with a warning; at most 1 % is intended",
        format_markdown_table(head, rows),
        "A column and its copy, two classes: share of tables with a warning; the last copy of each kind "
        "shares less than half of its information, for which no warning is intended",
        _format_detection(quick),
    ]
    return "\n\n".join(parts)


def _pool(alarms: dict[tuple[str, int], list[bool]], half: str) -> list[bool]:
    return [each for (name, _), found in alarms.items() if name == half for each in found]


def _format_detection(quick: bool) -> str:
    strengths = {"flags": [f"flags, {100 * flip:g} % of rows differ" for flip in FLIPS]}
    strengths["numbers"] = [f"numbers, correlation {r:g}" for r in CORRELATIONS]
    rows = []
    for kind, titles in strengths.items():
        for strength, title in enumerate(titles):
            cells = []
            for n in ROWS[: 5 if quick else 7]:
                rng = np.random.default_rng(1_000 * strength + n)
                repeats = range(count_repeats(n, quick))
                cells.append(_format_rate([warns(draw_dependent(rng, n, kind, strength)) for _ in repeats]))
            rows.append([title, *cells, *[""] * (len(ROWS) - len(cells))])
    return format_markdown_table(["detected, by rows", *(f"{n:,}" for n in ROWS)], rows)


def _format_rate(found: Sequence[Any]) -> str:
    return f"{100 * np.mean(found):.1f} %" if len(found) else ""


def draw_classes(rng: Rng, n: int, n_classes: int, distance: float) -> tuple[Any, Any]:
    """Draw normal classes, of which the distance says how well they are separated."""
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, 5)) + distance * np.random.default_rng(0).normal(size=(n_classes, 5))[y], y


def real_tables() -> Iterator[tuple[str, Any, Any]]:
    """Yield tables with hardly any wrong labels."""
    import pandas
    from sklearn import datasets

    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True)
        yield name.replace("_", " "), X, np.asarray(y)
    for name, path, label in (
        ("mushroom", "mushroom.csv", None),
        ("voting", "voting.csv", None),
        ("Adult", "adult/train.csv", "income"),
    ):
        frame = pandas.read_csv(DATA / path, na_values="?").head(MAX_NOISE_ROWS)
        label = label or frame.columns[0]
        yield name, frame.drop(columns=label), frame[label].to_numpy()


def estimate_noise(X: Any, y: Any, rate: float, rng: Rng) -> tuple[float, float]:
    """Return the share of labels that were made wrong, and the estimate of the audit."""
    classes, codes = np.unique(y, return_inverse=True)
    flipped = rng.random(len(codes)) < rate
    shift = rng.integers(1, len(classes), len(codes))
    labels = classes[np.where(flipped, (codes + shift) % len(classes), codes)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = weigh.audit(weigh.NaiveBayes().fit(X, labels), X, labels, most=1)
    return float(flipped.mean()), (found.wrong or 0) / found.n


def labels_report(quick: bool) -> str:
    """Return the estimated shares of wrong labels beside the planted ones."""
    n_draws = 2 if quick else 20
    rows = []
    for k, (word, distance), n in product((2, 5), SEPARATIONS.items(), (300, 1_000)):
        rngs = [np.random.default_rng(1_000 * seed + n + k) for seed in range(n_draws)]
        draws = [draw_classes(rng, n, k, distance) for rng in rngs]
        rows.append([f"{k} normal classes, {word}", f"{n:,}", *_estimate_rates(draws)])
    for name, X, y in [] if quick else real_tables():
        rows.append([name, f"{len(y):,}", *_estimate_rates([(X, y)] * REAL_REPEATS)])
    rates = [f"{100 * rate:g} % planted" for rate in NOISE_RATES]
    return format_markdown_table(["labels that look wrong, %", "rows", "false alarms", *rates], rows)


def _estimate_rates(draws: Sequence[tuple[Any, Any]]) -> list[str]:
    """Return the share of tables without wrong labels for which over 1 % look wrong, and mean estimates."""
    estimates = np.array(
        [
            [estimate_noise(X, y, rate, np.random.default_rng(seed))[1] for rate in NOISE_RATES]
            for seed, (X, y) in enumerate(draws)
        ]
    )
    means = [f"{100 * mean:.1f}" for mean in estimates.mean(axis=0)]
    return [_format_rate((estimates[:, 0] > 0.01).tolist()), *means]


def draw_confusion(rng: Rng, n: int, shares: Any, confusion: Any) -> ConfusionMatrix:
    """Draw rows of known class frequencies and known errors."""
    counts = rng.multinomial(n, (shares[:, None] * confusion).ravel())
    true, predicted = np.divmod(np.repeat(np.arange(counts.size), counts), len(shares))
    return ConfusionMatrix.empty(len(shares)).add(true, predicted, np.ones(len(true)))


def macro_truth(shares: Any, confusion: Any) -> dict[str, float]:
    """Return the macro averages in the limit of many rows."""
    joint = shares[:, None] * confusion
    hits, support, predicted = np.diag(joint), joint.sum(axis=1), joint.sum(axis=0)
    averages = (hits / predicted, hits / support, 2 * hits / (support + predicted))
    return dict(zip(MACRO_MEASURES, (float(each.mean()) for each in averages), strict=True))


def macro_report(quick: bool) -> str:
    """Return the coverage of 95 % intervals of macro averages."""
    covered: dict[tuple[str, str, int], dict[str, list[bool]]] = {}
    settings = list(product(SKEWS, MACRO_ROWS, MACRO_CLASSES))
    for number, (skew, n, k) in enumerate(settings):
        rng = np.random.default_rng(number)
        shares = np.arange(1.0, k + 1) ** -SKEWS[skew]
        shares /= shares.sum()
        found = covered.setdefault((HALVES[number % 2], skew, n), {name: [] for name in MACRO_MEASURES})
        for _ in range(20 if quick else 500):
            confusion = rng.dirichlet(np.ones(k), k) * 0.3 + 0.7 * np.eye(k)
            truth = macro_truth(shares, confusion)
            drawn = draw_confusion(rng, n, shares, confusion)
            for measure in macro_measures(drawn, drawn.shares(0.95), 0):
                if measure.name in found:
                    found[measure.name].append(bool(measure.low <= truth[measure.name] <= measure.high))
    head = ["coverage, by rows", *(f"{n:,}" for n in MACRO_ROWS)]
    rows = [
        [f"{name.replace('_', ' ')}, {skew} classes, {half}"]
        + [_format_rate(covered.get((half, skew, n), {}).get(name, [])) for n in MACRO_ROWS]
        for name, skew, half in product(MACRO_MEASURES, SKEWS, HALVES)
    ]
    return format_markdown_table(head, rows)


REPORTS: dict[str, Callable[[bool], str]] = {
    "redundancy": redundancy_report,
    "labels": labels_report,
    "macro": macro_report,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.advice")
    parser.add_argument("report", choices=REPORTS)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args(arguments)
    print(REPORTS[args.report](args.quick))


if __name__ == "__main__":
    main()
