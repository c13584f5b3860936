"""Models are served by name, and reloaded when their files change, without losing a request."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import httpx
import pytest

import weigh
from tests.serve.client import ADDRESS, Client
from weigh import errors
from weigh.model.count_model import CountModel


def train(n_spam: int) -> CountModel:
    table = {"text": ["cheap pills"] * n_spam + ["lunch"], "label": ["spam"] * n_spam + ["ham"]}
    model: CountModel = weigh.NaiveBayes(columns={"text": "text"}).fit(table, "label").model_
    return model


def names(client: Client) -> list[str]:
    return [model["name"] for model in client.get("/v1/models").json()["models"]]


def rows(client: Client, name: str) -> Any:
    return client.get(f"/v1/models/{name}").json()["rows"]


def test_models_are_named_by_their_files_or_by_the_caller(tmp_path: Path) -> None:
    train(1).save(tmp_path / "mail.weigh")
    train(2).save(tmp_path / "other.weigh")
    assert names(Client(tmp_path)) == ["mail", "other"]
    assert names(Client([tmp_path / "mail.weigh", train(1)])) == ["mail", "naive-bayes"]
    assert names(Client({"a b": str(tmp_path / "mail.weigh")})) == ["a b"]
    assert names(Client(weigh.NaiveBayes().fit(["a", "b"], [0, 1]))) == ["naive-bayes"]


def test_models_that_cannot_be_served_are_refused(tmp_path: Path) -> None:
    with pytest.raises(errors.ParameterError, match="There is no model to serve"):
        Client(tmp_path)
    with pytest.raises(errors.ModelFileError, match="There is no file"):
        Client(tmp_path / "none.weigh")
    with pytest.raises(errors.ParameterError, match="Two models are called 'naive-bayes'"):
        Client([train(1), train(2)])
    with pytest.raises(errors.ParameterError, match=r"A model cannot be called '\.\.'"):
        Client({"..": train(1)})
    with pytest.raises(errors.ParameterError, match="create_app: models must be models, or paths"):
        Client([3])


def test_a_file_without_the_functions_of_its_model_is_not_served(tmp_path: Path) -> None:
    path = tmp_path / "m.weigh"
    derived = weigh.Derived(lambda rows: [2 * size for size in rows["size"]], "number")
    table = {"size": [1.0, 2.0, 3.0, 4.0], "label": ["a", "b"] * 2}
    weigh.NaiveBayes(columns={"double": derived}).fit(table, "label").model_.save(path)
    with pytest.raises(errors.Unsupported, match="the functions of its derived columns, 'double', are"):
        Client(path)
    client = Client({"m": weigh.load(path, derived={"double": derived.function})})
    assert client.predict("m", [{"size": 1}])[0]["label"] in {"a", "b"}


def test_a_replaced_file_is_reloaded(tmp_path: Path) -> None:
    path = tmp_path / "mail.weigh"
    train(1).save(path)
    client = Client(path)
    before = client.get("/v1/models/mail").json()
    train(5).save(path)
    assert rows(client, "mail") == {"ham": 1, "spam": 1}
    client.service.catalog.refresh()
    after = client.get("/v1/models/mail").json()
    assert after["rows"] == {"ham": 1, "spam": 5}
    assert after["digest"] != before["digest"]


@pytest.mark.parametrize("damage", ["truncated", "empty", "missing", "a folder"])
def test_a_damaged_replacement_keeps_the_old_model_and_is_logged_once(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "mail.weigh"
    train(1).save(path)
    lines: list[str] = []
    client = Client(path)
    client.service.catalog.log = lines.append
    content = path.read_bytes()
    path.unlink()
    if damage == "a folder":
        path.mkdir()
    elif damage != "missing":
        path.write_bytes(content[:100] if damage == "truncated" else b"")
    for _ in range(3):
        client.service.catalog.refresh()
    assert rows(client, "mail") == {"ham": 1, "spam": 1}
    assert len(lines) == 1
    assert lines[0].startswith("the model 'mail' stays as it was, because ")
    if damage == "a folder":
        path.rmdir()
    train(4).save(path)
    client.service.catalog.refresh()
    assert rows(client, "mail") == {"ham": 1, "spam": 4}
    assert lines[1] == f"reloaded the model 'mail' from {path}"


def test_new_files_of_a_folder_are_served(tmp_path: Path) -> None:
    train(1).save(tmp_path / "a.weigh")
    client = Client(tmp_path)
    train(2).save(tmp_path / "b.weigh")
    (tmp_path / "c.weigh").write_bytes(b"broken")
    client.service.catalog.refresh()
    assert names(client) == ["a", "b"]


def test_no_request_fails_while_models_are_reloaded(tmp_path: Path) -> None:
    path = tmp_path / "mail.weigh"
    train(1).save(path)
    client = Client(path)
    spam = [train(n).predict_proba([{"text": "lunch"}])[0].tolist() for n in (1, 50)]

    async def run() -> list[Any]:
        transport = httpx.ASGITransport(client.app)
        answers = []
        async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as http:
            for k in range(120):
                if k % 20 == 10:
                    await asyncio.to_thread(train(50 if k % 40 == 10 else 1).save, path)
                    reload = asyncio.create_task(asyncio.to_thread(client.service.catalog.refresh))
                answer = await http.post("/v1/models/mail/predict", json={"rows": [{"text": "lunch"}]})
                assert answer.status_code == 200, answer.text
                answers.append(list(answer.json()["predictions"][0]["probabilities"].values()))
            await reload
        return answers

    answers = asyncio.run(run())
    assert all(each in spam for each in answers)
    assert spam[0] in answers
    assert spam[1] in answers


def test_a_report_beside_the_model_is_served_in_a_sandbox(tmp_path: Path) -> None:
    train(1).save(tmp_path / "mail.weigh")
    client = Client(tmp_path / "mail.weigh")
    assert client.get("/v1/models/mail").json()["report"] is None
    (tmp_path / "mail.html").write_text("<p>Report")
    assert client.get("/v1/models/mail").json()["report"] == "/v1/models/mail/report"
    answer = client.get("/v1/models/mail/report")
    assert answer.text == "<p>Report"
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts")


def test_descriptions_have_what_a_form_needs() -> None:
    table = {
        "age": [20, 30, 40, 50] * 10,
        "city": ["Rome", "Oslo"] * 20,
        "member": [True, False] * 20,
        "day": [f"2024-03-{day:02}" for day in range(1, 29)] + ["2024-03-01"] * 12,
        "y": [True, False] * 20,
    }
    model = weigh.NaiveBayes(columns={"age": "number"}).fit(table, "y").model_
    facts = Client({"m": model}).get("/v1/models/m").json()
    columns = {column["name"]: column for column in facts["columns"]}
    assert columns["age"] == {"name": "age", "kind": "number", "minimum": 20, "maximum": 50}
    assert columns["city"]["levels"] == ["Oslo", "Rome"]
    assert columns["member"]["choices"] == [False, True]
    assert columns["day"]["format"] == "2024-12-31"
    assert facts["classes"] == [False, True]
    assert facts["rows"] == {"False": 20, "True": 20}
    assert not facts["can_learn"]


def test_certificates_are_described() -> None:
    model = weigh.LogisticRegression().fit({"x": [1.0, 2, 3, 4], "y": list("abab")}, "y").model_
    facts = Client({"m": model}).get("/v1/models/m").json()
    assert facts["certificate"] == model.certificate.to_dict()


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    import hashlib

    path = tmp_path / "mail.weigh"
    train(1).save(path)
    digest = Client(path).get("/v1/models/mail").json()["digest"]
    assert digest == "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    assert os.path.getsize(path)
