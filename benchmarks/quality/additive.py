"""Compare our additive models with other libraries' additive and boosted models on the same splits.

    python -m benchmarks.quality.additive measure adult --contenders curves,pairs
    python -m benchmarks.quality.additive measure classification --half tuning --tables 25 --folder FOLDER
    python -m benchmarks.quality.additive report regression --folder FOLDER
    python -m benchmarks.quality.additive compare classification BEFORE AFTER

Results are kept as JSON, one file per table and contender, and are not measured twice: `--again` measures
the chosen contenders anew, and the others stay as they are. Run it with build/peers/bin/python.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.harness import PYTHONS
from benchmarks.job import ROOT, WORK
from benchmarks.quality.additive_cases import Case, Selection, Subject, find_cases, load_cases
from benchmarks.quality.additive_contenders import ENVIRONMENTS, OURS, PEERS, find_contender, list_keys
from benchmarks.quality.additive_summary import format_additive_report, format_stated_split, gather_records
from benchmarks.quality.additive_worker import describe_case, result_path
from benchmarks.quality.default_summary import Record, format_comparison, format_report

FOLDER = WORK / "additive"
LIMITS = {"adult": 1_800, "classification": 600, "regression": 600}  # seconds of one case
QUICK_TABLES, QUICK_ROWS, QUICK_SPLITS = 4, 300, 2
BUNDLED_TABLES = {"classification": 7, "regression": 1}  # of the tuning half: those of DATA and scikit-learn
FEW_ROWS, FEW_ROWS_SPLITS = (30, 100, 300), 5


def measure(
    selection: Selection, keys: Sequence[str], folder: Path, limit: int, again: bool = False
) -> list[Record]:
    """Measure the contenders on the cases without a result; return the records of all contenders."""
    path = find_cases(selection, folder)
    cases = load_cases(path)
    for key in keys:
        if again:
            for case in cases:
                result_path(folder, case, key).unlink(missing_ok=True)
        measure_contender(path, cases, key, folder, limit)
    return read_results(cases, folder)


def read_results(cases: Sequence[Case], folder: Path) -> list[Record]:
    return gather_records([result_path(folder, case, key) for case in cases for key in list_keys()])


def measure_contender(path: Path, cases: Sequence[Case], key: str, folder: Path, limit: int) -> None:
    """Run one process at a time until every case has a result; a case that ended it has failed."""
    python = PYTHONS[ENVIRONMENTS.get(key, "peers")]
    if not Path(python).exists():
        raise SystemExit(f"{os.path.relpath(python, ROOT)} does not exist (`make bench` makes it)")
    worker = [python, "-m", "benchmarks.quality.additive_worker", str(path), key, str(folder), str(limit)]
    start = time.perf_counter()
    while pending := [i for i, case in enumerate(cases) if not result_path(folder, case, key).exists()]:
        # On one core all contenders have the same threads, and the other core is free for other work.
        pin = partial(os.sched_setaffinity, 0, {max(os.sched_getaffinity(0))})
        done = subprocess.run([*worker, *map(str, pending)], cwd=ROOT, preexec_fn=pin, check=False)
        if done.returncode > 0:
            raise SystemExit(f"the process of {key} failed with exit code {done.returncode}")
        if done.returncode < 0:
            case = next(cases[i] for i in pending if not result_path(folder, cases[i], key).exists())
            note_failure(case, key, folder, describe_signal(-done.returncode, limit))
    print(f"{key}: {len(cases)} cases after {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)


def describe_signal(number: int, limit: int) -> str:
    if number == signal.SIGALRM:
        return f"more than {limit} s for all splits"
    return f"ended by {signal.Signals(number).name}"


def note_failure(case: Case, key: str, folder: Path, reason: str) -> None:
    contender = find_contender(key, case.table.task)
    names = {"name": contender.name, "role": contender.role, "learner": contender.learner}
    record = {**describe_case(case), **names, "failure": reason}
    result_path(folder, case, key).write_text(json.dumps(record))


def format_results(selection: Selection, records: Sequence[Record]) -> str:
    if selection.subject == "adult":
        return format_stated_split(records, find_contender("curves", "classification").name)
    return format_additive_report(records)


def additive_report(subject: Subject, quick: bool) -> str:
    """Return the tables of a row: of the half that chose no constant, then the bundled tables."""
    folder, limit = FOLDER / "quick" if quick else FOLDER, LIMITS[subject]
    if subject == "adult":
        return format_results(Selection(subject), measure(Selection(subject), list_keys(), folder, limit))
    quick_selection = Selection(subject, "tuning", QUICK_TABLES, QUICK_ROWS, QUICK_SPLITS)
    bundled = Selection(subject, "tuning", BUNDLED_TABLES[subject])
    parts = []
    for selection in [quick_selection] if quick else [Selection(subject, "held-out"), bundled]:
        records = measure(selection, list_keys(), folder, limit)
        name = "bundled tables" if selection is bundled else f"{selection.half} half"
        title = f"#### {subject.capitalize()}, {name}: {len(records)} tables"
        parts.append(f"{title}\n\n{format_results(selection, records)}")
    return "\n\n".join(parts)


def few_rows_report(subject: Subject, quick: bool) -> str:
    """Return how our models compare with the one without curves when there are few rows to train on."""
    folder, parts = FOLDER / "quick" if quick else FOLDER, []
    for n in FEW_ROWS[:1] if quick else FEW_ROWS:
        selection = (
            Selection(subject, "tuning", QUICK_TABLES, QUICK_ROWS, QUICK_SPLITS, n)
            if quick
            else Selection(subject, "held-out", splits=FEW_ROWS_SPLITS, train_rows=n)
        )
        records = measure(selection, list(OURS), folder, LIMITS[subject])
        title = f"#### {subject.capitalize()}, {selection.half} half: {n} training rows"
        parts.append(f"{title}\n\n{format_report(records)}")
    return "\n\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    args = parse_arguments(arguments)
    selection = Selection(args.subject, args.half, args.tables, args.rows, args.splits, args.train_rows)
    if args.command == "compare":
        cases = [load_cases(find_cases(selection, folder)) for folder in (args.before, args.after)]
        before, after = (read_results(c, f) for c, f in zip(cases, (args.before, args.after), strict=True))
        print(format_comparison(before, after))
        return
    if args.command == "measure":
        limit = args.limit or LIMITS[args.subject]
        records = measure(selection, args.contenders, args.folder, limit, args.again)
    else:
        records = read_results(load_cases(find_cases(selection, args.folder)), args.folder)
    print(format_results(selection, records))


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.additive")
    commands = parser.add_subparsers(dest="command", required=True)
    default = Selection("classification")
    helps = {
        "measure": "measure what has no result yet and print the summary",
        "report": "print the summary of the results in a folder",
        "compare": "compare our contenders in two folders, table by table",
    }
    for name, text in helps.items():
        command = commands.add_parser(name, help=text)
        command.add_argument("subject", choices=tuple(LIMITS))
        if name == "compare":
            command.add_argument("before", type=Path)
            command.add_argument("after", type=Path)
        else:
            command.add_argument("--folder", type=Path, default=FOLDER)
        command.add_argument("--half", choices=("tuning", "held-out"), default=default.half)
        command.add_argument("--tables", type=int, default=default.tables, help="largest number of tables")
        command.add_argument(
            "--rows", type=int, default=default.rows, help="largest number of rows of a table"
        )
        command.add_argument(
            "--splits", type=int, default=default.splits, help="of five folds, the first ones"
        )
        command.add_argument(
            "--train-rows", type=int, help="train on so many random rows of a table instead of folds"
        )
        if name == "measure":
            add_measuring_arguments(command)
    return parser.parse_args(arguments)


def add_measuring_arguments(command: argparse.ArgumentParser) -> None:
    contenders = f"separated by commas, of {', '.join(list_keys())}; or peers"
    command.add_argument("--contenders", type=read_contenders, default=list_keys(), help=contenders)
    command.add_argument("--again", action="store_true", help="measure the chosen contenders anew")
    command.add_argument("--limit", type=int, help="seconds of one contender on one table, all splits")


def read_contenders(text: str) -> list[str]:
    keys = list(PEERS) if text == "peers" else text.split(",")
    if unknown := [key for key in keys if key not in list_keys()]:
        raise argparse.ArgumentTypeError(
            f"unknown contender {unknown[0]!r}; there are {', '.join(list_keys())}"
        )
    return keys


if __name__ == "__main__":
    main()
