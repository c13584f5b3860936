"""A table with columns of all kinds, and a frame in partitions of this process."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import cloudpickle
import numpy as np
import pandas as pd
import pyarrow as pa

from weigh.source.partitioned.frame import (
    FAN_IN,
    Count,
    Merge,
    NotSendable,
    PartitionedFrame,
    PersistedPartitions,
    Work,
)

WORDS = np.array(
    [
        "ant",
        "bee",
        "cat",
        "dog",
        "elk",
        "fox",
        "gnu",
        "hen",
        "ibis",
        "jay",
        "kite",
        "lark",
        "mole",
        "newt",
        "owl",
    ]
)


def mixed_table(n: int = 3_000, seed: int = 0) -> pd.DataFrame:
    """Return rows with numbers, categories, text, dates, flags and money; some cells are missing."""
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 10, n).round(1)
    words = WORDS[rng.integers(0, len(WORDS), (n, 5))]
    table = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, age),
            "city": rng.choice(["Bonn", "Cork", "Lyon", None], n),
            "body": [" ".join(row) for row in words],
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "member": rng.random(n) < 0.4,
            "code": rng.integers(0, 4, n),
            "price": [f"${value:.2f}" for value in rng.uniform(1, 90, n)],
        }
    )
    table.loc[rng.random(n) < 0.05, "when"] = pd.NaT
    table.loc[rng.random(n) < 0.05, "body"] = None
    noise = rng.normal(0, 6, n)
    table["target"] = 0.3 * age + 2.0 * (table.city == "Bonn") + table.member + noise
    table["label"] = np.where(age + noise + 5 * table.member > 41, "yes", "no")
    return table


class LocalFrame(PartitionedFrame):
    """Arrow tables as the partitions of a frame; jobs and states make the way through bytes as elsewhere."""

    engine = "Local"
    how_to_collect = "pa.concat_tables(tables)"

    def __init__(self, tables: Sequence[Any], fan_in: int = FAN_IN) -> None:
        self.tables, self.fan_in = list(tables), fan_in
        self.state_sizes: list[int] = []

    @classmethod
    def split(cls, table: pd.DataFrame, n: int, **options: Any) -> LocalFrame:
        """Return a pandas frame in n partitions of about the same size."""
        rows = pa.Table.from_pandas(table, preserve_index=False)
        cuts = np.linspace(0, len(table), n + 1).astype(int)
        parts = [rows.slice(a, b - a) for a, b in itertools.pairwise(cuts)]
        return cls(parts, **options)

    @property
    def names(self) -> list[str]:
        return list(self.tables[0].schema.names)

    def first_rows(self, n: int) -> Any:
        return pa.concat_tables(self.tables, promote_options="permissive").slice(0, n)

    def fold(self, count: Count, merge: Merge) -> bytes | None:
        try:
            count, merge = cloudpickle.loads(cloudpickle.dumps((count, merge)))
        except TypeError as error:
            raise NotSendable(str(error)) from error
        states = [count(iter(table.to_batches()), number) for number, table in enumerate(self.tables)]
        self.state_sizes = [len(state) for state in states]
        return _merge_all(states, merge, self.fan_in)

    def persist(self, count: Count) -> LocalStates:
        count = cloudpickle.loads(cloudpickle.dumps(count))
        return LocalStates([count(iter(table.to_batches()), i) for i, table in enumerate(self.tables)])

    def map_rows(self, work: Work, output: Any) -> Any:
        return pa.concat_tables([work(table) for table in self.tables]).cast(output)


class LocalStates(PersistedPartitions):
    """States that are kept in this process."""

    engine = "Local"
    is_released = False

    def __init__(self, states: list[bytes]) -> None:
        self.states = states

    def fold(self, count: Count, merge: Merge) -> bytes | None:
        count, merge = cloudpickle.loads(cloudpickle.dumps((count, merge)))
        states = [count([state], number) for number, state in enumerate(self.states)]
        return _merge_all(states, merge, FAN_IN)

    def release(self) -> None:
        self.is_released = True


def _merge_all(states: list[bytes], merge: Merge, fan_in: int) -> bytes | None:
    while len(states) > 1:
        states = [merge(states[at : at + fan_in]) for at in range(0, len(states), fan_in)]
    return states[0] if states else None
