"""Timing, memory and tables shared by all benchmarks.

The calls run in one process and take turns, so that other load on the machine affects all of them; the
first round is a warm-up. The minimum shows the cost of the code, the median the state of the machine.
Ratios compare minima with that of the first call.
"""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class TimedCall:
    """A call to time, and its name in the table."""

    name: str
    run: Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """The seconds of every repetition, and the result of the last one."""

    name: str
    seconds: tuple[float, ...]
    result: Any = None

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def time_in_turns(calls: Sequence[TimedCall], repeats: int = 5, warm_up: int = 1) -> list[Timing]:
    """Time the calls in turns with the garbage collector off, after warm-up rounds."""
    seconds: dict[str, list[float]] = {c.name: [] for c in calls}
    results: dict[str, object] = {}
    for round_number in range(warm_up + repeats):
        for call in calls:
            results.pop(call.name, None)
            gc.collect()
            gc.disable()
            start = time.perf_counter()
            result = call.run()
            elapsed = time.perf_counter() - start
            gc.enable()
            results[call.name] = result
            if round_number >= warm_up:
                seconds[call.name].append(elapsed)
    return [Timing(c.name, tuple(seconds[c.name]), results[c.name]) for c in calls]


def time_processes(commands: dict[str, Sequence[str]], repeats: int = 10) -> list[Timing]:
    """Time whole processes in turns; the first round fills the page cache and is dropped."""

    def call(command: Sequence[str]) -> Callable[[], object]:
        return lambda: subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)

    return time_in_turns([TimedCall(name, call(command)) for name, command in commands.items()], repeats)


def measure_peak_growth(load: Callable[[], Any], work: Callable[[Any], object], warm: Any) -> dict[str, int]:
    """Return the resident bytes before `work`, its peak growth, and the growth that remains after it.

    `warm` is a small input on which `work` runs first, so that imported code is not counted.
    Linux only: the kernel's high-water mark is reset through /proc, which misses no short peak
    and needs no sampling thread that competes for the interpreter lock.
    """
    work(warm)
    data = load()
    _release_memory()
    Path("/proc/self/clear_refs").write_text("5")
    before = _read_process_status("VmRSS")
    result = work(data)
    peak = _read_process_status("VmHWM")
    _release_memory()
    after = _read_process_status("VmRSS")
    del result
    return {"before": before, "growth": max(peak - before, 0), "kept": max(after - before, 0)}


def run_in_new_process(module: str, *arguments: str) -> dict[str, Any]:
    """Run `python -m module arguments` and return the JSON object on its last line of output."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def format_ratio_table(timings: Sequence[Timing], extra: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return a Markdown table of minimum, median, ratio to the first, and extra columns."""
    extra = extra or {}
    base = timings[0].best
    head = ["", "min", "median", f"min ÷ {timings[0].name}", *extra]
    rows = [
        [t.name, format_duration(t.best), format_duration(t.median), f"{t.best / base:.2f}"]
        + [values[i] for values in extra.values()]
        for i, t in enumerate(timings)
    ]
    return format_markdown_table(head, rows)


def format_markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose first column is left-aligned and the others right-aligned."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def format_duration(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds < 1.0 else f"{seconds:.2f} s"


def format_megabytes(count: float) -> str:
    return f"{count / 1e6:.1f} MB"


def describe_machine(packages: Sequence[str]) -> str:
    """Return a line with the machine and the versions that produced the numbers."""
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"model name\s*:\s*(.+)", info)
    named = ", ".join(f"{name} {_version(name)}" for name in packages)
    cores = len(os.sched_getaffinity(0))
    cpu = model[1] if model else platform.processor()
    return f"{cores} cores of {cpu}; Python {platform.python_version()}; {named}."


def replace_between_markers(path: Path, marker: str, text: str) -> None:
    """Replace the text between the marker's begin and end comments in a Markdown file."""
    begin, end = f"<!-- begin {marker} -->", f"<!-- end {marker} -->"
    page = path.read_text(encoding="utf-8")
    if begin not in page or end not in page:
        raise SystemExit(f"{path} has no lines '{begin}' and '{end}'; add them where the table belongs.")
    head, tail = page.split(begin, 1)
    tail = tail.split(end, 1)[1]
    path.write_text(f"{head}{begin}\n{text.strip()}\n{end}{tail}", encoding="utf-8")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        # Importable from the path, but not installed.
        return str(importlib.import_module(package).__version__)


def _read_process_status(field: str) -> int:
    """Return a field of /proc/self/status in bytes."""
    match = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    if match is None:
        raise SystemExit(f"/proc/self/status has no field {field}; memory can be measured on Linux only.")
    return int(match[1]) * 1024


def _release_memory() -> None:
    """Return freed pages to the system; reused pages would not show up as growth."""
    import ctypes

    import pyarrow as pa

    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)


@dataclass(frozen=True)
class ProcessCost:
    """Seconds and peak resident bytes of one run of a process."""

    seconds: float
    peak: float


class ProcessFailed(Exception):
    """A process failed; the message is the last line of its standard error."""


def measure_process(command: Sequence[str], output: Path, exit_codes: Collection[int] = (0,)) -> ProcessCost:
    """Run a command in the project's folder with standard output to a file; `exit_codes` count as success."""
    launch = [sys.executable, "-S", str(ROOT / "benchmarks" / "launch.py"), str(output), *command]
    done = subprocess.run(launch, check=True, cwd=ROOT, capture_output=True, text=True)
    facts = json.loads(done.stdout)
    if facts["code"] not in exit_codes:
        raise ProcessFailed(last_line(Path(f"{output}.err").read_text(errors="replace")))
    return ProcessCost(facts["seconds"], facts["peak"])


def last_line(output: str) -> str:
    lines = output.strip().splitlines()
    return lines[-1] if lines else "no output"


@dataclass
class ProcessTimings:
    """The runs of every process by name, and the messages of those that failed."""

    runs: dict[str, list[ProcessCost]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    @classmethod
    def run_in_turns(cls, calls: Mapping[str, Callable[[], ProcessCost]], repeats: int) -> ProcessTimings:
        """Make every call once per round; a call that fails is not repeated."""
        turns = cls()
        for _ in range(repeats):
            for name, call in calls.items():
                if name not in turns.failures:
                    turns.run_once(name, call)
        return turns

    def run_once(self, name: str, call: Callable[[], ProcessCost]) -> None:
        """Add one run or its failure."""
        try:
            self.runs.setdefault(name, []).append(call())
        except ProcessFailed as failure:
            self.runs.pop(name, None)
            self.failures[name] = str(failure)

    def format_table(self, extra: Mapping[str, Mapping[str, str]] | None = None) -> str:
        """Return the ratio table with peak memory and extra columns by name, followed by the failures."""
        timings = [Timing(name, tuple(r.seconds for r in runs)) for name, runs in self.runs.items()]
        columns = {"peak memory": [format_megabytes(self.min_peak(t.name)) for t in timings]}
        for head, values in (extra or {}).items():
            columns[head] = [values.get(t.name, "") for t in timings]
        parts = [format_ratio_table(timings, columns)] if timings else []
        return "\n\n".join([*parts, *self.failure_notes()])

    def failure_notes(self) -> list[str]:
        """Return one sentence per process that failed."""
        return [f"Left out because it failed: {name}: {message}" for name, message in self.failures.items()]

    def min_peak(self, name: str) -> float:
        return min(run.peak for run in self.runs[name])
