"""Time and memory of additive logistic regression by the number of rows, each fit in a process of its own.

    python -m benchmarks.quality.additive_scale ROWS [pairs]

prints the figures of one fit as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import PYTHONS
from benchmarks.job import ROOT
from benchmarks.results import format_markdown_table, format_megabytes
from benchmarks.worker import read_status, release_memory

N_COLUMNS = 20
SIZES = (10_000, 100_000, 1_000_000)
QUICK_SIZES = (1_000, 10_000)


def make_table(n: int, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Return numbers of which five have an effect, two of these a joint one, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_COLUMNS))
    scores = np.sin(2 * X[:, 0]) + np.abs(X[:, 1]) + (X[:, 2] > 0.5) + 0.5 * X[:, 3] * X[:, 4] - 1
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-scores)), "yes", "no")
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(N_COLUMNS)]), y


def measure_fit(n: int, pairs: str | None) -> dict[str, float]:
    """Return seconds and the growth of the memory of one fit, after a small one that loads everything."""
    import weigh

    learner = weigh.LogisticRegression(curves="auto", pairs=pairs)
    learner.fit(*make_table(500))
    X, y = make_table(n)
    release_memory()
    Path("/proc/self/clear_refs").write_text("5")
    resident = read_status("VmRSS")
    clock, processor = time.perf_counter(), time.process_time()
    learner.fit(X, y)
    return {
        "clock": time.perf_counter() - clock,
        "processor": time.process_time() - processor,
        "memory": max(read_status("VmHWM") - resident, 0),
        "table": X.to_numpy().nbytes,
    }


def scale_report(quick: bool) -> str:
    """Return a table of times and memory by the number of rows, with and without pairs."""
    rows = []
    for n in QUICK_SIZES if quick else SIZES:
        for pairs in ("", "pairs"):
            command = [PYTHONS["peers"], "-m", "benchmarks.quality.additive_scale", str(n), pairs]
            done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
            found = json.loads(done.stdout)
            times = [f"{found[name]:.1f} s" for name in ("clock", "processor")]
            sizes = [format_megabytes(found[name]) for name in ("memory", "table")]
            rows.append([f"{n:,} × {N_COLUMNS}", "curves" + (" and pairs" if pairs else ""), *times, *sizes])
    return format_markdown_table(["", "model", "clock", "processor", "memory added", "table"], rows)


if __name__ == "__main__":
    print(json.dumps(measure_fit(int(sys.argv[1]), "auto" if sys.argv[2:3] == ["pairs"] else None)))
