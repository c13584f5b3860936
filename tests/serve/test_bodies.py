"""The same rows in every format of bodies have the same answers, in every format of answers."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow as pa
import pytest

import weigh
from tests.serve.client import Client

TABLE: dict[str, list[Any]] = {
    "body": ['cheap pills, "now"', "lunch at noon", "cheap\nwatches", "minutes of the meeting"] * 5,
    "size": [1.5, 2, 30, None] * 5,
    "sender": ["a", "b", "a", None] * 5,
    "label": ["spam", "ham", "spam", "ham"] * 5,
}
ROWS = [
    {"body": 'cheap "noon", pills', "size": 2.5, "sender": "a"},
    {"body": "lunch\nmeeting", "size": None, "sender": "c"},
    {"body": "naïve 😀 cheap", "size": 3, "sender": None},
]
JSON, LINES, CSV = "application/json", "application/x-ndjson", "text/csv"
ARROW = "application/vnd.apache.arrow.stream"


@pytest.fixture(scope="module")
def client() -> Client:
    return Client({"m": weigh.NaiveBayes(columns={"body": "text"}).fit(TABLE, "label").model_})


def encode(media_type: str, rows: list[dict[str, Any]] = ROWS) -> bytes:
    """Return rows as a body."""
    if media_type == JSON:
        return json.dumps({"rows": rows}).encode()
    if media_type == LINES:
        return "\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
    if media_type == CSV:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue().encode()
    sink = io.BytesIO()
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def decode(media_type: str, content: bytes) -> list[list[Any]]:
    """Return the label and the probabilities of each row of an answer."""
    if media_type == JSON:
        answers = json.loads(content)["predictions"]
    elif media_type == LINES:
        answers = [json.loads(line) for line in content.splitlines()]
    elif media_type == CSV:
        rows = csv.DictReader(io.StringIO(content.decode()))
        return [[row["label"], float(row["P(ham)"]), float(row["P(spam)"])] for row in rows]
    else:
        rows = pa.ipc.open_stream(content).read_all().to_pylist()
        return [[row["label"], row["P(ham)"], row["P(spam)"]] for row in rows]
    return [[each["label"], each["probabilities"]["ham"], each["probabilities"]["spam"]] for each in answers]


@pytest.mark.parametrize("answer_type", [JSON, LINES, CSV, ARROW])
@pytest.mark.parametrize("media_type", [JSON, LINES, CSV, ARROW])
def test_every_format_gives_the_same_predictions(client: Client, media_type: str, answer_type: str) -> None:
    model = client.service.catalog.get("m").model
    expected = [
        [label, *shares]
        for label, shares in zip(model.predict(ROWS), model.predict_proba(ROWS).tolist(), strict=True)
    ]
    answer = client.post(
        "/v1/models/m/predict",
        content=encode(media_type),
        headers={"content-type": media_type, "accept": answer_type},
    )
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].partition(";")[0] == answer_type
    assert decode(answer_type, answer.content) == expected
    assert decode(answer_type, answer.content) != expected[::-1]


@pytest.mark.parametrize("media_type", [LINES, CSV, ARROW])
def test_explanations_do_not_depend_on_the_format(client: Client, media_type: str) -> None:
    headers = {"content-type": media_type}
    answer = client.post("/v1/models/m/explain?most=2", content=encode(media_type), headers=headers)
    assert answer.json()["explanations"] == client.explain("m", ROWS, most=2)
    as_lines = client.post(
        "/v1/models/m/explain?most=2", content=encode(media_type), headers={**headers, "accept": LINES}
    )
    assert [json.loads(line) for line in as_lines.text.splitlines()] == answer.json()["explanations"]


@pytest.mark.filterwarnings("ignore::weigh.errors.ExtraColumns")
@pytest.mark.parametrize("media_type", [JSON, LINES, CSV, ARROW])
def test_columns_that_the_model_does_not_have_are_ignored_and_named(client: Client, media_type: str) -> None:
    rows = [{**row, "id": 7, "label": "spam"} for row in ROWS]
    answer = client.post(
        "/v1/models/m/predict", content=encode(media_type, rows), headers={"content-type": media_type}
    )
    assert answer.json()["ignored_columns"] == ["id"]
    assert answer.json()["predictions"] == client.predict("m", ROWS)


def test_options_may_be_in_the_query_or_in_the_body(client: Client) -> None:
    answer = client.post("/v1/models/m/predict?unsure=0&id=a", json={"rows": ROWS})
    assert answer.json()["id"] == "a"
    assert answer.json()["predictions"] == client.predict("m", ROWS, unsure=0)
    assert {each["label"] for each in answer.json()["predictions"]} == {"unsure"}


def test_formulas_are_escaped_in_csv() -> None:
    model = weigh.NaiveBayes().fit({"c": ["a", "b"], "y": ["=1+1", "x"]}, "y").model_
    headers = {"accept": CSV}
    answer = Client({"m": model}).post("/v1/models/m/predict", json={"rows": [{"c": "a"}]}, headers=headers)
    assert answer.text.splitlines()[1].startswith("'=1+1,")


def test_fields_of_objects_are_columns() -> None:
    table = {"a.b": [1.0, 2.0, 8.0, 9.0], "y": ["p", "p", "q", "q"]}
    model = weigh.NaiveBayes().fit(table, "y").model_
    assert Client({"m": model}).predict("m", [{"a": {"b": 9}}])[0]["label"] == "q"


def test_lists_are_tokens() -> None:
    table = {"tags": [["x", "y"], ["z"], ["x"], ["z", "w"]], "y": ["p", "q", "p", "q"]}
    model = weigh.NaiveBayes().fit(table, "y").model_
    assert Client({"m": model}).predict("m", [{"tags": ["z"]}, {"tags": []}])[0]["label"] == "q"
