"""Feedback over HTTP: with workers and servers killed at random moments, every row counts exactly once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.serve.feedback.samples import train
from tests.serve.feedback_clients import post_and_kill, read_model

# A process killed while writing leaves an incomplete group at the end.
pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.CutJournal")


@pytest.mark.slow
def test_every_row_counts_exactly_once_over_http(tmp_path: Path) -> None:
    server, clients = post_and_kill(tmp_path / "server", 300, every=40)
    assert clients.n_answered == 300
    assert server.n_worker_kills + server.n_server_kills >= 2
    rows = list(clients.learned.values())
    assert read_model(server).to_bytes() == train(rows).to_bytes()
    assert read_model(server).to_bytes() != train(rows[1:]).to_bytes()
