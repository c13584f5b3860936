"""Measure how the cost of a fold grows with the number of partitions: `python -m benchmarks.partitions`.

One process does the work of all workers, so the times are CPU times: counting, merging level by level, and
the bytes that would move over a network. The figures are those of docs/engines.md.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from typing import Any

import numpy as np
import pyarrow as pa

from weigh.engines.states import PartitionCounter, StateMerger
from weigh.learn import BayesTask
from weigh.source.memory.table import rows as rows_of
from weigh.source.partitioned.frame import FAN_IN
from weigh.source.partitioned.rows import PartitionReader

WORDS_PER_TEXT = 12
PARTITIONS = (1, 4, 16, 64, 256, 1024)


def make_table(n: int, vocabulary: int, seed: int = 0) -> pa.Table:
    """Return rows with numbers, categories, flags and texts, whose words follow Zipf's law."""
    rng = np.random.default_rng(seed)
    ranks = np.minimum(rng.zipf(1.3, (n, WORDS_PER_TEXT)), vocabulary)
    columns: dict[str, Any] = {f"x{j}": rng.normal(size=n) for j in range(8)}
    columns |= {f"c{j}": rng.choice([f"level {k}" for k in range(20)], n) for j in range(4)}
    columns["text"] = [" ".join(map("w{:d}".format, row)) for row in ranks.tolist()]
    score = columns["x0"] + (ranks[:, 0] % 2) + rng.normal(size=n)
    columns["label"] = np.where(score > 0.5, "yes", "no")
    return pa.table(columns)


def measure(table: pa.Table, n_partitions: int) -> dict[str, float]:
    """Return sizes in kilobytes and CPU seconds of one fold."""
    source = rows_of(table.slice(0, 10_000), "label")
    task = BayesTask.for_source(source, {"text": "text"})
    reader = PartitionReader("label", (), {field.name: field.type for field in table.schema})
    count, merge = PartitionCounter(task, reader, "simulated"), StateMerger(task)
    cuts = np.linspace(0, table.num_rows, n_partitions + 1).astype(int).tolist()
    start = time.process_time()
    parts = enumerate(itertools.pairwise(cuts))
    states = [count([table.slice(a, b - a)], number) for number, (a, b) in parts]
    counted = time.process_time()
    moved, n_levels, mean_size = 0, 0, sum(map(len, states)) / len(states)
    while len(states) > 1:
        moved += sum(map(len, states))
        states = [merge(states[at : at + FAN_IN]) for at in range(0, len(states), FAN_IN)]
        n_levels += 1
    merged = time.process_time()
    return {
        "partitions": n_partitions,
        "state kB": mean_size / 1000,
        "levels": n_levels,
        "moved kB": moved / 1000,
        "count s": counted - start,
        "merge s": merged - counted,
        "last state kB": len(states[0]) / 1000,
    }


def main() -> None:
    """Print a table for each number of partitions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--vocabulary", type=int, default=50_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = make_table(options.rows, options.vocabulary)
    for at, n_partitions in enumerate(PARTITIONS):
        found = measure(table, n_partitions)
        if at == 0:
            print("  ".join(f"{name:>13}" for name in found))
        print("  ".join(f"{value:13,.5g}" for value in found.values()), flush=True)


if __name__ == "__main__":
    main()
