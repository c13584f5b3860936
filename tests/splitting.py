"""What the native code splits texts into."""

from __future__ import annotations

from typing import Any

import numpy as np

import weigh
from weigh import _core
from weigh.features import infer_schema


def split(text: str, kind: weigh.Text) -> list[str]:
    """The tokens of one text."""
    documents = _core.Documents.from_objects(np.array([text], dtype=object), [])
    return decoded(_core.tokenize(documents, kind.token_settings))[0]


def split_all(data: Any, kind: Any) -> list[list[str]]:
    """The tokens of every row of one column, of any storage, as a learner would split them."""
    source = data if isinstance(data, weigh.Source) else weigh.rows(data)
    schema = infer_schema(source, kind)
    rows: list[list[str]] = []
    for chunk in schema.chunks(source):
        block: Any = schema.encode(chunk)[0]
        rows += decoded(_core.tokenize(block.documents, block.settings))
    return rows


def decoded(rows: list[list[bytes]]) -> list[list[str]]:
    """Tokens as strings; half a surrogate pair is kept."""
    return [[token.decode("utf-8", "surrogatepass") for token in row] for row in rows]


def documents(texts: list[Any]) -> _core.Documents:
    """Texts, of which some may be missing, as the native code reads them."""
    values = np.empty(len(texts), dtype=object)
    values[:] = texts
    return _core.Documents.from_objects(values, [])
