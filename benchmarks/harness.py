"""Timing, memory and tables shared by all benchmarks.

Contestants run in one process and take turns, so that a noisy neighbour hits all of them; the
first round only warms up. Both the minimum and the median are printed: the minimum says what the
code costs, the median how the machine was. Ratios are of minima, against the first contestant.
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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Contestant:
    """A name and the call to be timed."""

    name: str
    run: Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """Seconds of every repetition, and what the last one returned."""

    name: str
    seconds: tuple[float, ...]
    result: Any = None

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def race(contestants: Sequence[Contestant], repeats: int = 5, warm_up: int = 1) -> list[Timing]:
    """Time the contestants in turns, without the garbage collector, after warm-up rounds."""
    seconds: dict[str, list[float]] = {c.name: [] for c in contestants}
    results: dict[str, object] = {}
    for round_number in range(warm_up + repeats):
        for contestant in contestants:
            results.pop(contestant.name, None)
            gc.collect()
            gc.disable()
            start = time.perf_counter()
            result = contestant.run()
            elapsed = time.perf_counter() - start
            gc.enable()
            results[contestant.name] = result
            if round_number >= warm_up:
                seconds[contestant.name].append(elapsed)
    return [Timing(c.name, tuple(seconds[c.name]), results[c.name]) for c in contestants]


def race_processes(commands: dict[str, Sequence[str]], repeats: int = 10) -> list[Timing]:
    """Time whole processes in turns; the first round fills the page cache and is dropped."""

    def call(command: Sequence[str]) -> Callable[[], object]:
        return lambda: subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)

    return race([Contestant(name, call(command)) for name, command in commands.items()], repeats)


def peak_growth(load: Callable[[], Any], work: Callable[[Any], object], warm: Any) -> dict[str, int]:
    """Return bytes of resident memory before `work` and the most it added, in this process.

    `warm` is a small input on which `work` runs first, so that imported code is not counted.
    Linux only: the kernel's high-water mark is reset through /proc, which misses no short peak
    and needs no sampling thread that waits for the interpreter lock.
    """
    work(warm)
    data = load()
    _give_memory_back()
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    kept = work(data)
    peak = _status("VmHWM")
    _give_memory_back()
    after = _status("VmRSS")
    del kept
    return {"before": before, "growth": max(peak - before, 0), "kept": max(after - before, 0)}


def fresh_process(module: str, *arguments: str) -> dict[str, Any]:
    """Run `python -m module arguments` and return the JSON object of its last line."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def ratio_table(timings: Sequence[Timing], extra: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return a Markdown table of minimum, median, ratio to the first, and extra columns."""
    extra = extra or {}
    base = timings[0].best
    head = ["", "min", "median", f"min ÷ {timings[0].name}", *extra]
    rows = [
        [t.name, duration(t.best), duration(t.median), f"{t.best / base:.2f}"]
        + [values[i] for values in extra.values()]
        for i, t in enumerate(timings)
    ]
    return markdown(head, rows)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose first column is left-aligned and the others right-aligned."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def duration(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds < 1.0 else f"{seconds:.2f} s"


def megabytes(count: float) -> str:
    return f"{count / 1e6:.1f} MB"


def machine(packages: Sequence[str]) -> str:
    """Say on what machine and with which versions the numbers were made."""
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"model name\s*:\s*(.+)", info)
    named = ", ".join(f"{name} {_version(name)}" for name in packages)
    cores = len(os.sched_getaffinity(0))
    cpu = model[1] if model else platform.processor()
    return f"{cores} cores of {cpu}; Python {platform.python_version()}; {named}."


def write_between(path: Path, marker: str, text: str) -> None:
    """Replace what stands between the marker's begin and end comments in a Markdown file."""
    begin, end = f"<!-- begin {marker} -->", f"<!-- end {marker} -->"
    page = path.read_text(encoding="utf-8")
    if begin not in page or end not in page:
        raise SystemExit(f"{path} has no lines '{begin}' and '{end}'; add them where it belongs.")
    head, rest = page.split(begin, 1)
    tail = rest.split(end, 1)[1]
    path.write_text(f"{head}{begin}\n{text.strip()}\n{end}{tail}", encoding="utf-8")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        # Found on the path without being installed.
        return str(importlib.import_module(package).__version__)


def _status(field: str) -> int:
    """Return a field of /proc/self/status in bytes."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    if found is None:
        raise SystemExit(f"/proc/self/status has no field {field}; memory is measured on Linux.")
    return int(found[1]) * 1024


def _give_memory_back() -> None:
    """Return freed pages to the system, else the work would reuse them unseen."""
    import ctypes

    import pyarrow as pa

    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
