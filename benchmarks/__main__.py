"""Run benchmark rows: `python -m benchmarks [--rows tables.a,text] [--quick] [--goals FILE] [--list]`."""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.harness import Outcome, Skipped, run_job, run_quality
from benchmarks.job import Job, Row, select_rows
from benchmarks.results import (
    RESULTS,
    check_goals,
    describe_run,
    format_outcome,
    format_summary,
    merge_row,
)

GOAL_REPEATS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the rows of the command line and return the exit code."""
    args = parse_arguments(arguments)
    if args.list:
        for row in select_rows(args.rows):
            print(f"{row.name:<26} {row.title}")
        return 0
    if args.goals:
        return run_goals(args.goals, args.repeats or GOAL_REPEATS)
    failed = False
    for row in select_rows(args.rows):
        try:
            text, outcome = run_row(row, args)
        except Skipped as reason:
            print(f"\nSKIPPED {row.name}: {reason}.", flush=True)
            failed = failed or "has no" not in str(reason)
            continue
        print(f"\n## {row.name}\n\n{text}", flush=True)
        if outcome:
            print(f"\n{format_summary(outcome)}", flush=True)
            if outcome.ours.failure:
                failed = True
                continue
        if not args.quick and not args.dry:
            RESULTS.write_text(
                merge_row(RESULTS.read_text(encoding="utf-8"), row.name, text), encoding="utf-8"
            )
    return int(failed)


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    rows_help = "names or beginnings of names, separated by commas (default: all)"
    parser.add_argument(
        "--rows", type=lambda text: text.replace(",", " ").split(), default=[], help=rows_help
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, one repetition; nothing is written"
    )
    parser.add_argument("--dry", action="store_true", help="do not write benchmarks/RESULTS.md")
    parser.add_argument("--repeats", type=int, help="timed repetitions (default: those of the row)")
    parser.add_argument("--goals", type=Path, help="run the rows of this file at small sizes and compare")
    parser.add_argument("--list", action="store_true", help="list the rows")
    return parser.parse_args(arguments)


def run_row(row: Row, args: argparse.Namespace) -> tuple[str, Outcome | None]:
    """Run one row; return its text for RESULTS.md and, of a timed row, the outcome."""
    command = f"make bench ROWS={row.name}"
    if isinstance(row, Job):
        repeats = args.repeats or (1 if args.quick else None)
        outcome = run_job(row, quick=args.quick, repeats=repeats)
        versions = {name: v for m in reversed(outcome.measured) for name, v in m.versions.items()}
        rounds = f"rounds: {repeats or row.repeats}, after a warm-up"
        return (
            f"{format_outcome(outcome)}\n\n{describe_run(command, versions)} {rounds.capitalize()}.",
            outcome,
        )
    tables, versions = run_quality(row, args.quick)
    return f"{row.title}\n\n{tables}\n\n{describe_run(command, versions)}", None


def run_goals(path: Path, repeats: int) -> int:
    """Run the rows that have a goal at their quick size; return 1 if one is below its goal."""
    goals = tomllib.loads(path.read_text(encoding="utf-8"))
    leads: dict[str, float | None] = {}
    for name, goal in goals.items():
        [row] = select_rows([name])
        assert isinstance(row, Job)
        pair = tuple(c for c in row.contenders if c.role == "ours" or c.name == goal["peer"])
        assert len(pair) == 2, f"{path}: {name} has no contender {goal['peer']!r}"
        try:
            outcome = run_job(replace(row, contenders=pair), quick=True, repeats=repeats, grows=False)
        except Skipped as reason:
            print(f"SKIPPED {name}: {reason}.", flush=True)
            continue
        print(format_summary(outcome), flush=True)
        if outcome.ours.failure:
            leads[name] = 0.0
            continue
        leads[name] = outcome.lead()
        if leads[name] is None:
            missing = "; ".join(f"{m.label}: {m.failure}" for m in outcome.measured if m.failure)
            print(f"SKIPPED {name}: no peer ran: {missing}.", flush=True)
    table, passes = check_goals({name: goal["ratio"] for name, goal in goals.items()}, leads)
    print(f"\n{table}")
    return 0 if passes else 1


if __name__ == "__main__":
    sys.exit(main())
