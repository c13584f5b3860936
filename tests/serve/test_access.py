"""Tokens, scopes, hosts and origins decide who may ask for what."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

import weigh
from tests.serve.client import Client, refusal
from weigh import errors
from weigh.serve import Access, TokenFile
from weigh.serve.http import access

READER, TEACHER, BOTH = "reader-0123456789abcdef", "teacher-0123456789abcdef", "both-0123456789abcdef"
TABLE = {"text": ["cheap pills", "lunch at noon"] * 5, "label": ["spam", "ham"] * 5}
ROWS = {"rows": [{"text": "cheap"}]}
LABELLED = {"rows": [{"text": "cheap", "label": "spam"}], "id": "a"}


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "tokens"
    hashed = hashlib.sha256(BOTH.encode()).hexdigest()
    path.write_text(f"# ours\n\nann read {READER}\nbob learn {TEACHER}\ncat read,learn sha256:{hashed}\n")
    return path


@pytest.fixture
def client(token_file: Path, tmp_path: Path) -> Client:
    model = weigh.NaiveBayes(columns={"text": "text"}).fit(TABLE, "label").model_
    return Client({"m": model}, tmp_path / "feedback", access=Access(TokenFile(token_file)))


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/m", "/v1/nothing", "/metrics"])
def test_reading_needs_a_token(client: Client, path: str) -> None:
    answer = client.get(path)
    assert refusal(answer) == (401, "This server needs a token; send the header Authorization: Bearer TOKEN.")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert refusal(client.get(path, headers=bearer("wrong"))) == (401, "This token is unknown.")
    assert refusal(client.get(path, headers={"authorization": "Basic eDp5"}))[0] == 401
    assert client.get(path, headers=bearer(READER)).status_code in (200, 404)


@pytest.mark.parametrize("path", ["/health/live", "/health/ready", "/openapi.json"])
def test_health_and_the_document_need_no_token(client: Client, path: str) -> None:
    assert client.get(path).status_code == 200


def test_a_token_has_only_its_scopes(client: Client) -> None:
    predict, learn = "/v1/models/m/predict", "/v1/models/m/learn"
    assert client.post(predict, json=ROWS, headers=bearer(READER)).status_code == 200
    assert refusal(client.post(learn, json=LABELLED, headers=bearer(READER))) == (
        403,
        "This token does not have the scope 'learn'.",
    )
    assert refusal(client.post(predict, json=ROWS, headers=bearer(TEACHER))) == (
        403,
        "This token does not have the scope 'read'.",
    )
    assert client.post(learn, json=LABELLED, headers=bearer(TEACHER)).json()["rows"] == 1
    assert client.post(predict, json=ROWS, headers=bearer(BOTH)).status_code == 200
    assert client.post(learn, json=LABELLED, headers=bearer(BOTH)).json()["repeated"] is True


def test_a_changed_file_is_read_again(
    client: Client, token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "SECONDS_BETWEEN_LOOKS", 0.0)
    assert client.get("/v1/models", headers=bearer(READER)).status_code == 200
    token_file.write_text(f"ann read {TEACHER}\n")
    assert client.get("/v1/models", headers=bearer(READER)).status_code == 401
    assert client.get("/v1/models", headers=bearer(TEACHER)).status_code == 200


@pytest.mark.parametrize("content", ["ann read\n", "", None])
def test_a_damaged_or_missing_file_changes_no_token(
    client: Client, token_file: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    monkeypatch.setattr(access, "SECONDS_BETWEEN_LOOKS", 0.0)
    lines: list[str] = []
    tokens = client.service.access.tokens
    tokens.log = lines.append
    client.get("/v1/models", headers=bearer(READER))
    if content is None:
        token_file.unlink()
    else:
        token_file.write_text(content)
    for _ in range(3):
        assert client.get("/v1/models", headers=bearer(READER)).status_code == 200
    assert len(lines) == 1
    assert lines[0].startswith("the tokens stay as they were, because The token file")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("ann read", ": line 1 is not NAME SCOPES TOKEN, such as: alice read,learn TOKEN."),
        (f"a/b read {READER}", ": line 1 is not NAME SCOPES TOKEN, such as: alice read,learn TOKEN."),
        (f"ann write {READER}", ": line 1 has other scopes than read and learn."),
        ("ann read short", ": line 1 has a token of fewer than 16 characters."),
        (f"ann read {READER}\nbob read {READER}", " has the same token twice."),
        ("# none", " has 0 tokens; give 1 to 1,000."),
    ],
)
def test_files_that_cannot_be_used_are_refused(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "tokens"
    path.write_text(line)
    with pytest.raises(errors.FileError) as caught:
        TokenFile(path)
    assert str(caught.value) == f"The token file {path}{problem}"


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(errors.FileError, match=r"The token file .*none cannot be read: No such file"):
        TokenFile(tmp_path / "none")


def test_public_files_are_recognised(token_file: Path) -> None:
    os.chmod(token_file, 0o600)
    assert not TokenFile(token_file).is_public
    os.chmod(token_file, 0o644)
    assert TokenFile(token_file).is_public


OPEN = Client({"m": weigh.NaiveBayes(columns={"text": "text"}).fit(TABLE, "label").model_})


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000", "192.168.1.7"])
def test_its_own_names_and_ip_addresses_are_answered(host: str) -> None:
    assert OPEN.get("/v1/models", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "localhost.evil.example", "", "a@127.0.0.1"]
)
@pytest.mark.parametrize("path", ["/", "/v1/models", "/health/live", "/static/page.css"])
def test_other_names_are_refused(host: str, path: str) -> None:
    name = host.removesuffix(":8000")
    assert refusal(OPEN.get(path, headers={"host": host})) == (
        403,
        f"This server is not called {name!r}. Whoever runs it may allow the name.",
    )


def test_a_name_may_be_allowed() -> None:
    client = Client({"m": OPEN.service.catalog.get("m").model}, access=Access(hosts=["Models.example"]))
    assert client.get("/v1/models", headers={"host": "models.example:8000"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9000"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "origin": "http://evil.example"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_pages_of_other_servers_are_refused(headers: dict[str, str], method: str) -> None:
    path = "/v1/models" if method == "GET" else "/v1/models/m/predict"
    assert refusal(OPEN.request(method, path, headers=headers)) == (
        403,
        "A page of another server made this request; only this server's own page may.",
    )


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
        {"sec-fetch-site": "none"},
        {"host": "localhost", "origin": "https://localhost:443"},
    ],
)
def test_the_own_page_and_links_to_it_are_answered(headers: dict[str, str]) -> None:
    assert OPEN.get("/v1/models", headers=headers).status_code == 200


def test_answers_have_security_headers_and_allow_no_other_origin() -> None:
    data, page = OPEN.get("/v1/models"), OPEN.get("/")
    for answer in (data, page):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert data.headers["cache-control"] == "no-store"
    assert data.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-frame-options"] == "DENY"
    assert OPEN.request("OPTIONS", "/v1/models").status_code == 405


def test_a_mounted_application_needs_its_tokens_too(client: Client) -> None:
    from starlette.applications import Starlette
    from starlette.routing import Mount

    inner = client.app
    client.app = Starlette(routes=[Mount("/ml", app=inner)])
    assert client.get("/ml/v1/models").status_code == 401
    assert client.post("/ml/v1/models/m/learn", json=LABELLED, headers=bearer(READER)).status_code == 403
    assert client.get("/ml/v1/models/m", headers=bearer(READER)).json()["name"] == "m"


def test_a_model_may_be_called_learn(token_file: Path) -> None:
    client = Client({"learn": OPEN.service.catalog.get("m").model}, access=Access(TokenFile(token_file)))
    assert client.get("/v1/models/learn", headers=bearer(READER)).status_code == 200


def test_several_host_headers_are_refused() -> None:
    headers = [("host", "localhost"), ("host", "localhost")]
    assert refusal(OPEN.get("/v1/models", headers=headers)) == (400, "The request has several headers Host.")
