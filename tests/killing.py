"""Ending the `weigh` command by a signal at a chosen moment, and finding what it leaves behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from weigh.atomic_files import is_draft

WEIGH = [sys.executable, "-m", "weigh.cli.main"]
TIMEOUT = 60.0  # seconds


class Ending(NamedTuple):
    """How a command ended: its exit code, or minus the signal that ended it, and its error output."""

    code: int
    errors: str


def run_and_kill(
    arguments: Sequence[str | Path],
    number: int,
    delay: float,
    watched: Path | None = None,
    cwd: Path | None = None,
    count: int = 1,
) -> Ending:
    """Run `weigh` with these arguments, and send it a signal `count` times after a delay in seconds.

    With a folder to watch, the delay begins when a draft exists below it. A command that is faster than the
    delay ends by itself.
    """
    command = [*WEIGH, *map(str, arguments)]
    with subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_stop_ignoring_signals,
    ) as process:
        try:
            if watched is not None:
                _wait_for_draft(process, watched)
            _wait_until(time.monotonic() + delay, process)
            for _ in range(count):
                process.send_signal(number)
            _, errors = process.communicate(timeout=TIMEOUT)
        finally:
            process.kill()
    return Ending(process.returncode, errors)


def write_mailbox(path: Path, n_mails: int = 400) -> None:
    """Write a mailbox whose features make a mail store fold its journal, which writes drafts."""
    rng = random.Random(0)
    mails = (
        f"From a@example.org Mon Jan  1 00:00:00 2024\nSubject: {i}\n\n"
        + " ".join(str(rng.random()) for _ in range(150))
        + "\n\n"
        for i in range(n_mails)
    )
    path.write_text("".join(mails))


def find_drafts(folder: Path) -> list[Path]:
    """Return the drafts of files below a folder."""
    return sorted(_iter_drafts(folder))


def _iter_drafts(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        yield from (Path(place, name) for name in names if is_draft(name))


def _stop_ignoring_signals() -> None:
    """Undo what a shell in the background or nohup would hand down."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _wait_for_draft(process: subprocess.Popen[str], folder: Path) -> None:
    deadline = time.monotonic() + TIMEOUT
    while process.poll() is None and time.monotonic() < deadline:
        if next(_iter_drafts(folder), None) is not None:
            return


def _wait_until(moment: float, process: subprocess.Popen[str]) -> None:
    while process.poll() is None and time.monotonic() < moment:
        time.sleep(min(0.001, max(0.0, moment - time.monotonic())))
