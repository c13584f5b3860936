"""A client of an application in the same process, without sockets."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx

from weigh.serve import create_app

ADDRESS = "http://127.0.0.1:8000"


class Client:
    """Sends requests to an application; errors that it does not answer are raised."""

    def __init__(self, models: Any, feedback: Any = None, **settings: Any) -> None:
        self.app = create_app(models, feedback, **settings)

    @property
    def service(self) -> Any:
        """The parts of the service."""
        return self.app.state.service

    def request(self, method: str, path: str, **content: Any) -> httpx.Response:
        """Return the answer to a request."""
        return asyncio.run(self._request(method, path, **content))

    async def _request(self, method: str, path: str, **content: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as client:
            return await client.request(method, path, **content)

    def get(self, path: str, **content: Any) -> httpx.Response:
        """Return the answer to GET."""
        return self.request("GET", path, **content)

    def post(self, path: str, **content: Any) -> httpx.Response:
        """Return the answer to POST."""
        return self.request("POST", path, **content)

    def predict(self, model: str, rows: Any, **options: Any) -> list[dict[str, Any]]:
        """Return the predictions for rows."""
        answer = self.post(f"/v1/models/{model}/predict", json={"rows": rows, **options})
        assert answer.status_code == 200, answer.text
        predictions: list[dict[str, Any]] = answer.json()["predictions"]
        return predictions

    def explain(self, model: str, rows: Any, **options: Any) -> list[dict[str, Any]]:
        """Return the explanations for rows."""
        answer = self.post(f"/v1/models/{model}/explain", json={"rows": rows, **options})
        assert answer.status_code == 200, answer.text
        explanations: list[dict[str, Any]] = answer.json()["explanations"]
        return explanations


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Return the status and the sentence of a problem document."""
    assert answer.headers["content-type"] == "application/problem+json"
    document = json.loads(answer.text)
    assert document["type"] == "about:blank"
    assert document["status"] == answer.status_code
    return answer.status_code, document["detail"]
