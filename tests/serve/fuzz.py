"""Fuzzed requests: `python -m tests.serve.fuzz --requests 10000` sends many, the tests a few."""

from __future__ import annotations

import argparse
import asyncio
import json
import warnings
from collections import Counter
from typing import Any

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import weigh
from tests.serve.client import ADDRESS, Client
from weigh.serve import Limits

TABLE = {
    "text": ["cheap pills", "lunch at noon"] * 6,
    "size": [1.0, 2.5, 3.0] * 4,
    "sender": ["a", "b"] * 6,
    "label": ["spam", "ham"] * 6,
}
LIMITS = Limits(rows=50, explained_rows=5, text_length=1000, nesting=6)
ACTIONS = ("predict", "explain", "learn", "forget")
MEDIA_TYPES = (
    "application/json",
    "application/x-ndjson",
    "text/csv",
    "application/vnd.apache.arrow.stream",
)

cells = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
columns = st.sampled_from([*TABLE, "x"]) | st.text(max_size=5)
rows = st.lists(st.dictionaries(columns, cells, max_size=5) | cells, max_size=4) | cells
good_rows = st.fixed_dictionaries({"text": cells, "size": cells, "sender": cells, "label": cells})
options = st.dictionaries(
    st.sampled_from(["unsure", "costs", "class_prior", "check", "worked", "flip", "to", "most", "id", "std"]),
    cells | st.booleans(),
    max_size=3,
)
json_bodies = st.builds(
    lambda given_rows, more: json.dumps({"rows": given_rows, **more}).encode(),
    rows | st.lists(good_rows, min_size=1, max_size=4),
    options,
)
line_bodies = st.lists(good_rows.map(json.dumps), max_size=4).map(lambda lines: "\n".join(lines).encode())
csv_bodies = st.lists(st.text(max_size=12), max_size=8).map(
    lambda parts: ("text,size,sender,label\n" + ",".join(parts)).encode("utf-8", "surrogatepass")
)
bodies = json_bodies | line_bodies | csv_bodies | st.binary(max_size=60)


def make_client(folder: str | None = None) -> Client:
    """Return a client of a small model."""
    model = weigh.NaiveBayes(columns={"text": "text"}).fit(TABLE, "label").model_
    return Client({"m": model}, folder, limits=LIMITS)


def load_schema(client: Client) -> Any:
    """Return the operations of the document."""
    return schemathesis.openapi.from_dict(client.get("/openapi.json").json())


def send_case(client: Client, case: Any) -> httpx.Response:
    """Send a request that schemathesis made, mostly to a model that exists."""
    if case.path_parameters and len(str(case.path_parameters.get("name"))) % 4:
        case.path_parameters["name"] = "m"
    arguments = case.as_transport_kwargs(base_url=ADDRESS)
    arguments.pop("cookies", None)
    headers = dict(arguments.pop("headers", None) or {})
    data = arguments.pop("data", None)
    if data is not None:
        arguments["content"] = data if isinstance(data, bytes | str) else str(data)

    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(client.app)) as http:
            return await http.request(headers=headers, **arguments)

    return asyncio.run(send())


def check(answer: httpx.Response) -> None:
    """Raise AssertionError for a fault of the server, and for a refusal without a sentence."""
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert json.loads(answer.text)["detail"]


def run_settings(n: int) -> settings:
    """Return the settings for a number of examples."""
    return settings(
        max_examples=n,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )


def fuzz_bodies(client: Client, n: int, counts: Counter[int]) -> None:
    """Send arbitrary bodies to every action."""

    @run_settings(n)
    @given(st.sampled_from(ACTIONS), st.sampled_from(MEDIA_TYPES), bodies)
    def send(action: str, media_type: str, body: bytes) -> None:
        answer = client.post(f"/v1/models/m/{action}", content=body, headers={"content-type": media_type})
        counts[answer.status_code] += 1
        check(answer)

    send()


def fuzz_operations(client: Client, n: int, counts: Counter[int]) -> None:
    """Send requests that schemathesis makes from the document, to every operation."""
    operations = [result.ok() for result in load_schema(client).get_all_operations()]
    for operation in operations:

        @run_settings(max(1, n // len(operations)))
        @given(operation.as_strategy())
        def send(case: Any) -> None:
            answer = send_case(client, case)
            counts[answer.status_code] += 1
            check(answer)

        send()


def main() -> None:
    """Send requests, and print how many had which status."""
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    n = parser.parse_args().requests
    warnings.simplefilter("ignore")
    counts: Counter[int] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        client = make_client(folder)
        fuzz_operations(client, n // 2, counts)
        # Operations without a body have few requests that differ.
        fuzz_bodies(client, n - sum(counts.values()), counts)
    print(f"{sum(counts.values()):,} requests, no server error; by status: {dict(sorted(counts.items()))}")


if __name__ == "__main__":
    main()
