"""`weigh serve` under load, beside services around scikit-learn."""

from __future__ import annotations

from typing import Any

from benchmarks.data import NEWS, SMS
from benchmarks.job import Quality, Row

SHARED: dict[str, Any] = {
    "environment": "serve",
    "packages": ("weigh", "starlette", "uvicorn", "uvloop", "httptools", "scikit-learn"),
}
FASTAPI = ("fastapi", "orjson")


def report_single_rows(quick: bool) -> str:
    from benchmarks.load.single_rows import single_row_table

    return single_row_table(quick)


def report_batches(quick: bool) -> str:
    from benchmarks.load.batches import batch_tables

    return batch_tables(quick)


JOBS: list[Row] = [
    Quality("serve.s", "Predictions over HTTP, one short text per request", report_single_rows, (SMS,),
            ("bin/wrk", "bentoml", *FASTAPI), **SHARED),
    Quality("serve.b", "Predictions over HTTP, many texts per request", report_batches, (SMS, NEWS),
            FASTAPI, **SHARED),
]  # fmt: skip
