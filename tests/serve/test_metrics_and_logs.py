"""Counts are summed over processes, and neither they nor the log have the content of requests."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import weigh
from tests.serve.client import Client
from weigh.serve.logs import ServerLog
from weigh.serve.metrics import Metrics

N = 400
TABLE = {
    "colour": [("red", "green", "blue")[i % 3] for i in range(N)],
    "y": [("p", "q")[i % 2] for i in range(N)],
}
MODEL = weigh.NaiveBayes().fit(TABLE, "y").model_
SECRET = "secret-7c1f"


def values(text: str) -> dict[str, float]:
    """Return the samples of Prometheus' text."""
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(number) for name, _, number in lines}


def test_requests_rows_and_verdicts_are_counted() -> None:
    client = Client({"m": MODEL})
    client.predict("m", [{"colour": "red"}] * 3)
    client.predict("m", [{"colour": "red"}] * 2, unsure=0)
    client.post("/v1/models/m/predict", content="{")
    counts = values(client.get("/metrics").text)
    assert counts['weigh_requests_total{endpoint="predict",model="m",status="200"}'] == 2
    assert counts['weigh_requests_total{endpoint="predict",model="m",status="415"}'] == 1
    verdict = MODEL.predict([{"colour": "red"}])[0]
    assert counts[f'weigh_predictions_total{{model="m",verdict="{verdict}"}}'] == 3
    assert counts['weigh_unsure_total{model="m"}'] == 2
    assert counts['weigh_request_seconds_count{endpoint="predict"}'] == 3
    assert counts['weigh_request_seconds_bucket{endpoint="predict",le="+Inf"}'] == 3


def test_unfamiliar_rows_are_counted_among_a_sample() -> None:
    client = Client({"m": MODEL})
    for _ in range(5):
        client.predict("m", [{"colour": "purple"}])
    counts = values(client.get("/metrics").text)
    examined = counts['weigh_examined_rows_total{model="m"}']
    assert 1 <= examined <= 5
    assert counts['weigh_unfamiliar_rows_total{model="m"}'] == examined


def test_the_counts_of_all_processes_are_summed(tmp_path: Path) -> None:
    clients = [Client({"m": MODEL}, metrics_folder=str(tmp_path)) for _ in range(2)]
    for client in clients:
        client.predict("m", [{"colour": "red"}])
        client.service.metrics.publish()
    key = 'weigh_requests_total{endpoint="predict",model="m",status="200"}'
    assert [values(client.get("/metrics").text)[key] for client in clients] == [2, 2]
    (tmp_path / "damaged.json").write_text("{")
    assert values(clients[0].get("/metrics").text)[key] == 2


def test_names_are_escaped_in_metrics() -> None:
    metrics = Metrics()
    metrics.add("weigh_predictions_total", 1, model='a"b\\c\nd', verdict="x")
    assert 'weigh_predictions_total{model="a\\"b\\\\c\\nd",verdict="x"} 1' in metrics.format()


@pytest.mark.parametrize("format", ["text", "json"])
def test_logs_have_no_content_of_requests(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    client = Client({"m": MODEL}, log=ServerLog(format, stream))
    client.predict("m", [{"colour": SECRET}])
    client.post(f"/v1/models/m/predict?{SECRET}=1", json={"rows": [{SECRET: SECRET}]})
    client.post("/v1/models/m/predict", content=SECRET, headers={"content-type": "application/json"})
    client.get(f"/v1/models/{SECRET}")
    client.get(f"/{SECRET}")
    client.get("/v1/models", headers={"authorization": f"Bearer {SECRET}", "host": SECRET})

    def fail(*_: Any) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr(client.service.catalog.get("m").predictor, "predict", fail)
    client.post("/v1/models/m/predict", json={"rows": [{"colour": SECRET}]})
    lines = stream.getvalue().splitlines()
    assert len(lines) == 8
    assert SECRET not in stream.getvalue()
    assert "ValueError" in stream.getvalue()
    if format == "json":
        first = json.loads(lines[0])
        assert first | {"endpoint": "predict", "model": "m", "status": 200, "rows": 1, "client": ""} == first
        assert first.keys() == {"time", "endpoint", "model", "status", "rows", "ms", "client"}
    else:
        assert " 200 predict m rows=1 " in lines[0]


def test_a_log_that_cannot_be_written_stops_nothing() -> None:
    stream = io.StringIO()
    client = Client({"m": MODEL}, log=ServerLog("text", stream))
    stream.close()
    assert client.predict("m", [{"colour": "red"}])
