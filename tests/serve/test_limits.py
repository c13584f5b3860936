"""Too many, too large and too slow requests are refused, and others go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

import weigh
from tests.serve.client import ADDRESS, Client, refusal
from weigh import errors
from weigh.serve import Limits

MODEL = weigh.NaiveBayes().fit(["cheap pills", "lunch at noon"], ["spam", "ham"]).model_
PREDICT = "/v1/models/m/predict"
HEADERS = {"content-type": "application/json"}
BODY = b'{"rows": ["cheap"]}'


async def send_together(client: Client, n: int, content: Any) -> list[httpx.Response]:
    transport = httpx.ASGITransport(client.app)
    async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as http:
        requests = [http.post(PREDICT, content=content(), headers=HEADERS) for _ in range(n)]
        return await asyncio.gather(*requests)


async def slowly() -> AsyncIterator[bytes]:
    yield BODY[:5]
    await asyncio.sleep(0.3)
    yield BODY[5:]


@pytest.mark.parametrize(
    ("limits", "status", "sentence"),
    [
        (Limits(requests=2), 503, "The server is answering 2 requests already; try again in a second."),
        (Limits(requests_per_client=2), 429, "This client waits for 2 answers already; wait for some."),
    ],
)
def test_too_many_requests_at_a_time_are_refused(limits: Limits, status: int, sentence: str) -> None:
    client = Client({"m": MODEL}, limits=limits)
    answers = asyncio.run(send_together(client, 5, slowly))
    assert sorted(answer.status_code for answer in answers) == sorted([200, 200, *[status] * 3])
    for answer in answers:
        if answer.status_code != 200:
            assert refusal(answer) == (status, sentence)
            assert answer.headers["retry-after"] == "1"
    assert client.predict("m", ["cheap"])


def test_slow_bodies_are_refused() -> None:
    client = Client({"m": MODEL}, limits=Limits(body_seconds=0.1))
    answer = client.post(PREDICT, content=slowly(), headers=HEADERS)
    assert refusal(answer) == (408, "The body did not arrive within 0.1 seconds.")
    assert client.predict("m", ["cheap"])


def test_large_bodies_of_unknown_length_are_refused_before_they_are_complete() -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1000
            yield b"x" * 1000

    client = Client({"m": MODEL}, limits=Limits(body_bytes=10_000))
    answer = client.post(PREDICT, content=endless(), headers=HEADERS)
    assert refusal(answer) == (413, "The body is larger than 10,000 bytes; send fewer rows at a time.")
    assert sent == 11_000


@pytest.mark.parametrize(
    "request_parts", [{"headers": {"x-long": "x" * 20_000}}, {"params": {"x": "x" * 20_000}}]
)
def test_large_header_fields_and_addresses_are_refused(request_parts: dict[str, Any]) -> None:
    answer = Client({"m": MODEL}).get("/v1/models", **request_parts)
    assert refusal(answer) == (431, "The header fields and the address are longer than 16,384 bytes.")


def test_limits_must_be_positive() -> None:
    with pytest.raises(errors.ParameterError, match=r"Limits: rows must be a number above 0, got 0\."):
        Limits(rows=0)
