"""Workers that die and interrupts: the same bytes, nothing counts twice, and the cluster is free again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the Spark engine is tested by `make spark-test`")

import weigh
from tests.engines.spark.tables import class_table, to_spark
from weigh.source.partitioned.spark import SparkFrame

PATIENCE = 120.0  # seconds that a loaded machine may take


def numbering(folder: Path) -> Callable[[], int]:
    """Return a function that returns 1, 2, 3, ... to its callers in all processes."""
    directory = str(folder)

    def next_number() -> int:
        import itertools
        import os

        for number in itertools.count(1):
            try:
                os.mkdir(os.path.join(directory, str(number)))
            except FileExistsError:
                continue
            return number
        raise AssertionError

    return next_number


def dying(function: Callable[..., Any], moment: int, folder: Path) -> Callable[..., Any]:
    """Return a function whose call number `moment` kills its process; calls in this process do not count."""
    next_number, driver = numbering(folder), os.getpid()

    def call(*arguments: Any) -> Any:
        import os
        import signal

        if os.getpid() != driver and next_number() == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments)

    return call


def count_rows(tables: Iterable[Any], number: int) -> bytes:
    return b"%d" % sum(table.num_rows for table in tables)


def add_counts(states: Sequence[bytes]) -> bytes:
    return b"%d" % sum(map(int, states))


@pytest.mark.parametrize("moment", [1, 4, 8], ids=["first task", "middle", "last task"])
def test_a_killed_worker_changes_nothing(spark: Any, tmp_path: Path, moment: int):
    def is_equal(batch: Any) -> Any:
        return batch["code"] == batch["member"]

    table = class_table().drop_columns(["tags", "paid", "when", "seen"])
    local = weigh.NaiveBayes(columns={"equal": weigh.Derived(is_equal, weigh.Flag())}).fit(table, "label")
    columns = {"equal": weigh.Derived(dying(is_equal, moment, tmp_path), weigh.Flag())}
    frame = to_spark(spark, table, 8)
    assert weigh.NaiveBayes(columns=columns).fit(frame, "label").model_.to_bytes() == local.model_.to_bytes()
    assert len(list(tmp_path.iterdir())) == 9  # eight partitions, one of them twice


def test_a_worker_killed_while_merging_changes_nothing(spark: Any, tmp_path: Path):
    frame = SparkFrame(spark.range(0, 1_000, 1, 8))
    assert frame.fold(count_rows, dying(add_counts, 1, tmp_path)) == b"1000"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_worker_killed_over_kept_states_changes_nothing(spark: Any, tmp_path: Path):
    def count_states(states: Iterable[bytes], number: int) -> bytes:
        return next(iter(states))

    kept = SparkFrame(spark.range(0, 1_000, 1, 9)).persist(count_rows)
    assert kept.fold(dying(count_states, 4, tmp_path), add_counts) == b"1000"
    assert len(list(tmp_path.iterdir())) > 9  # nine states, those of one task again
    kept.release()
    assert not spark.sparkContext._jsc.getPersistentRDDs()


def wait_until(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_an_interrupt_frees_the_cluster(spark: Any, tmp_path: Path):
    directory = str(tmp_path)

    def sleep(tables: Iterable[Any], number: int) -> bytes:
        import os
        import time

        open(os.path.join(directory, str(os.getpid())), "w").close()
        time.sleep(3_600)
        return b""

    def interrupt() -> None:
        wait_until(lambda: len(os.listdir(tmp_path)) == 2)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    frame = SparkFrame(spark.range(0, 100, 1, 8))
    # Spark's own handler cancels all jobs of the session, which other users may have started.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            frame.fold(sleep, add_counts)
    finally:
        signal.signal(signal.SIGINT, handler)
        thread.join()
    wait_until(lambda: not spark.sparkContext.statusTracker().getActiveJobsIds())
    # Spark ends the processes of cancelled tasks when it wants to; their cores are free at once.
    assert frame.fold(count_rows, add_counts) == b"100"


def test_a_killed_executor_changes_nothing(tmp_path: Path):
    command = [sys.executable, "-m", "tests.engines.spark.cluster", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=3 * PATIENCE, check=False)
    assert result.stdout == "1000 2\n", result.stderr[-4_000:]
