"""Run the reproductions of known faults, one shell script each, with little memory and time."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).parent / "reproductions"
LIMITS = "ulimit -v 4000000; exec bash"
MAX_SECONDS = 20


@dataclass(frozen=True)
class Reproduction:
    """A script that attacks as reported and exits with 0 if the attack fails; its comments describe it."""

    path: Path

    @property
    def comments(self) -> dict[str, str]:
        """The comments `# key: text` at the top of the script."""
        lines = self.path.read_text().splitlines()
        pairs = (line[1:].split(":", 1) for line in lines[1:4])
        return {key.strip(): text.strip() for key, text in pairs}

    def run(self, folder: Path) -> tuple[bool, float, str]:
        """Run the script in a folder; return whether it passed, the seconds and its output."""
        folder.mkdir(parents=True)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        start = time.monotonic()
        with subprocess.Popen(
            ["bash", "-c", f"{LIMITS} {shlex.quote(str(self.path))}"],
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that its commands end with it
        ) as process:
            try:
                output, _ = process.communicate(timeout=MAX_SECONDS)
            except subprocess.TimeoutExpired:
                output = f"it did not end within {MAX_SECONDS} s".encode()
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        return process.returncode == 0, time.monotonic() - start, output.decode("utf-8", "replace")


def find() -> list[Reproduction]:
    """Return all reproductions in the order of their names."""
    return [Reproduction(path) for path in sorted(SCRIPTS.glob("*.sh"))]


def format_table() -> str:
    """Return the reproductions as a Markdown table, for docs/robustness.md."""
    lines = ["| Attack | What happens | Test |", "|---|---|---|"]
    for reproduction in find():
        comments = reproduction.comments
        test = comments["test"].split("::")[0]
        lines.append(f"| {_escape(comments['attack'])} | {_escape(comments['now'])} | `{test}` |")
    return "\n".join(lines)


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def run_all(folder: Path) -> int:
    """Run all reproductions, print a line each, and return how many failed."""
    failed = 0
    for reproduction in find():
        name = reproduction.path.stem
        passed, seconds, output = reproduction.run(folder / name)
        print(f"{'passed' if passed else 'FAILED'} {seconds:5.1f} s  {name}", flush=True)
        if not passed:
            failed += 1
            print(output)
    return failed
