"""What the native code splits a text into."""

from __future__ import annotations

import numpy as np

import weigh
from weigh import _core


def split(text: str, kind: weigh.Text) -> list[str]:
    """The tokens of one text."""
    documents = _core.Documents.of_objects(np.array([text], dtype=object), [])
    return [token.decode("utf-8", "surrogatepass") for token in _core.split(documents, kind.splitting)[0]]
