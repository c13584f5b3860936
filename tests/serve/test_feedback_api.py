"""Models learn and forget over HTTP, exactly as in the library."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import weigh
from tests.serve.client import Client, refusal

TABLE = {
    "text": ["cheap pills", "lunch at noon"] * 3,
    "size": [1.0, 2.5] * 3,
    "label": ["spam", "ham"] * 3,
}
ROWS = [{"text": "cheap lunch", "size": 3.0, "label": "spam"}, {"text": "noon", "size": None, "label": "ham"}]
CSV, LINES, ARROW = "text/csv", "application/x-ndjson", "application/vnd.apache.arrow.stream"


def train() -> Any:
    return weigh.NaiveBayes(columns={"text": "text", "size": "number"}).fit(TABLE, "label").model_


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client({"m": train()}, tmp_path)


def encode(media_type: str) -> bytes:
    if media_type == CSV:
        return b"text,size,label\ncheap lunch,3,spam\nnoon,,ham\n"
    if media_type == LINES:
        import json

        return "\n".join(map(json.dumps, ROWS)).encode()
    sink = io.BytesIO()
    table = pa.Table.from_pylist(ROWS)
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def test_the_model_equals_one_that_learned_the_rows(client: Client) -> None:
    answer = client.post("/v1/models/m/learn", json={"rows": ROWS, "id": "a"})
    assert answer.json() == {
        "rows": 2,
        "repeated": False,
        "id": "a",
        "model": {"rows": {"ham": 4, "spam": 4}},
    }
    taught = client.service.catalog.get("m").predictor.model
    assert taught.to_bytes() == train().learn(ROWS).to_bytes() != train().to_bytes()
    expected = train().learn(ROWS).predict_proba([{"text": "cheap", "size": 1}]).tolist()[0]
    assert list(client.predict("m", [{"text": "cheap", "size": 1}])[0]["probabilities"].values()) == expected
    assert client.post("/v1/models/m/forget", json={"rows": ROWS}).json()["model"]["rows"] == {
        "ham": 3,
        "spam": 3,
    }
    assert client.service.catalog.get("m").predictor.model.to_bytes() == train().to_bytes()


@pytest.mark.parametrize("media_type", [CSV, LINES, ARROW])
def test_every_format_teaches_the_same(client: Client, media_type: str) -> None:
    answer = client.post(
        "/v1/models/m/learn?id=b", content=encode(media_type), headers={"content-type": media_type}
    )
    assert answer.json()["rows"] == 2, answer.text
    taught = client.service.catalog.get("m").predictor.model
    assert taught.to_bytes() == train().learn(ROWS).to_bytes()


def test_an_id_is_applied_once(client: Client) -> None:
    for repeated in (False, True):
        answer = client.post("/v1/models/m/learn", json={"rows": ROWS, "id": "a"}).json()
        assert (answer["repeated"], answer["model"]) == (repeated, {"rows": {"ham": 4, "spam": 4}})
    other = client.post("/v1/models/m/learn", json={"rows": ROWS[:1], "id": "a"})
    assert refusal(other)[0] == 422
    assert "'a' was used before, for other rows" in refusal(other)[1]


def test_what_was_learned_is_there_after_a_restart(client: Client, tmp_path: Path) -> None:
    client.post("/v1/models/m/learn", json={"rows": ROWS})
    again = Client({"m": train()}, tmp_path)
    assert again.get("/v1/models/m").json()["rows"] == {"ham": 4, "spam": 4}


def test_a_replaced_model_predicts_and_does_not_learn_until_the_feedback_is_rebased(tmp_path: Path) -> None:
    path, feedback = tmp_path / "m.weigh", tmp_path / "feedback"
    train().save(path)
    client = Client(path, feedback)
    client.post("/v1/models/m/learn", json={"rows": ROWS[:1]})
    new = train().learn([{"text": "monday", "size": 1.0, "label": "ham"}])
    new.save(path)
    client.service.catalog.refresh()
    assert client.get("/v1/models/m").json()["feedback"] == "stale"
    assert client.get("/v1/models/m").json()["rows"] == {"ham": 4, "spam": 3}
    answer = client.post("/v1/models/m/learn", json={"rows": ROWS[:1], "id": "x"})
    assert refusal(answer) == (
        409,
        "The feedback was given to another file of the model, so nothing is learned or forgotten. To carry "
        "it over to the new file, start the server with --rebase.",
    )
    rebased = Client(path, feedback, rebase=True)
    assert rebased.get("/v1/models/m").json()["feedback"] == "current"
    assert rebased.get("/v1/models/m").json()["rows"] == {"ham": 4, "spam": 4}
    assert rebased.service.catalog.get("m").predictor.model.to_bytes() == new.learn(ROWS[:1]).to_bytes()


@pytest.mark.parametrize(
    ("learner", "reason"),
    [
        (weigh.Perceptron(), "state of their training"),
        (weigh.LogisticRegression(), "its weights depend on all rows together"),
        (weigh.Threshold(columns={"text": "skip"}), "its cut depends on all rows together"),
    ],
)
def test_other_models_say_why_they_cannot_learn(tmp_path: Path, learner: Any, reason: str) -> None:
    model = learner.fit(TABLE, "label").model_
    answer = Client({"m": model}, tmp_path).post("/v1/models/m/learn", json={"rows": ROWS})
    assert refusal(answer)[0] == 409
    assert reason in refusal(answer)[1]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([{"text": "x", "size": 1.0}], "The rows lack their label, 'label'; they have 'text', 'size'."),
        (
            [{"text": "x", "size": 1.0, "label": None}],
            "The label is missing in 1 of the first 1 rows (first: row 0). Leave such rows out.",
        ),
        (
            [{"text": "x", "size": 1.0, "label": 3}],
            "The label 3 is a number, but the classes are 'ham', 'spam'. Give text.",
        ),
        (["x"], "Feedback must be a list of at least one row, each a mapping of columns to values."),
        ([], "There are no rows."),
    ],
)
def test_unsuitable_rows_change_nothing(client: Client, rows: Any, sentence: str) -> None:
    assert refusal(client.post("/v1/models/m/learn", json={"rows": rows})) == (422, sentence)
    assert client.get("/v1/models/m").json()["rows"] == {"ham": 3, "spam": 3}


def test_rows_that_were_never_learned_cannot_be_forgotten(client: Client) -> None:
    answer = client.post("/v1/models/m/forget", json={"rows": ROWS})
    assert refusal(answer)[0] == 409
    assert client.get("/v1/models/m").json()["rows"] == {"ham": 3, "spam": 3}
