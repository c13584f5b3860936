"""Mutated data files of every format, plain and compressed: open, fit, predict, explain."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import weigh
from tests.stress.attack import Attack
from tests.stress.mutations import mutate

N_ROWS = 40
WORDS = ["free", "money", "noon", "lunch", "été", "naïve", "offer", "paper"]


def _rows() -> list[dict[str, Any]]:
    rng = random.Random(7)
    return [
        {
            "colour": rng.choice(["red", "blue", "grün", None]),
            "size": rng.choice([1.5, -2.0, 1e6, 3.25, None]),
            "count": rng.randrange(5),
            "known": rng.random() < 0.5,
            "body": " ".join(rng.choices(WORDS, k=5)),
            "y": rng.choice(["ham", "spam"]),
        }
        for _ in range(N_ROWS)
    ]


ROWS = _rows()


def _csv(delimiter: str) -> bytes:
    lines = [ROWS[0].keys(), *(("" if v is None else v for v in row.values()) for row in ROWS)]
    return "\n".join(
        delimiter.join(f'"{v}"' if v == "grün" else str(v) for v in line) for line in lines
    ).encode()


def _parquet() -> bytes:
    sink = io.BytesIO()
    table = pa.Table.from_pylist(ROWS)
    table = table.set_column(0, "colour", table["colour"].dictionary_encode())
    pq.write_table(table, sink, row_group_size=16, compression="snappy")
    return sink.getvalue()


def _mail(row: dict[str, Any]) -> str:
    return (
        f"From: a@example.org\nSubject: =?utf-8?q?{row['colour']}?= {row['count']}\n"
        'MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary="b"\n\n'
        f"--b\nContent-Type: text/plain; charset=utf-8\n\n{row['body']}\n"
        f"--b\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\nPGI+aGk8L2I+\n--b--\n"
    )


ORIGINALS: dict[str, Callable[[], bytes]] = {
    "csv": lambda: _csv(","),
    "tsv": lambda: _csv("\t"),
    "parquet": _parquet,
    "jsonl": lambda: "\n".join(json.dumps(row) for row in ROWS).encode(),
    "ft": lambda: "\n".join(f"__label__{row['y']} {row['body']}" for row in ROWS).encode(),
    "vw": lambda: "\n".join(
        f"{1 if row['y'] == 'spam' else -1} {1 + row['count']} |a {row['body']} |b size:{row['size'] or 0}"
        for row in ROWS
    ).encode(),
    "svm": lambda: "\n".join(
        f"{1 if row['y'] == 'spam' else -1} 1:{row['size'] or 0} {2 + row['count']}:1" for row in ROWS
    ).encode(),
    "mbox": lambda: "".join(
        f"From a@example.org Mon Jan  1 00:00:00 2024\n{_mail(row)}\n" for row in ROWS
    ).encode(),
    "eml": lambda: _mail(ROWS[0]).encode(),
    "txt": lambda: ROWS[0]["body"].encode(),
}  # fmt: skip
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    ".lz4": lambda data: pa.compress(data, "lz4", asbytes=True),
}
LEARNERS: tuple[Callable[[], Any], ...] = (
    weigh.NaiveBayes,
    weigh.NaiveBayes,
    weigh.JointBayes,
    weigh.Threshold,
    lambda: weigh.Perceptron(max_iter=2),
    lambda: weigh.LogisticRegression(method="online", max_iter=2),
    weigh.LogisticRegression,
)


class FileAttack(Attack):
    """One original file per format, damaged anew in every case."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._originals = {suffix: make() for suffix, make in ORIGINALS.items()}

    def run_case(self, rng: random.Random) -> str:
        """Damage a file, then open it, fit a learner, predict, and explain one row."""
        suffix = rng.choice(list(self._originals))
        case = self.folder / "case"
        shutil.rmtree(case, ignore_errors=True)
        case.mkdir()
        path = self._write(case, suffix, rng)
        label = None if suffix in {"ft", "vw", "svm", "mbox", "eml", "txt"} else "y"
        source = weigh.open(path, label)
        learner = rng.choice(LEARNERS)().fit(source)
        rows = weigh.open(path, label)
        predictions = learner.predict(rows)
        if hasattr(learner, "predict_proba"):
            check_probabilities(learner.predict_proba(rows), len(predictions))
        if hasattr(learner, "explain"):
            str(learner.explain(rows)[0])
        return "accepted"

    def _write(self, case: Path, suffix: str, rng: random.Random) -> Path:
        data = self._originals[suffix]
        compression = rng.choice(list(COMPRESSORS)) if suffix != "parquet" and rng.random() < 0.25 else ""
        if compression and rng.random() < 0.5:
            damaged = mutate(COMPRESSORS[compression](data), rng)
        elif compression:
            damaged = COMPRESSORS[compression](mutate(data, rng))
        else:
            damaged = mutate(data, rng)
        if suffix not in {"eml", "txt"}:
            path = case / f"data.{suffix}{compression}"
            path.write_bytes(damaged)
            return path
        # A folder per class: messages or texts, one of them damaged.
        for name, content in (("ham/1", data), ("spam/2", damaged), ("spam/3", data)):
            path = case / f"{name}.{suffix}{compression if content is damaged else ''}"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        return case


def check_probabilities(probabilities: np.ndarray[Any, Any], n_rows: int) -> None:
    """Assert that probabilities are one distribution per row."""
    assert len(probabilities) == n_rows
    assert np.isfinite(probabilities).all()
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert np.allclose(probabilities.sum(axis=1), 1)
