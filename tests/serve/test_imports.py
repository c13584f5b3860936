"""Predictions and explanations import no learner and none of the heavy libraries."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import weigh

CODE = """
import asyncio, json, sys
from weigh.serve import create_app

async def ask(path, body):
    sent = []
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": b"", "query_string": b"",
             "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")], "client": None}
    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}
    async def send(message):
        sent.append(message)
    await app(scope, receive, send)
    assert sent[0]["status"] == 200, sent

app = create_app(sys.argv[1])
app.state.service.catalog.prepare()
rows = {"rows": [{"text": "cheap pills", "n": 1}]}
asyncio.run(ask("/v1/models/m/predict", json.dumps({**rows, "check": True}).encode()))
asyncio.run(ask("/v1/models/m/explain", json.dumps({**rows, "worked": True, "flip": True}).encode()))
print(json.dumps(sorted(sys.modules)))
"""


def test_predict_and_explain_import_no_learner(tmp_path: Path) -> None:
    table = {"text": ["cheap pills now", "lunch at noon"] * 9, "n": [1.5, 2, 3] * 6, "y": ["s", "h"] * 9}
    weigh.NaiveBayes(columns={"text": "text"}).fit(table, "y").model_.save(tmp_path / "m.weigh")
    done = subprocess.run(
        [sys.executable, "-c", CODE, tmp_path / "m.weigh"], capture_output=True, encoding="utf-8", check=True
    )
    modules = set(json.loads(done.stdout))
    assert "weigh.serve.endpoints" in modules
    packages = {name.partition(".")[0] for name in modules}
    assert packages.isdisjoint({"scipy", "sklearn", "pandas", "pyarrow", "altair", "uvicorn"})
    forbidden = ("weigh.learn", "weigh.estimators", "weigh.engines", "weigh.trials", "weigh.journal")
    assert not [name for name in modules if name.startswith(forbidden)]


def test_the_package_is_cheap_to_import() -> None:
    code = "import sys, weigh.serve; print([m for m in sys.modules if m.startswith(('starlette', 'numpy'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "[]\n"
