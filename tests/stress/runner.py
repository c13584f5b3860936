"""Run attacks for a given time, each in a process of its own, and count the outcomes."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
CASE_SECONDS = 20.0
START_SECONDS = 60.0


@dataclass
class AttackResult:
    """The outcomes of an attack by name, and one fault of each cause with its seed."""

    name: str
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: dict[str, str] = field(default_factory=dict)

    def add(self, case: dict[str, str]) -> None:
        """Count a case; faults have the same cause if the same line raised them."""
        self.outcomes[case["outcome"]] += 1
        if case["outcome"] in {"fault", "crash"}:
            raised_at = [line for line in case["detail"].splitlines() if line.startswith("  File ")]
            self.faults.setdefault(raised_at[-1] if raised_at else "", f"{case['seed']}: {case['detail']}")

    def __str__(self) -> str:
        parts = [f"{count:,} {outcome}" for outcome, count in sorted(self.outcomes.items())]
        return f"{self.name:<8} {sum(self.outcomes.values()):>7,} cases: {', '.join(parts)}"


class CaseProcess:
    """A process that runs the cases of one attack."""

    def __init__(self, name: str, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / "log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", "-m", "tests.stress.attack", name, str(folder)],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )

    def run(self, seed: str, seconds: float) -> dict[str, str]:
        """Run one case; a crash or a time-out is a fault, after which this object cannot be used again."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{seed}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            return self._failure(seed, "ended before it started")
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        if not ready:
            return self._failure(seed, f"did not end within {seconds:.0f} s")
        answer = self._process.stdout.readline()
        if not answer:
            return self._failure(seed, f"ended its process with status {self._process.wait()}")
        outcome: dict[str, str] = json.loads(answer)
        return outcome

    def _failure(self, seed: str, reason: str) -> dict[str, str]:
        self.close()
        log = self._log.read_bytes()[-4000:].decode("utf-8", "replace")
        return {"seed": seed, "outcome": "crash", "detail": f"the case {reason}\n{log}"}

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def run_attack(
    name: str, folder: Path, seconds: float, seed: int = 0, max_cases: int | None = None
) -> AttackResult:
    """Run the cases of an attack one after the other until the time is over."""
    result = AttackResult(name)
    end = time.monotonic() + seconds
    process: CaseProcess | None = None
    number = 0
    while time.monotonic() < end and number != max_cases:
        patience = CASE_SECONDS
        if process is None:
            process, patience = CaseProcess(name, folder), START_SECONDS
        case = process.run(f"{name}-{seed}-{number}", patience)
        result.add(case)
        number += 1
        if case["outcome"] == "crash":
            process = None
    if process is not None:
        process.close()
    return result
