"""Open Parquet files as a frame of an engine that is named in text, such as "dask" or "dask=tcp://host:8786"."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from weigh.errors import DataError, parameter_error
from weigh.source.partitioned.frame import PartitionedFrame
from weigh.source.paths import resolve_paths

ENGINES = ("dask", "spark")
PARQUET = (".parquet", ".parq", ".pq")


@contextmanager
def open_partitions(paths: str | Sequence[str], engine: str) -> Iterator[PartitionedFrame]:
    """Open Parquet files for an engine "name" or "name=ADDRESS", as long as the context lasts.

    Without an address, the engine runs on this machine.
    """
    name, _, address = engine.partition("=")
    if name not in ENGINES:
        must = f"{' or '.join(map(repr, ENGINES))}, with '=' and an address if it runs elsewhere"
        raise parameter_error("fit", "engine", must, engine, ENGINES)
    files = [os.fspath(file) for file in resolve_paths(paths)]
    for file in files:
        if not file.lower().endswith(PARQUET) and not os.path.isdir(file):
            raise DataError(
                f"{file} is not a Parquet file, and only those are read in partitions.",
                hint="Convert it to Parquet, or leave out the engine.",
            )
    with ExitStack() as stack:
        try:
            frame = stack.enter_context(_open(name, files, address or None))
        except ImportError as error:
            raise DataError(
                f"The engine {name!r} is not installed ({error}).", hint=f"Run: pip install 'weigh[{name}]'."
            ) from error
        yield frame


def _open(name: str, files: list[str], address: str | None) -> Any:
    """Return the context of the frame; the module of the engine is imported now."""
    if name == "spark":
        from weigh.source.partitioned import spark

        return spark.open_parquet(files, address)
    from weigh.source.partitioned import dask

    return dask.open_parquet(files, address)
