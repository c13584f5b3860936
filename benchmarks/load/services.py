"""The services under load: ours, and peers around a pipeline of scikit-learn."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.load.servers import Service

MODEL = "texts"
WEIGH, FASTAPI, BENTOML = "weigh serve", "FastAPI + scikit-learn", "BentoML + scikit-learn"


def describe(name: str, workers: int) -> str:
    return f"{name}, {workers} process{'es' * (workers > 1)}"


def weigh_service(model: Path, workers: int) -> Service:
    def command(port: int) -> list[str | Path]:
        options = ["--port", str(port), "--workers", str(workers), "--log", "none"]
        return [sys.executable, "-m", "weigh.cli.main", "serve", f"{MODEL}={model}", *options]

    return Service(describe(WEIGH, workers), f"/v1/models/{MODEL}/predict", command)


def fastapi_service(collection: str, workers: int) -> Service:
    def command(port: int) -> list[str | Path]:
        server = [sys.executable, "-m", "uvicorn", "benchmarks.peers.serve:create_app", "--factory"]
        options = ["--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "warning"]
        return [*server, *options, "--port", str(port), "--workers", str(workers)]

    return Service(describe(FASTAPI, workers), "/predict", command, _peer_environment(collection, workers))


def bentoml_service(collection: str, workers: int) -> Service:
    def command(port: int) -> list[str | Path]:
        server = [sys.executable, "-m", "bentoml", "serve", "benchmarks.peers.serve_bentoml:Texts"]
        return [*server, "--host", "127.0.0.1", "--port", str(port)]

    environment = {**_peer_environment(collection, workers), "BENTOML_DO_NOT_TRACK": "True"}
    return Service(describe(BENTOML, workers), "/predict", command, environment)


def _peer_environment(collection: str, workers: int) -> dict[str, str]:
    return {"BENCH_COLLECTION": collection, "BENCH_WORKERS": str(workers)}
