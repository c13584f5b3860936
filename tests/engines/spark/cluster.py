"""Folds in a cluster of two executor processes: one with a slow task, one in which an executor is killed.

Each line is the number of rows that were counted, and how often the partition in question was.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from weigh.source.partitioned.spark import SparkFrame

PARTITION = 5
OPTIONS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "1s",
    "spark.default.parallelism": "2",
}


def counting(folder: Path, first_time: Callable[[], None]) -> Callable[[Iterable[Any], int], bytes]:
    """Return a counter of rows that calls `first_time` in the first attempt at a partition."""
    folder.mkdir()

    def count(tables: Iterable[Any], number: int) -> bytes:
        n_rows = sum(table.num_rows for table in tables)
        if number == PARTITION:
            attempt = len(os.listdir(folder))
            Path(folder, str(attempt)).touch()
            if attempt == 0:
                first_time()
        return b"%d" % n_rows

    return count


def sleep_for_an_hour() -> None:
    time.sleep(3_600)


def kill_executor() -> None:
    """Kill the Java process that started the daemon that started this worker."""
    status = Path(f"/proc/{os.getppid()}/stat").read_text()
    os.kill(int(status.rpartition(")")[2].split()[1]), signal.SIGKILL)


def main(folder: Path) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=OPTIONS).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    frame = SparkFrame(session.range(0, 1_000, 1, 8))
    for name, first_time in (("slow task", sleep_for_an_hour), ("killed executor", kill_executor)):
        state = frame.fold(
            counting(folder / name, first_time), lambda states: b"%d" % sum(int(state) for state in states)
        )
        print(name, (state or b"").decode(), len(os.listdir(folder / name)), flush=True)
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
