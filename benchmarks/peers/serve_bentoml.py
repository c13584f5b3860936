"""The service of `serve.py` as a BentoML service, without log lines, metrics and adaptive batching."""

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

    @bentoml.api
    async def predict(self, rows: list[dict[str, str]]) -> dict[str, Any]:
        return {"predictions": predict([row["text"] for row in rows])}
