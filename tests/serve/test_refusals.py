"""Every refusal says in a sentence what is wrong, and never shows a stack trace."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest

import weigh
from tests.serve.client import Client, refusal
from weigh.serve import Limits

TABLE = {"body": ["cheap pills", "lunch at noon"] * 5, "size": [1.5, 2] * 5, "label": ["spam", "ham"] * 5}
LIMITS = Limits(body_bytes=5_000, rows=20, explained_rows=2, text_length=100, nesting=5)
JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"
ROW = '{"body": "x", "size": 1}'


@pytest.fixture(scope="module")
def client() -> Client:
    numbers = {"a": [1.0, 2, 3, 4], "y": [1.0, 2, 3, 5]}
    models = {
        "m": weigh.NaiveBayes(columns={"body": "text"}).fit(TABLE, "label").model_,
        "p": weigh.Perceptron(columns={"body": "text"}).fit(TABLE, "label").model_,
        "r": weigh.LinearRegression(prior=1).fit(numbers, "y").model_,
    }
    return Client(models, limits=LIMITS)


PREDICT = "/v1/models/m/predict"
NO_JSON = "The body is not JSON: "
MIXED = "Every row must be an object, or every row a list, or every row a text."
NO_ROWS = 'The body must be an object such as {"rows": [{"column": value}]}.'
DEEP = "The body nests lists and objects more than 5 levels deep."
BODIES = [
    ("", 400, "The body is not JSON: Expecting value at line 1, column 1."),
    ("{", 400, NO_JSON + "Expecting property name enclosed in double quotes at line 1, column 2."),
    (b"\xff\xfe", 400, "The body is not UTF-8."),
    ('{"rows": [NaN]}', 400, NO_JSON + "NaN is not a number of JSON, use null for a missing value."),
    ("[" * 3_000, 400, DEEP),
    (
        '{"rows": [{"body": [[[[[[1]]]]]]}]}',
        400,
        "The body nests lists and objects more than 5 levels deep.",
    ),
    ("[]", 422, NO_ROWS),
    ("{}", 422, NO_ROWS),
    ('{"rows": []}', 422, "There are no rows."),
    ('{"rows": [{}]}', 422, "The rows are empty objects; give them the columns of the model."),
    ('{"rows": [1]}', 422, MIXED),
    ('{"rows": [{"a": 1}, "x"]}', 422, MIXED),
    ('{"rows": null}', 422, MIXED),
    (
        '{"rows": [{"bdy": "x"}]}',
        422,
        "The model has no column 'bdy'; it has 'body', 'size'. Did you mean 'body'?",
    ),
    (
        '{"rows": [{"body": "x"}]}',
        422,
        "The rows lack the column 'size' that the model was trained on; they have 'body'. "
        "Use null for missing values; in CSV leave the field empty.",
    ),
    (
        f'{{"rows": [{ROW}], "unsur": 1}}',
        422,
        "There is no option 'unsur'; there are rows, id, unsure, costs, class_prior, predictive, check, std. "
        "Did you mean 'unsure'?",
    ),
    (f'{{"rows": [{ROW}], "unsure": -1}}', 422, "unsure must be a number of at least 0, got -1."),
    (f'{{"rows": [{ROW}], "unsure": "x"}}', 422, "unsure must be a number of at least 0, got 'x'."),
    (f'{{"rows": [{ROW}], "check": 3}}', 422, "check must be true or false, got 3."),
    (f'{{"rows": [{ROW}], "id": ""}}', 422, "id must be a text of 1 to 200 characters, got ''."),
    (
        f'{{"rows": [{ROW}], "costs": [{{"true": "spm", "verdict": "ham", "cost": 2}}]}}',
        422,
        "The model has no class 'spm'; it has 'ham', 'spam'. Did you mean 'spam'?",
    ),
    (
        f'{{"rows": [{ROW}], "costs": {{}}}}',
        422,
        'costs must be a list such as [{"true": "ham", "verdict": "spam", "cost": 20}], got {}.',
    ),
    (f'{{"rows": [{ROW}], "std": true}}', 409, "std is for regressions, and this model predicts classes."),
    (f'{{"rows": [{", ".join([ROW] * 21)}]}}', 413, "There are 21 rows; a request takes 20 at most."),
    (
        '{"rows": [{"body": "' + "x" * 101 + '", "size": 1}]}',
        413,
        "A text has 101 characters; a cell takes 100 at most.",
    ),
    ("x" * 5_001, 413, "The body is larger than 5,000 bytes; send fewer rows at a time."),
    (
        f'{{"rows": [{{"body": "x", "size": {"9" * 4_400}}}]}}',
        400,
        NO_JSON + "Exceeds the limit (4300 digits) for integer string conversion: value has 4400 digits.",
    ),
]


@pytest.mark.parametrize(("body", "status", "sentence"), BODIES, ids=range(len(BODIES)))
def test_bodies_are_refused(client: Client, body: Any, status: int, sentence: str) -> None:
    answer = client.post(PREDICT, content=body, headers={"content-type": JSON})
    assert refusal(answer) == (status, sentence)


REQUESTS: list[tuple[str, str, dict[str, Any], int, str]] = [
    ("GET", "/v1/models/nix", {}, 404, "There is no model 'nix'; there are 'm', 'p', 'r'."),
    ("GET", "/v1/models/m/report", {}, 404, "There is no report beside this model; weigh report writes one."),
    ("GET", "/v1/models/m/", {}, 404, "There is nothing at this address; /openapi.json lists what there is."),
    (
        "GET",
        "/v1/models/m/x",
        {},
        404,
        "There is nothing at this address; /openapi.json lists what there is.",
    ),
    ("GET", "/v1/", {}, 404, "There is nothing at this address; /openapi.json lists what there is."),
    ("GET", "/nothing", {}, 404, "There is nothing at this address; /openapi.json lists what there is."),
    (
        "POST",
        PREDICT,
        {"content": b"x", "headers": {"content-type": JSON, "content-encoding": "gzip"}},
        415,
        "The body must not be compressed; its Content-Encoding is 'gzip'.",
    ),
    ("GET", PREDICT, {}, 405, "This address takes POST."),
    ("POST", "/v1/models", {}, 405, "This address takes GET."),
    (
        "POST",
        PREDICT,
        {"content": "a=b", "headers": {"content-type": "application/x-www-form-urlencoded"}},
        415,
        "The header Content-Type must be one of application/json, application/x-ndjson, text/csv, "
        "application/vnd.apache.arrow.stream, in UTF-8; it is 'application/x-www-form-urlencoded'.",
    ),
    (
        "POST",
        PREDICT,
        {"content": f'{{"rows": [{ROW}]}}', "headers": {"content-type": JSON, "accept": "image/png"}},
        406,
        "The header Accept must have one of application/json, application/x-ndjson, text/csv, "
        "application/vnd.apache.arrow.stream; it is 'image/png'.",
    ),
    (
        "POST",
        "/v1/models/m/explain",
        {"content": f'{{"rows": [{ROW}, {ROW}, {ROW}]}}', "headers": {"content-type": JSON}},
        413,
        "There are 3 rows; a request explains 2 at most.",
    ),
    (
        "POST",
        "/v1/models/p/predict",
        {"json": {"rows": [{"body": "x", "size": 1}], "unsure": 0.1}},
        409,
        "This model has no probabilities, which unsure, costs and class_prior need. Calibrate it, or train "
        "naive Bayes or logistic regression.",
    ),
    (
        "POST",
        "/v1/models/r/predict",
        {"json": {"rows": [{"a": 1}], "unsure": 0.1}},
        409,
        "A regression predicts numbers, not classes, so unsure, costs and class_prior cannot be used.",
    ),
    (
        "POST",
        "/v1/models/m/learn",
        {"json": {"rows": [{"body": "x", "size": 1, "label": "ham"}]}},
        409,
        "This server was started without a folder for feedback, so it does not learn.",
    ),
    (
        "POST",
        PREDICT,
        {"content": "body,size\nx,1\ny\n", "headers": {"content-type": "text/csv"}},
        422,
        "The body, line 3 has 1 field, the header has 2. A field that contains ',' must be in double quotes.",
    ),
    (
        "POST",
        PREDICT,
        {"content": "\n", "headers": {"content-type": "text/csv"}},
        422,
        "There are no rows.",
    ),
    (
        "POST",
        PREDICT,
        {"content": '{"body": "x", "size": 1}\nx', "headers": {"content-type": "application/x-ndjson"}},
        400,
        "Line 2 is not JSON: Expecting value at line 1, column 1.",
    ),
    (
        "POST",
        PREDICT,
        {"content": "x" * 100, "headers": {"content-type": ARROW}},
        400,
        "The body is not a complete Arrow IPC stream.",
    ),
    (
        "POST",
        PREDICT + "?" + "&".join(f"a{i}=1" for i in range(40)),
        {"content": f'{{"rows": [{ROW}]}}', "headers": {"content-type": JSON}},
        400,
        "The query of the address cannot be read.",
    ),
]


@pytest.mark.parametrize(("method", "path", "content", "status", "sentence"), REQUESTS)
def test_requests_are_refused(
    client: Client, method: str, path: str, content: dict[str, Any], status: int, sentence: str
) -> None:
    answer = client.request(method, path, **content)
    assert refusal(answer) == (status, sentence)
    assert (answer.headers.get("allow") is not None) == (status == 405)


def arrow_body(table: pa.Table, compression: str | None = None) -> bytes:
    """Return a table as an Arrow IPC stream."""
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
        stream.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("compression", ["zstd", "lz4"])
@pytest.mark.parametrize("is_dictionary", [False, True])
def test_compressed_arrow_streams_are_refused(client: Client, compression: str, is_dictionary: bool) -> None:
    bodies = pa.array(["x" * 50] * 10)
    table = pa.table({"body": bodies.dictionary_encode() if is_dictionary else bodies, "size": [1.0] * 10})
    headers = {"content-type": ARROW}
    answer = client.post(PREDICT, content=arrow_body(table, compression), headers=headers)
    assert refusal(answer) == (415, "The Arrow stream is compressed; write it without compression.")
    assert client.post(PREDICT, content=arrow_body(table), headers=headers).status_code == 200


def test_damaged_arrow_streams_are_refused(client: Client) -> None:
    body = arrow_body(pa.table({"body": ["x", "yy"], "size": [1.0, 2.0]}))
    for at in range(0, len(body), 3):
        damaged = bytearray(body)
        damaged[at] ^= 0xFF
        answer = client.post(PREDICT, content=bytes(damaged), headers={"content-type": ARROW})
        assert answer.status_code in (200, 400, 413, 415, 422), answer.text
        assert client.post(PREDICT, content=body[:at], headers={"content-type": ARROW}).status_code in (
            400,
            422,
        )


def test_a_fault_of_the_server_is_not_shown(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    served = client.service.catalog.get("m")
    monkeypatch.setattr(served.predictor, "predict", lambda *_: 1 / 0)
    answer = client.post(PREDICT, json={"rows": [{"body": "secret", "size": 1}]})
    assert refusal(answer) == (500, "The server failed to answer this request; its log says where.")
