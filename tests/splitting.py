"""Helpers that tokenise texts with the native tokeniser."""

from __future__ import annotations

from typing import Any

import numpy as np

import weigh
from weigh import _core
from weigh.features import infer_schema


def split(text: str, kind: weigh.Text) -> list[str]:
    """Return the tokens of one text."""
    documents = _core.Documents.from_objects(np.array([text], dtype=object), [])
    return decoded(_core.tokenize(documents, kind.token_settings))[0]


def split_all(data: Any, kind: Any) -> list[list[str]]:
    """Return the tokens of each row of one column, from any storage, as a learner sees them."""
    source = data if isinstance(data, weigh.Source) else weigh.rows(data)
    schema = infer_schema(source, kind)
    rows: list[list[str]] = []
    for chunk in schema.chunks(source):
        block: Any = schema.encode(chunk)[0]
        rows += decoded(_core.tokenize(block.documents, block.settings))
    return rows


def decoded(rows: list[list[bytes]]) -> list[list[str]]:
    """Decode tokens to strings, keeping lone surrogates."""
    return [[token.decode("utf-8", "surrogatepass") for token in row] for row in rows]


def documents(texts: list[Any]) -> _core.Documents:
    """Return texts, some of which may be missing, as native documents."""
    values = np.empty(len(texts), dtype=object)
    values[:] = texts
    return _core.Documents.from_objects(values, [])
