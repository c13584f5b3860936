"""Clients that post changes to processes which are killed at random moments, and resend what is unanswered.

`python -m tests.serve.feedback.killing FOLDER N` posts N changes to the store in a folder that is new.
"""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.serve.feedback.samples import BASE, Row, make_row, open_store, train
from weigh.serve.feedback import Change

ROOT = Path(__file__).parents[3]
FORGOTTEN_SHARE, REPEATED_SHARE = 0.2, 0.05
MAX_KILLS_WITHOUT_ANSWER = 2


class Summary(NamedTuple):
    """What happened: changes answered, answers that said 'repeated', kills, and the rows that must remain."""

    n_answered: int
    n_repeated: int
    n_kills: int
    rows: list[Row]


class Client(threading.Thread):
    """Posts changes in groups to a process of its own, which it starts again whenever it was killed."""

    def __init__(self, folder: Path, numbers: range, seed: int, tail: int, largest_group: int) -> None:
        super().__init__()
        model = folder.with_suffix(".weigh")
        BASE.save(model)
        self._command = [
            sys.executable,
            "-m",
            "tests.serve.feedback.applier",
            *map(str, (folder, model, tail)),
        ]
        self._numbers = list(numbers)
        self._rng = random.Random(seed)
        self._largest_group = largest_group
        self._answered: list[Change] = []
        self._answered_ids: set[str] = set()
        self.learned: dict[int, Row] = {}
        self.n_answered = self.n_repeated = 0
        self.process = self._start()
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Post all changes."""
        try:
            while self._numbers:
                self._post([self._next_change() for _ in range(self._rng.randint(1, self._largest_group))])
        except BaseException as failure:
            self.failure = failure
        finally:
            self.process.kill()
            self._close()

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
        )

    def _close(self) -> None:
        """Wait for the process, which was killed."""
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate()

    def _next_change(self) -> Change | None:
        """Return the next change; None if it must wait for answers."""
        if self._answered and self._rng.random() < REPEATED_SHARE:
            return self._rng.choice(self._answered)
        if not self._numbers:
            return None
        number = self._numbers.pop()
        if self.learned and self._rng.random() < FORGOTTEN_SHARE:
            row = self.learned.pop(self._rng.choice(list(self.learned)))
            return Change(f"id-{number}", "forget", [row])
        return Change(f"id-{number}", "learn", [make_row(number)])

    def _post(self, group: list[Change | None]) -> None:
        """Send a group until it is answered, and check the answers."""
        changes = [change for change in group if change is not None]
        answers = self._exchange(changes)
        while answers is None:
            self._close()
            self.process = self._start()
            answers = self._exchange(changes)
        for change, (rows, repeated, error) in zip(changes, answers, strict=True):
            assert error is None, error
            assert (rows, repeated) in ((1, False), (0, True))
            self.n_repeated += repeated
            if change.id in self._answered_ids:
                assert repeated
                continue
            self.n_answered += 1
            self._answered.append(change)
            self._answered_ids.add(change.id)
            if change.operation == "learn":
                self.learned[int(change.id.removeprefix("id-"))] = change.rows[0]

    def _exchange(self, changes: list[Change]) -> list[tuple[int, bool, str | None]] | None:
        """Return the answers to a group; None if the process was killed before it answered."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(json.dumps(changes) + "\n")
            stdin.flush()
        except BrokenPipeError:
            return None
        line = stdout.readline()
        line = stdout.readline() if line == "ready\n" else line
        return json.loads(line) if line.endswith("\n") else None


def post_and_kill(
    folder: Path, n: int, *, tail: int = 20_000, largest_group: int = 8, pause: float = 2.5, seed: int = 0
) -> Summary:
    """Post n changes through two processes; kill one every `pause` seconds or n/10 changes at the latest."""
    rng = random.Random(seed)
    halves = (range(1, n // 2 + 1), range(n // 2 + 1, n + 1))
    clients = [Client(folder, half, seed + i, tail, largest_group) for i, half in enumerate(halves)]
    for client in clients:
        client.start()
    n_kills = 0
    kills: Counter[tuple[Client, int]] = Counter()
    while alive := [client for client in clients if client.is_alive()]:
        # Mostly soon after the last one, so that a process is also killed while it starts.
        _wait(clients, pause * rng.random() ** 2, int(n / 10 * rng.random()))
        client = rng.choice(alive)
        # A process that is killed whenever it starts would never answer.
        if kills[client, client.n_answered] < MAX_KILLS_WITHOUT_ANSWER:
            kills[client, client.n_answered] += 1
            client.process.kill()
            n_kills += 1
    for client in clients:
        if client.failure is not None:
            raise client.failure
    answered, repeated = (sum(getattr(c, name) for c in clients) for name in ("n_answered", "n_repeated"))
    return Summary(answered, repeated, n_kills, [row for c in clients for row in c.learned.values()])


def _wait(clients: list[Client], seconds: float, n_answers: int) -> None:
    """Wait so long or for so many answers, which a fast machine gives sooner."""
    end = time.monotonic() + seconds
    goal = sum(client.n_answered for client in clients) + n_answers
    while time.monotonic() < end and sum(client.n_answered for client in clients) < goal:
        time.sleep(0.005)


def main(folder: Path, n: int) -> None:
    """Run, and say what was found."""
    start = time.monotonic()
    summary = post_and_kill(folder, n)
    equal = open_store(folder).model().to_bytes() == train(summary.rows).to_bytes()
    print(
        f"{summary.n_answered:,} changes in {time.monotonic() - start:.0f} s, {summary.n_kills:,} kills, "
        f"{summary.n_repeated:,} answers 'repeated', {len(summary.rows):,} rows remain; model equal: {equal}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
