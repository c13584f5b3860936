"""Judge our defaults on many public tables, beside manual settings and scikit-learn's simple pipelines.

    python -m benchmarks.quality.defaults measure classification --half tuning --tables 40 --output FILE
    python -m benchmarks.quality.defaults measure regression --roles default --names MASS/crabs,ISLR/Auto
    python -m benchmarks.quality.defaults compare BEFORE AFTER

Every contender has the same splits: five folds, repeated. A manual setting is chosen in two ways, separately
for every loss: by the mean loss over these same splits, an optimistic oracle, and by three folds within each
training part, as a user could. Results are kept as JSON with the loss of every split, so that two versions of
weigh can be compared on the same splits.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.job import CORES, WORK
from benchmarks.quality.default_settings import Contender, Role, list_contenders
from benchmarks.quality.default_summary import (
    ERRORS,
    LOG_LOSS,
    SQUARED_ERRORS,
    Record,
    expected_calibration_error,
    fit_temperature,
    format_comparison,
    format_report,
)
from benchmarks.quality.public_tables import MAX_ROWS, Half, Table, Task, read_tables

N_FOLDS, N_REPEATS, N_INNER_FOLDS = 5, 2, 3
MIN_PROBABILITY = float(np.finfo(float).eps)  # in log loss, as in scikit-learn
QUICK_TABLES, MAX_TABLES = 6, 60  # of each half
QUICK_ROWS = 1_000
ROLES: tuple[Role, ...] = ("default", "setting", "peer")


def make_splits(table: Table, n_repeats: int = N_REPEATS) -> list[tuple[Any, Any]]:
    """Return training and test rows of repeated folds, stratified by class."""
    from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

    make = RepeatedStratifiedKFold if table.task == "classification" else RepeatedKFold
    return list(make(n_splits=N_FOLDS, n_repeats=n_repeats, random_state=0).split(table.X, table.y))


def measure_table(table: Table, n_repeats: int = N_REPEATS, roles: Sequence[Role] = ROLES) -> Record:
    """Measure the contenders of these roles on all splits of a table."""
    splits = make_splits(table, n_repeats)
    contenders = [contender for contender in _find_contenders(table.task) if contender.role in roles]
    results, failures = {}, {}
    for contender in contenders:
        try:
            results[contender.name] = measure_contender(contender, table, splits)
        except Exception as error:  # one contender must not end the run; the summary lists the failures
            failures[contender.name] = f"{type(error).__name__}: {error}"
    settings = [c for c in contenders if c.role == "setting" and c.name in results]
    return {
        "table": table.name,
        "task": table.task,
        "half": table.half,
        "rows": len(table.y),
        "columns": table.X.shape[1],
        "classes": len(np.unique(table.y)) if table.task == "classification" else 0,
        "contenders": results,
        "chosen": choose_settings(settings, table, splits, results),
        "failures": failures,
    }


@cache
def _find_contenders(task: Task) -> list[Contender]:
    """Return the contenders; finding out which settings this version knows takes a fit of each."""
    return list_contenders(task)


def measure_contender(contender: Contender, table: Table, splits: Sequence[tuple[Any, Any]]) -> Record:
    """Return the losses by split and the calibration of all predictions."""
    start = time.perf_counter()
    answers = [_predict(contender, table, *split) for split in splits]
    seconds = (time.perf_counter() - start) / len(splits)
    losses = [split_losses(table, test, answer) for (_, test), answer in zip(splits, answers, strict=True)]
    result: Record = {
        "role": contender.role,
        "learner": contender.learner,
        "losses": {name: [each[name] for each in losses] for name in losses[0]},
        "seconds": seconds,
    }
    if LOG_LOSS in losses[0]:
        P = np.concatenate(answers)
        codes = np.concatenate([class_codes(table.y)[test] for _, test in splits])
        result["calibration error"] = expected_calibration_error(P, codes)
        result["temperature"] = fit_temperature(P, codes)
    return result


def _predict(contender: Contender, table: Table, train: Any, test: Any) -> Any:
    """Return probabilities in the order of the classes, predicted classes, or predicted numbers."""
    model = contender.make(table.X).fit(table.X.iloc[train], table.y[train])
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(table.X.iloc[test]))
    return np.asarray(model.predict(table.X.iloc[test]))


def class_codes(y: Any) -> Any:
    """Return the index of each label among the sorted classes."""
    return np.unique(y, return_inverse=True)[1]


def split_losses(table: Table, test: Any, answer: Any) -> dict[str, float]:
    """Return the losses of the probabilities, classes or numbers predicted for the test rows."""
    if table.task == "regression":
        return {SQUARED_ERRORS: float(np.mean((answer - table.y[test]) ** 2) / np.var(table.y))}
    if answer.ndim == 1:
        return {ERRORS: float(np.mean(answer != table.y[test]))}
    codes = class_codes(table.y)[test]
    p = answer[np.arange(len(answer)), codes]
    return {
        ERRORS: float(np.mean(answer.argmax(axis=1) != codes)),
        LOG_LOSS: float(-np.log(np.maximum(p, MIN_PROBABILITY)).mean()),
    }


def choose_settings(
    settings: Sequence[Contender], table: Table, splits: Sequence[tuple[Any, Any]], results: Record
) -> Record:
    """Return by learner and loss the losses of the setting that each training part chooses."""
    chosen: dict[str, dict[str, dict[str, Any]]] = {}
    for i, (train, _) in enumerate(splits):
        part = Table(table.name, table.task, table.X.iloc[train], table.y[train])
        means = {setting.name: _inner_losses(setting, part) for setting in settings}
        for learner in dict.fromkeys(setting.learner for setting in settings):
            names = [setting.name for setting in settings if setting.learner == learner]
            for loss in results[names[0]]["losses"]:
                best = min(names, key=partial(_get_loss, means, loss))
                entry = chosen.setdefault(learner, {}).setdefault(loss, {"losses": [], "names": []})
                entry["losses"].append(results[best]["losses"][loss][i])
                entry["names"].append(best)
    return chosen


def _get_loss(means: dict[str, dict[str, float]], loss: str, name: str) -> float:
    # A setting that failed on the fewer rows cannot be chosen.
    return means[name].get(loss, np.inf)


def _inner_losses(setting: Contender, part: Table) -> dict[str, float]:
    """Return the mean losses over folds of a training part; empty if the setting fails there."""
    from sklearn.model_selection import KFold, StratifiedKFold

    make = StratifiedKFold if part.task == "classification" else KFold
    folds = make(N_INNER_FOLDS, shuffle=True, random_state=1).split(part.X, part.y)
    try:
        losses = [split_losses(part, test, _predict(setting, part, train, test)) for train, test in folds]
    except Exception:
        return {}
    return {name: float(np.mean([each[name] for each in losses])) for name in losses[0]}


def _measure_quietly(n_repeats: int, roles: Sequence[Role], table: Table) -> Record:
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return measure_table(table, n_repeats, roles)


def select_tables(
    task: Task, halves: Iterable[Half], max_tables: int, max_rows: int = MAX_ROWS
) -> Iterator[Table]:
    """Yield at most so many tables of each half."""
    remaining = dict.fromkeys(halves, max_tables)
    for table in read_tables(task, max_rows):
        if remaining.get(table.half, 0):
            remaining[table.half] -= 1
            yield table
        if not any(remaining.values()):
            return


def measure_tables(
    tables: Iterable[Table],
    n_repeats: int,
    jobs: int,
    output: Path | None,
    roles: Sequence[Role] = ROLES,
) -> list[Record]:
    """Measure tables in parallel and report progress; `output` is rewritten after every table."""
    records: list[Record] = []
    start = time.perf_counter()
    with ProcessPoolExecutor(jobs) as pool, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables = list(tables)
        for record in pool.map(partial(_measure_quietly, n_repeats, roles), tables):
            records.append(record)
            progress = f"{len(records)}/{len(tables)} after {time.perf_counter() - start:.0f} s"
            print(f"{progress}: {record['table']}", file=sys.stderr, flush=True)
            if output:
                output.write_text(json.dumps(records))
    return records


def defaults_report(task: Task, quick: bool) -> str:
    """Return the tables of a row: both halves apart, with the raw losses kept in WORK."""
    halves: tuple[Half, ...] = ("tuning", "held-out")
    WORK.mkdir(parents=True, exist_ok=True)
    path = None if quick else WORK / f"defaults-{task}.json"
    size = (QUICK_TABLES, QUICK_ROWS) if quick else (MAX_TABLES, MAX_ROWS)
    tables = select_tables(task, halves, *size)
    records = measure_tables(tables, 1 if quick else N_REPEATS, CORES, path)
    parts = []
    for half in halves:
        chosen = [record for record in records if record["half"] == half]
        parts.append(
            f"#### {task.capitalize()}, {half} half: {len(chosen)} tables\n\n{format_report(chosen)}"
        )
    return "\n\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    args = parse_arguments(arguments)
    if args.command == "measure":
        tables: Iterator[Table]
        if args.names:
            tables = read_tables(args.task, args.rows, args.names)
        else:
            first = select_tables(args.task, [args.half], args.skip + args.tables, args.rows)
            tables = islice(first, args.skip, None)
        records = measure_tables(tables, args.repeats, args.jobs, args.output, args.roles)
        print(format_report(records))
    elif args.command == "report":
        print(format_report(json.loads(args.file.read_text())))
    else:
        print(format_comparison(*(json.loads(path.read_text()) for path in (args.before, args.after))))


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.defaults")
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("measure", help="measure tables of one half and print the summary")
    measure.add_argument("task", choices=("classification", "regression"))
    measure.add_argument("--half", choices=("tuning", "held-out"), default="tuning")
    measure.add_argument("--tables", type=int, default=40)
    measure.add_argument("--skip", type=int, default=0, help="number of first tables to leave out")
    measure.add_argument("--names", type=lambda text: text.split(","), help="tables, separated by commas")
    measure.add_argument("--rows", type=int, default=MAX_ROWS, help="largest number of rows of a table")
    measure.add_argument("--repeats", type=int, default=N_REPEATS)
    roles_help = "the defaults alone take a small part of the time"
    measure.add_argument("--roles", nargs="+", choices=ROLES, default=ROLES, help=roles_help)
    measure.add_argument("--jobs", type=int, default=CORES)
    measure.add_argument("--output", type=Path, help="JSON file of the losses of every split")
    report = commands.add_parser("report", help="print the summary of a JSON file")
    report.add_argument("file", type=Path)
    compare = commands.add_parser("compare", help="compare the defaults of two JSON files, table by table")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
