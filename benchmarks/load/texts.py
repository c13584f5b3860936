"""The texts that services are trained on and asked about."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks.data import LabelledTexts, newsgroup_folders, read_folder, read_sms
from benchmarks.job import WORK

COLUMN = "text"


def read_collection(name: str) -> tuple[LabelledTexts, list[str]]:
    """Return labelled texts to train on and other texts to ask about: those of `sms` or `newsgroups`."""
    if name == "sms":
        texts = read_sms()
        rows = np.arange(len(texts.texts))
        return texts[rows[::2]], texts.texts[1::2]
    train, test = map(read_folder, newsgroup_folders())
    return train, test.texts


def write_model(collection: str) -> Path:
    """Return the file of our model of a collection, written anew."""
    import pandas as pd

    import weigh

    train, _ = read_collection(collection)
    WORK.mkdir(parents=True, exist_ok=True)
    path = WORK / f"{collection}.weigh"
    weigh.NaiveBayes({COLUMN: "text"}).fit(pd.DataFrame({COLUMN: train.texts}), train.labels).save(path)
    return path


def to_json(texts: list[str]) -> bytes:
    """Return the body of a request."""
    return json.dumps({"rows": [{COLUMN: text} for text in texts]}, ensure_ascii=False).encode()


def to_json_lines(texts: list[str]) -> bytes:
    return "".join(json.dumps({COLUMN: text}, ensure_ascii=False) + "\n" for text in texts).encode()


def to_csv(texts: list[str]) -> bytes:
    import pandas as pd

    return str(pd.DataFrame({COLUMN: texts}).to_csv(index=False)).encode()


def to_arrow(texts: list[str]) -> bytes:
    """Return an Arrow IPC stream."""
    import pyarrow as pa

    table = pa.table({COLUMN: texts})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return memoryview(sink.getvalue()).tobytes()


def fill(texts: list[str], size: int) -> list[list[str]]:
    """Return batches of consecutive texts of at least `size` bytes each, without a last incomplete one."""
    batches: list[list[str]] = []
    batch: list[str] = []
    filled = 0
    for text in texts:
        batch.append(text)
        filled += len(text.encode())
        if filled >= size:
            batches.append(batch)
            batch, filled = [], 0
    return batches
