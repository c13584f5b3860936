"""Perceptrons under noise: labels flipped at random, and one mistake in the last of 10,000 examples.

The rows are normal in 50 dimensions and a plane through the origin tells their class, so that all
that is wrong in a label was put there; the rows that judge have none of it. The margin is chosen on
a validation part of the training rows, noise and all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.harness import markdown
from benchmarks.online_choice import KEPT, Choice, Split, hypotheses, margins

SHARES = (0.0, 0.05, 0.1, 0.2, 0.3)
ROWS, WIDTH, JUDGES = 10_000, 50, 2_000
PASSES, SEEDS = 5, 5
THICK = ("last", "averaged")

Hits = dict[str, float]


def drawn(seed: int, rows: int) -> Split:
    """Return rows whose classes a plane tells."""
    rng = np.random.default_rng([2, seed])
    plane = rng.standard_normal(WIDTH)
    X = rng.standard_normal((rows + JUDGES, WIDTH))
    y = (X @ plane > 0).astype(np.int64)
    return Split(X[:rows], y[:rows], X[rows:], y[rows:])


def flipped(split: Split, at: Any) -> Split:
    """Return the split with the training labels wrong at some places."""
    y = split.y.copy()
    y[at] = 1 - y[at]
    return Split(split.X, y, split.X_new, split.y_new)


def margin_for(split: Split, passes: int) -> float:
    """Return the margin that is best on a validation part of the training rows."""
    makers = margins(split.square)
    return float(makers[Choice(split.validation(), 1).best(makers, passes)].keywords["margin"])


def measured(split: Split, margin: float, **settings: Any) -> Hits:
    """Return the accuracy of all hypotheses of a run, and of a run with a margin."""
    found = hypotheses(split, KEPT, **settings)
    thick = hypotheses(split, THICK, margin=margin, **settings)
    return found | {f"{how}, margin chosen": hits for how, hits in thick.items()}


def table(columns: Mapping[str, Sequence[Hits]]) -> str:
    """Return the mean accuracy by hypothesis and column, with the worst seed in brackets."""
    names = next(iter(columns.values()))[0]
    body = []
    for name in names:
        seen = [[hits[name] for hits in runs] for runs in columns.values()]
        body.append([name, *(f"{np.mean(found):.4f} ({min(found):.4f})" for found in seen)])
    return markdown(["", *columns], body)


def label_noise(rows: int, seeds: int) -> str:
    columns: dict[str, list[Hits]] = {}
    for share in SHARES:
        for seed in range(seeds):
            wrong = np.random.default_rng([3, seed]).random(rows) < share
            split = flipped(drawn(seed, rows), wrong)
            hits = measured(split, margin_for(split, PASSES), max_iter=PASSES, random_state=seed)
            columns.setdefault(f"{share:.0%}", []).append(hits)
    return table(columns)


def late_mistake(rows: int, seeds: int) -> str:
    columns: dict[str, list[Hits]] = {"without": [], "with": []}
    for seed in range(seeds):
        split = drawn(seed, rows)
        margin = margin_for(split, 1)
        for name, found in (("without", split), ("with", flipped(split, [rows - 1]))):
            columns[name].append(measured(found, margin, max_iter=1, shuffle=False))
    return table(columns)


def job(*, small: bool) -> str:
    """Return the tables of both kinds of noise."""
    rows, seeds = (1_000, 2) if small else (ROWS, SEEDS)
    about = f"{rows:,} rows of {WIDTH} numbers, accuracy on {JUDGES:,} rows without noise"
    told = f"mean of {seeds} seeds, the worst in brackets"
    return "\n\n".join(
        [
            f"Share of wrong labels; {about}; {PASSES} shuffled passes; {told}",
            label_noise(rows, seeds),
            f"A wrong label in example {rows:,}, the last; {about}; one pass in order; {told}",
            late_mistake(rows, seeds),
        ]
    )
