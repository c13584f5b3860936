"""Errors as problem documents (RFC 9457): a status and one sentence, never a stack trace."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from weigh import errors
from weigh.advice import Advised, Setting, Step
from weigh.serve.http.reply import Header, Reply

MEDIA_TYPE = "application/problem+json"

# The first type that an error is an instance of decides; all other errors of the library are about the rows.
_STATUSES: tuple[tuple[type[Advised], int], ...] = (
    (errors.Unsupported, 409),
    (errors.MergeError, 409),
    (errors.SourceError, 422),
    (errors.FileError, 503),
)
_UNPROCESSABLE = 422
_FILE_PROBLEM = "The server cannot read or write its files now, so nothing was changed; its log says why."

# Bodies that are read like files have such a name, or that of a temporary file.
_BODY_PATH = re.compile(r"/proc/self/fd/\d+|\S*/weigh-\w+\.csv")

# Advice that a client of the API can follow; the other steps are for whoever trains the model.
_STEPS = {
    "missing value": "Use null for missing values; in CSV leave the field empty.",
    "drop missing labels": "Leave such rows out.",
}


class Problem(Exception):
    """A refusal: its status, one sentence for the client, and further fields and headers of the answer."""

    def __init__(
        self,
        status: int,
        detail: str,
        headers: Iterable[Header] = (),
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = tuple(headers)
        self.fields = fields or {}

    def to_reply(self) -> Reply:
        """Return the answer of the API."""
        document = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            **self.fields,
        }
        # Names and cells may hold lone surrogates, which JSON can only escape.
        return Reply(json.dumps(document).encode(), self.status, MEDIA_TYPE, self.headers)


def to_problem(error: Advised) -> Problem:
    """Return the problem for an error of the library, or for a warning that filters made an error."""
    status = next((status for kind, status in _STATUSES if isinstance(error, kind)), _UNPROCESSABLE)
    fields = {"error": type(error).__name__}
    if error.suggestion:
        fields["suggestion"] = error.suggestion
    if status == 503:
        # Paths of the server are not the client's business.
        return Problem(status, _FILE_PROBLEM, fields=fields)
    return Problem(status, format_message(error), fields=fields)


def format_message(message: Advised) -> str:
    """Return an error or a warning of the library in the terms of the API."""
    text = _BODY_PATH.sub("the body", message.render(_write_advice))
    return f"T{text[1:]}" if text.startswith("the body") else text


def _write_advice(advice: Setting | Step) -> str:
    return _STEPS.get(advice.name, advice.python) if isinstance(advice, Step) else str(advice)


def unknown_path() -> Problem:
    """Return the problem for an address that does not exist."""
    return Problem(404, "There is nothing at this address; /openapi.json lists what there is.")


def wrong_method(allowed: Iterable[str]) -> Problem:
    """Return the problem for a method that an address does not have."""
    listed = ", ".join(allowed)
    return Problem(405, f"This address takes {listed}.", [(b"allow", listed.encode())])


def internal_error() -> Problem:
    """Return the problem for a fault of the server."""
    return Problem(500, "The server failed to answer this request; its log says where.")
