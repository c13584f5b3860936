"""Processes killed at random moments: every acknowledged change counts exactly once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.serve.feedback.killing import post_and_kill
from tests.serve.feedback.samples import Row, open_store, train

# A process killed while writing leaves an incomplete group at the end.
pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.CutJournal")


def model_bytes(rows: list[Row]) -> bytes:
    return train(rows).to_bytes()


@pytest.mark.slow
def test_every_row_counts_exactly_once_although_processes_are_killed(tmp_path: Path) -> None:
    summary = post_and_kill(tmp_path / "store", 1000, pause=1.5)
    store = open_store(tmp_path / "store")
    assert summary.n_answered == 1000
    assert summary.n_kills >= 4
    assert store.model().to_bytes() == model_bytes(summary.rows)
    assert store.model().to_bytes() != model_bytes(summary.rows[1:])
    entries = store.history()
    assert sorted(entry["id"] for entry in entries) == sorted(f"id-{n}" for n in range(1, 1001))
