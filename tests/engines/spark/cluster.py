"""A fold in a cluster of two executor processes, one of which is killed inside a task.

Prints the number of rows that were counted, and how often the partition of that task was.
"""

from __future__ import annotations

import os
import signal
import sys
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
    "spark.default.parallelism": "2",
}


def counting(folder: Path) -> Callable[[Iterable[Any], int], bytes]:
    """Return a counter of rows that kills its executor in the first attempt at a partition."""

    def count(tables: Iterable[Any], number: int) -> bytes:
        n_rows = sum(table.num_rows for table in tables)
        if number == PARTITION:
            attempt = len(os.listdir(folder))
            Path(folder, str(attempt)).touch()
            if attempt == 0:
                kill_executor()
        return b"%d" % n_rows

    return count


def kill_executor() -> None:
    """Kill the Java process that started the daemon that started this worker."""
    status = Path(f"/proc/{os.getppid()}/stat").read_text()
    os.kill(int(status.rpartition(")")[2].split()[1]), signal.SIGKILL)


def main(folder: Path) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=OPTIONS).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    frame = SparkFrame(session.range(0, 1_000, 1, 8))
    state = frame.fold(counting(folder), lambda states: b"%d" % sum(int(state) for state in states))
    print((state or b"").decode(), len(os.listdir(folder)), flush=True)
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
