"""A synthetic table of strings and numbers, reproducible from a seed, with any number of rows.

Six string columns with 3, 5, 12, 50, 300 and 10,000 levels (the last one skewed) and six numeric
columns with 5 % missing values; every column depends on the class, and only on the class, so that
naive Bayes is the right model and a low accuracy reveals a wrong fit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

LEVELS = {"size": 3, "region": 5, "month": 12, "state": 50, "product": 300, "customer": 10_000}
NUMBERS = ("amount", "weight", "height", "delay", "score", "rate")
LABEL = "label"
MISSING_SHARE = 0.05

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


def _level_probabilities(rng: np.random.Generator, n_levels: int, n_classes: int) -> Floats:
    """Return one row of level probabilities per class; columns of many levels follow a Zipf-like law."""
    skew = 1.0 if n_levels >= 1_000 else 0.3
    base = -skew * np.log(np.arange(1, n_levels + 1))
    logits = base + 0.4 * rng.standard_normal((n_classes, n_levels))
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _draw_levels(rng: np.random.Generator, p: Floats, y: Codes) -> Codes:
    """Draw one level per row by inverting the cumulative probabilities of the row's class."""
    u = rng.random(len(y))
    codes = np.empty(len(y), dtype=np.int64)
    for k, row in enumerate(np.cumsum(p, axis=1)):
        in_class = y == k
        codes[in_class] = np.searchsorted(row, u[in_class] * row[-1], side="right")
    return np.asarray(np.minimum(codes, p.shape[1] - 1))


def make_table(rows: int, classes: int = 2, seed: int = 0, part: int = 0) -> Any:
    """Return an Arrow table; the same seed with another part gives new rows of the same distribution."""
    import pyarrow as pa

    distribution = np.random.default_rng([seed, classes])
    rng = np.random.default_rng([seed, classes, part + 1])
    y = rng.choice(classes, size=rows, p=distribution.dirichlet(np.full(classes, 5.0)))
    columns: dict[str, Any] = {}
    for name, n_levels in LEVELS.items():
        codes = _draw_levels(rng, _level_probabilities(distribution, n_levels, classes), y)
        names = pa.array([f"{name}-{i:05d}" for i in range(n_levels)])
        columns[name] = names.take(pa.array(codes))
    for name in NUMBERS:
        mean, spread = distribution.normal(0.0, 0.3, classes), distribution.uniform(0.7, 1.4, classes)
        values = 100.0 + 15.0 * (mean[y] + spread[y] * rng.standard_normal(rows))
        columns[name] = pa.array(values, mask=rng.random(rows) < MISSING_SHARE)
    columns[LABEL] = pa.array([f"class-{k}" for k in range(classes)]).take(pa.array(y))
    return pa.table(columns)


def write_table(path: Path, rows: int, classes: int, part: int = 0) -> Path:
    """Write the table as an uncompressed Arrow file, which opens without parsing."""
    import pyarrow.feather as feather

    feather.write_feather(make_table(rows, classes, part=part), str(path), compression="uncompressed")
    return path


def read_table(path: Path, storage: str) -> Any:
    """Read the file as a pandas frame.

    `storage` selects the dtypes: "str" is pandas 3's default for strings (Arrow-backed), "object" uses Python
    strings, "arrow" uses Arrow dtypes for every column, numbers included.
    """
    import pandas as pd

    if storage == "arrow":
        return pd.read_feather(path, dtype_backend="pyarrow")
    frame = pd.read_feather(path)
    if storage == "str":
        return frame
    return frame.astype(dict.fromkeys([*LEVELS, LABEL], object))
