"""One contender of one row, in a process of its own; reads requests and writes replies as JSON lines.

python -m benchmarks.worker MODULE ROW CONTENDER SIZE
"""

from __future__ import annotations

import ctypes
import gc
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.job import ROOT, WORK, Contender, Job, Quality, Row, load_rows


class Unavailable(Exception):
    """A package or program that a contender needs is not installed."""


def main() -> None:
    module, name, contender, size = sys.argv[1:]
    # Output of packages, native code and child processes must not be mixed with the replies.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # The facts show whether a solver converged.
    warnings.simplefilter("ignore")
    row = next(row for row in load_rows(module) if row.name == name)
    served: Any = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["action"] == "start":
                reply = find_versions(row, contender)
                served = row if isinstance(row, Quality) else Served(row, contender, json.loads(size))
            elif isinstance(served, Quality):
                reply = {"tables": served.tables(request["quick"])}
            elif request["action"] == "warm up":
                reply = served.warm_up(request["tolerance"])
            else:
                reply = served.measure(request["tolerance"], request["facts"])
        except Unavailable as error:
            reply = {"error": str(error)}
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=replies, flush=True)


class Served:
    """A contender with its data, ready to run."""

    def __init__(self, job: Job, name: str, size: dict[str, int]) -> None:
        self.job, self.size, self.contender = job, size, job.contender(name)
        self.data = job.data(**size)
        self.prepared = self._prepare(self.data)
        slug = re.sub(r"[^\w.]+", "-", f"{job.name}-{name}")
        self.output = WORK / f"{slug}.out"
        WORK.mkdir(parents=True, exist_ok=True)

    def _prepare(self, data: Any) -> Any:
        return self.contender.prepare(data) if self.contender.prepare else data

    def warm_up(self, tolerance: float | None) -> dict[str, Any]:
        """Run once, on the small data of the job if it has any."""
        small = self.job.warm_up
        prepared = self.prepared if small is None else self._prepare(self.job.data(**{**self.size, **small}))
        self._run(prepared, tolerance)
        return {"done": True}

    def measure(self, tolerance: float | None, with_facts: bool) -> dict[str, Any]:
        """Run once and return seconds, memory in bytes and, if asked for, the facts."""
        result, cost = self._run(self.prepared, tolerance)
        facts: Mapping[str, float] = {}
        answer = self.contender.answer
        if with_facts and self.job.facts and (answer or self.contender.role != "floor"):
            facts = self.job.facts(self.data, answer(self.prepared, result) if answer else result)
        return {**cost, "facts": dict(facts)}

    def _run(self, prepared: Any, tolerance: float | None) -> tuple[Any, dict[str, float]]:
        if self.contender.before:
            self.contender.before(prepared)
        if self.contender.command:
            return self.output, run_command(self.contender, prepared, self.output)
        assert self.contender.run is not None
        arguments = (prepared,) if tolerance is None else (prepared, tolerance)
        release_memory()
        Path("/proc/self/clear_refs").write_text("5")
        resident = read_status("VmRSS")
        gc.disable()
        start = time.perf_counter()
        result = self.contender.run(*arguments)
        seconds = time.perf_counter() - start
        gc.enable()
        return result, {"seconds": seconds, "memory": max(read_status("VmHWM") - resident, 0)}


def run_command(contender: Contender, prepared: Any, output: Path) -> dict[str, float]:
    """Run a contender's process and return its seconds and peak memory."""
    assert contender.command is not None
    command = [str(part) for part in contender.command(prepared)]
    launcher = [sys.executable, "-S", str(Path(__file__).with_name("launch.py")), str(output)]
    done = subprocess.run([*launcher, *command], check=True, cwd=ROOT, capture_output=True, text=True)
    facts: dict[str, float] = json.loads(done.stdout)
    if facts.pop("code") not in contender.exit_codes:
        lines = Path(f"{output}.err").read_text(errors="replace").strip().splitlines()
        raise RuntimeError(lines[-1] if lines else f"{command[0]} failed without a message")
    return facts


def find_versions(row: Row, name: str) -> dict[str, Any]:
    """Return the versions of the packages that a contender uses; they must be installed."""
    needs = row.needs if isinstance(row, Quality) else row.contender(name).needs
    versions = {package: find_version(package) for package in (*row.packages, *needs)}
    if missing := [need for need in needs if not versions[need]]:
        raise Unavailable(f"{missing[0].removeprefix('bin/')} is not installed")
    return {"versions": {name.removeprefix("bin/"): version for name, version in versions.items() if version}}


def find_version(package: str) -> str:
    """Return the version of a package, or of a program written as bin/name; empty if it is not installed."""
    if package.startswith("bin/"):
        program = shutil.which(package.removeprefix("bin/"))
        return find_program_version(program) if program else ""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        # weigh may be importable from the path without being installed.
        is_ours = package == "weigh" and find_spec(package) is not None
        return str(import_module(package).__version__) if is_ours else ""


def find_program_version(program: str) -> str:
    """Return the number that a program prints for -V, or for -v."""
    for option in ("-V", "-v"):
        said = subprocess.run([program, option], capture_output=True, text=True)
        if number := re.search(r"\d+(\.\d+)+", f"{said.stdout}{said.stderr}"):
            return number[0]
    return "of an unknown version"


def read_status(field: str) -> int:
    """Return a field of /proc/self/status in bytes."""
    match = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert match is not None
    return int(match[1]) * 1024


def release_memory() -> None:
    """Return freed pages to the system; reused pages would not show up as growth."""
    gc.collect()
    if pyarrow := sys.modules.get("pyarrow"):
        pyarrow.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)


if __name__ == "__main__":
    main()
