"""Format outcomes and keep them in RESULTS.md: a row that was run replaces its own text and no other."""

from __future__ import annotations

import datetime
import os
import platform
import re
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.harness import Measured, Outcome
from benchmarks.job import ROOT

RESULTS = ROOT / "benchmarks" / "RESULTS.md"


def format_markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose first column is left-aligned and the others right-aligned."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def format_duration(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds < 1.0 else f"{seconds:.2f} s"


def format_megabytes(count: float) -> str:
    return f"{count / 1e6:.1f} MB"


def format_spread(values: Sequence[float]) -> str:
    """Return the median with minimum and maximum in brackets."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def format_size(size: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {value:,}" for name, value in size.items())


def format_outcome(outcome: Outcome) -> str:
    """Return the tables of a timed row."""
    job = outcome.job
    parts = [f"{job.title} ({format_size(outcome.size)})" if outcome.size else job.title]
    timed = [m for m in outcome.measured if m.seconds and not m.failure]
    if timed:
        parts.append(_format_times(outcome, timed))
    failures = [f"{m.label}: {m.failure}" for m in outcome.measured if m.failure]
    parts += [f"Left out: {'; '.join(failures)}."] if failures else []
    if job.check and timed:
        parts.append(_describe_check(outcome))
    if outcome.growth and outcome.growth_base:
        parts.append(_format_growth(outcome, outcome.growth_base))
    return "\n\n".join(parts)


def _format_times(outcome: Outcome, timed: Sequence[Measured]) -> str:
    names = list(dict.fromkeys(name for m in timed for name in m.facts))
    whole_processes = all(m.contender.command for m in timed)
    memory = "peak memory" if whole_processes else "memory added"
    head = ["", "min", "median", "max", "÷ weigh, by round", memory, *names]
    has_ours = not outcome.ours.failure
    rows = []
    for m in timed:
        times = [format_duration(f(m.seconds)) for f in (min, statistics.median, max)]
        ratio = format_spread(outcome.ratios(m)) if has_ours and m is not outcome.ours else ""
        facts = [f"{m.facts[name]:.6g}" if name in m.facts else "" for name in names]
        label = f"{m.label} (floor)" if m.contender.role == "floor" else m.label
        rows.append([label, *times, ratio, format_megabytes(min(m.memory)), *facts])
    return format_markdown_table(head, rows)


def _describe_check(outcome: Outcome) -> str:
    check = outcome.job.check
    assert check is not None
    texts = {
        "ours": f"{check.fact} within {check.tolerance:g} of ours",
        "zero": f"{check.fact} at most {check.tolerance:g}",
        "lowest": f"{check.fact} at most {check.tolerance:g} above the lowest of all runs, relatively",
    }
    return f"Same work: {texts[check.distance_from]}."


def _format_growth(outcome: Outcome, base: Outcome) -> str:
    """Return by how much time and memory grow when one size is multiplied by ten."""
    rows = []
    for dimension, grown in outcome.growth.items():
        name = f"{dimension} {base.size[dimension]:,} → {grown.size[dimension]:,}"
        for before, after in zip(base.measured, grown.measured, strict=True):
            if not before.seconds or not after.seconds:
                rows.append([f"{name}: {before.contender.name}", after.failure or before.failure, "", ""])
                continue
            cells = [format_duration(min(before.seconds)), format_duration(min(after.seconds))]
            memory = min(after.memory) / max(min(before.memory), 1.0)
            factor = f"{min(after.seconds) / min(before.seconds):.2f}"
            memory_cell = f"{memory:.2f}" if min(before.memory) > 1e6 else format_megabytes(min(after.memory))
            rows.append([f"{name}: {before.contender.name}", " → ".join(cells), factor, memory_cell])
    title = f"Growth, one size times ten, from {format_size(base.size)}:"
    return f"{title}\n\n{format_markdown_table(['', 'min', 'time ×', 'memory ×'], rows)}"


def describe_run(command: str, versions: Mapping[str, str]) -> str:
    """Return the line with date, command, machine and versions."""
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"model name\s*:\s*(.+)", info)
    cores = f"{len(os.sched_getaffinity(0))} cores of {model[1] if model else platform.processor()}"
    packages = ", ".join(f"{name} {version}" for name, version in versions.items())
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    return f"{date}; `{command}`; {cores}; Python {platform.python_version()}; {packages}."


def format_summary(outcome: Outcome) -> str:
    """Return one line: ours, best peer, floor, ratio and spread."""
    ours, peer, floor = outcome.ours, outcome.best("peer"), outcome.best("floor")
    if ours.failure:
        return f"{outcome.job.name:<24} weigh failed: {ours.failure}"
    cells = [f"{outcome.job.name:<24} weigh {format_duration(min(ours.seconds)):>9}"]
    if peer:
        times = f"{peer.contender.name} {format_duration(min(peer.seconds))}"
        cells.append(f"best peer {times}, {format_spread(outcome.ratios(peer))} × ours")
    else:
        cells.append("no peer")
    if floor:
        ratio = statistics.median(1 / r for r in outcome.ratios(floor))
        cells.append(f"floor {format_duration(min(floor.seconds))}, ours {ratio:.2f} × floor")
    return "; ".join(cells)


def merge_row(page: str, name: str, text: str) -> str:
    """Replace a row's text between its markers, or insert it after the last row with the same beginning."""
    block = f"<!-- begin {name} -->\n{text.strip()}\n<!-- end {name} -->"
    pattern = re.compile(rf"<!-- begin {re.escape(name)} -->.*?<!-- end {re.escape(name)} -->", re.DOTALL)
    if pattern.search(page):
        return pattern.sub(lambda match: block, page, count=1)
    names = re.findall(r"<!-- end (\S+) -->", page)
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        if siblings := [other for other in names if other.split(".")[:length] == parts[:length]]:
            end = f"<!-- end {siblings[-1]} -->"
            return page.replace(end, f"{end}\n\n### {name}\n\n{block}", 1)
    return f"{page.rstrip()}\n\n## {parts[0].capitalize()}\n\n### {name}\n\n{block}\n"


def check_goals(goals: Mapping[str, float], leads: Mapping[str, float | None]) -> tuple[str, bool]:
    """Return a table of goals and measured ratios, and whether all measured rows reach theirs."""
    rows, passes = [], True
    for name, goal in goals.items():
        lead = leads.get(name)
        is_below = lead is not None and lead < goal
        passes = passes and not is_below
        verdict = "SKIPPED" if lead is None else "BELOW ITS GOAL" if is_below else "ok"
        rows.append([name, f"{goal:.2f}", "-" if lead is None else f"{lead:.2f}", verdict])
    return format_markdown_table(["row", "goal", "best peer ÷ weigh", ""], rows), passes
