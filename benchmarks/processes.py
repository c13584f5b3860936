"""Processes that take turns: seconds and peak memory of each, and a sentence for one that fails."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.harness import ROOT, Timing, megabytes, ratio_table


@dataclass(frozen=True)
class Run:
    """What one run of a process cost."""

    seconds: float
    peak: float


class Failed(Exception):
    """A process that did not end well, with the last line it said."""


def measured(command: Sequence[str], output: Path, fine: Collection[int] = (0,)) -> Run:
    """Run a command in the project's folder, its standard output into a file; `fine` are its good ends."""
    launch = [sys.executable, "-S", str(ROOT / "benchmarks" / "launch.py"), str(output), *command]
    done = subprocess.run(launch, check=True, cwd=ROOT, capture_output=True, text=True)
    facts = json.loads(done.stdout)
    if facts["code"] not in fine:
        raise Failed(last_line(Path(f"{output}.err").read_text(errors="replace")))
    return Run(facts["seconds"], facts["peak"])


def last_line(said: str) -> str:
    lines = said.strip().splitlines()
    return lines[-1] if lines else "it said nothing"


@dataclass
class Turns:
    """The runs of every contestant by name, and what was said about those that failed."""

    runs: dict[str, list[Run]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    @classmethod
    def taken(cls, calls: Mapping[str, Callable[[], Run]], repeats: int) -> Turns:
        """Call everyone once per round; who fails is out."""
        turns = cls()
        for _ in range(repeats):
            for name, call in calls.items():
                if name not in turns.failures:
                    turns.take(name, call)
        return turns

    def take(self, name: str, call: Callable[[], Run]) -> None:
        """Add one run, or the failure."""
        try:
            self.runs.setdefault(name, []).append(call())
        except Failed as failure:
            self.runs.pop(name, None)
            self.failures[name] = str(failure)

    def table(self, extra: Mapping[str, Mapping[str, str]] | None = None) -> str:
        """Return the ratio table with peaks, further columns by name, and the failures below."""
        timings = [Timing(name, tuple(r.seconds for r in runs)) for name, runs in self.runs.items()]
        columns = {"peak memory": [megabytes(self.peak(t.name)) for t in timings]}
        for head, values in (extra or {}).items():
            columns[head] = [values.get(t.name, "") for t in timings]
        parts = [ratio_table(timings, columns)] if timings else []
        return "\n\n".join([*parts, *self.sentences()])

    def sentences(self) -> list[str]:
        """Return one sentence per contestant that failed."""
        return [f"Left out, for it failed: {name}: {said}" for name, said in self.failures.items()]

    def peak(self, name: str) -> float:
        return min(run.peak for run in self.runs[name])
