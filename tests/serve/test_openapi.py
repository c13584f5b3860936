"""The OpenAPI document describes what the service answers, and no request causes a server error."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.serve import fuzz
from weigh.serve.routes import MODEL_PATHS, PATHS


@pytest.mark.filterwarnings("ignore")
def test_requests_made_from_the_document_cause_no_server_error(tmp_path: Path) -> None:
    counts: Counter[int] = Counter()
    fuzz.fuzz_operations(fuzz.make_client(str(tmp_path)), 60, counts)
    assert counts[200]


@pytest.mark.filterwarnings("ignore")
def test_arbitrary_bodies_cause_no_server_error(tmp_path: Path) -> None:
    counts: Counter[int] = Counter()
    fuzz.fuzz_bodies(fuzz.make_client(str(tmp_path)), 100, counts)
    assert counts[422]


def test_the_document_is_openapi_and_has_the_limits() -> None:
    document = fuzz.make_client().get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    body = document["paths"]["/v1/models/{name}/predict"]["post"]["requestBody"]["content"]
    assert body["application/json"]["schema"]["properties"]["rows"]["anyOf"][0]["maxItems"] == 50


def test_every_address_is_described() -> None:
    described = set(fuzz.make_client().get("/openapi.json").json()["paths"])
    assert set(PATHS) - {"/openapi.json"} <= described
    assert {f"/v1/models/{{name}}{'/' * bool(action)}{action}" for action in MODEL_PATHS} <= described
