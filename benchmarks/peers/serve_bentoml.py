"""The pipeline of `serve.py` as a BentoML service without log lines and metrics.

Adaptive batching predicts rows of different requests together, which took a third less CPU time per
request. The latency it aims at is far above what is measured, because it refuses requests that may take
longer.
"""

import os
from typing import Any

import bentoml

from benchmarks.peers.serve import fit_pipeline, predict


@bentoml.service(
    workers=int(os.environ["BENCH_WORKERS"]),
    traffic={"timeout": 180},
    metrics={"enabled": False},
    logging={"access": {"enabled": False}},
)
class Texts:
    def __init__(self) -> None:
        fit_pipeline()

    @bentoml.api(batchable=True, max_batch_size=64, max_latency_ms=10_000)  # type: ignore[untyped-decorator]
    async def predict(self, rows: list[dict[str, str]]) -> list[dict[str, Any]]:
        return predict([row["text"] for row in rows])
