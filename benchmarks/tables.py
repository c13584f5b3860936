"""Naive Bayes on tables, side by side with scikit-learn.

    python -m benchmarks.tables                      all jobs
    python -m benchmarks.tables mixed --classes 10   one job, other sizes
    python -m benchmarks.tables --write              also into benchmarks/RESULTS.md

`--peers` leaves weigh out; it was used to choose the peers' settings.
"""

from __future__ import annotations

import argparse
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import adult, mixed, weigh_calls
from benchmarks.harness import (
    ROOT,
    TimedCall,
    Timing,
    describe_machine,
    format_markdown_table,
    format_megabytes,
    format_ratio_table,
    replace_between_markers,
    run_in_new_process,
    time_in_turns,
    time_processes,
)
from benchmarks.probe import fit_calls

PEERS = {"ordinal": "scikit-learn (OrdinalEncoder)", "pandas": "scikit-learn (codes by pandas)"}
STORAGES = {
    "str": "pandas `str` (Arrow-backed strings, NumPy numbers)",
    "object": "pandas object strings",
    "arrow": "pandas Arrow dtypes for all columns",
}
MAX_PIPELINES_SHOWN = 20  # the best on Adult by cross-validation
PACKAGES = ["weigh", "numpy", "pandas", "pyarrow", "scikit-learn"]


def _contestant_names(args: argparse.Namespace) -> dict[str, str]:
    return PEERS if args.peers else {"weigh": "weigh", **PEERS}


def adult_table(args: argparse.Namespace) -> str:
    """Return accuracy and time from the CSV file to the fitted model; peers sorted by cross-validation."""
    folder = args.data / "adult"
    pipelines = adult.candidate_pipelines()
    accuracies = adult.pipeline_accuracies(folder, pipelines)
    order = sorted(pipelines, key=lambda name: -accuracies[name][0])[:MAX_PIPELINES_SHOWN]
    calls = {name: adult.make_file_fit(folder / "train.csv", pipelines[name]) for name in order}
    if not args.peers:
        for name, settings in reversed(weigh_calls.adult_settings().items()):
            accuracies[name] = weigh_calls.weigh_accuracies(folder, adult.LABEL, **settings)
            call = partial(weigh_calls.fit_file, folder / "train.csv", adult.LABEL, **settings)
            calls = {name: call, **calls}
    timings = time_in_turns([TimedCall(name, call) for name, call in calls.items()], args.repeats)
    columns = zip(*(accuracies[t.name] for t in timings), strict=True)
    extra = dict(zip(["folds", "test"], columns, strict=True))
    cells = {name: [f"{value:.4f}" for value in values] for name, values in extra.items()}
    title = (
        f"UCI Adult, CSV file (32,561 rows) → fitted model, and accuracy; the {len(order)} best by their "
        f"folds of {len(pipelines)} pipelines"
    )
    return f"{title}\n\n{format_ratio_table(timings, cells)}"


def mixed_tables(args: argparse.Namespace) -> str:
    """Return the times of fitting and predicting a frame in memory, by storage of the strings."""
    with tempfile.TemporaryDirectory() as folder:
        path = mixed.write_table(Path(folder, "mixed.arrow"), args.rows, args.classes)
        new = mixed.make_table(100_000, args.classes, part=1).to_pandas()
        parts = [_storage_tables(args, path, storage, new) for storage in args.storage]
    return "\n\n".join(parts)


def _storage_tables(args: argparse.Namespace, path: Path, storage: str, new: Any) -> str:
    frame = mixed.read_table(path, storage)
    fits = [TimedCall(n, partial(fit_calls()[key], frame)) for key, n in _contestant_names(args).items()]
    fitted = time_in_turns(fits, args.repeats)
    hits = [f"{(t.result.predict(new) == new[mixed.LABEL]).mean():.4f}" for t in fitted]
    predictions = [TimedCall(t.name, partial(t.result.predict, frame)) for t in fitted]
    predicted = time_in_turns(predictions, args.repeats)
    title = f"{args.rows:,} mixed rows, {args.classes} classes, {STORAGES[storage]}"
    fit_table = format_ratio_table(fitted, {"accuracy on new rows": hits})
    return f"Fit: {title}\n\n{fit_table}\n\nPredict the same rows\n\n{format_ratio_table(predicted)}"


def memory_table(args: argparse.Namespace) -> str:
    """Return the peak memory that fitting adds to the frame, each fit in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        path = mixed.write_table(Path(folder, "mixed.arrow"), args.rows, args.classes)
        size = path.stat().st_size
        rows = []
        for storage in args.storage:
            for key, name in _contestant_names(args).items():
                runs = [run_in_new_process("benchmarks.probe", key, str(path), storage)
                        for _ in range(3)]  # fmt: skip
                best = min(runs, key=lambda run: int(run["growth"]))
                growth = best["growth"]
                rows.append([name, storage, format_megabytes(growth), f"{growth / size:.2f}",
                             format_megabytes(best["kept"])])  # fmt: skip
    head = ["", "strings", "peak growth", "÷ Arrow size", "still held after"]
    title = f"Memory added by fitting {args.rows:,} rows of {format_megabytes(size)} in Arrow (best of 3)"
    return f"{title}\n\n{format_markdown_table(head, rows)}"


def startup_tables(args: argparse.Namespace) -> str:
    """Return the times of whole processes that import, or load a model and predict one row."""
    with tempfile.TemporaryDirectory() as folder:
        code = {"python": "pass", "numpy": "import numpy"}
        if not args.peers:
            code = {"weigh": "import weigh", **code}
        code["sklearn.naive_bayes"] = "import sklearn.naive_bayes"
        imports = _time_programs(code)
        one_row = _time_programs(_one_row_programs(args, Path(folder)))
    return (
        f"Start-up, whole process (10 repetitions)\n\n{format_ratio_table(imports)}\n\n"
        f"Load a model file and predict one row, whole process\n\n{format_ratio_table(one_row)}"
    )


def _time_programs(programs: dict[str, str]) -> list[Timing]:
    return time_processes({name: [sys.executable, "-c", p] for name, p in programs.items()}, 10)


def _one_row_programs(args: argparse.Namespace, folder: Path) -> dict[str, str]:
    """Save both models and return the programs; the peer's avoids importing pandas."""
    import numpy as np
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    frame = mixed.make_table(10_000).to_pandas()[[*mixed.LEVELS, mixed.LABEL]]
    row = frame.iloc[0].drop(mixed.LABEL).to_dict()
    X, y = frame[list(mixed.LEVELS)].to_numpy(dtype=object), np.array(frame[mixed.LABEL], str)
    peer = make_pipeline(OrdinalEncoder(dtype=np.int64), CategoricalNB()).fit(X, y)
    (folder / "peer.pickle").write_bytes(pickle.dumps(peer))
    programs = {
        "scikit-learn (pickle)": f"import pickle, numpy as np; m = pickle.load(open("
        f"{str(folder / 'peer.pickle')!r}, 'rb')); "
        f"print(m.predict(np.array([{list(row.values())!r}], dtype=object)))"
    }
    if args.peers:
        return programs
    path = str(folder / "ours.weigh")
    weigh_calls.fit_frame(frame, mixed.LABEL).model_.save(path)
    return {"weigh": f"import weigh; print(weigh.load({path!r}).predict({row!r}))", **programs}


JOBS: dict[str, Callable[[argparse.Namespace], str]] = {
    "adult": adult_table,
    "mixed": mixed_tables,
    "memory": memory_table,
    "startup": startup_tables,
}


def _marker(job: str, args: argparse.Namespace) -> str:
    has_suffix = job in ("mixed", "memory") and args.classes != 2
    return f"tables {job}" + (f" {args.classes} classes" if has_suffix else "")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tables",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("jobs", nargs="*", help=f"any of {', '.join(JOBS)} (default: all)")
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder that contains adult/"
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the mixed table")
    parser.add_argument("--classes", type=int, default=2, help="classes of the mixed table")
    parser.add_argument("--repeats", type=int, default=5, help="timed repetitions")
    parser.add_argument("--storage", nargs="+", choices=STORAGES, default=["str", "object"], help="dtypes")
    parser.add_argument("--peers", action="store_true", help="leave weigh out")
    parser.add_argument("--write", action="store_true", help="write the tables to benchmarks/RESULTS.md")
    args = parser.parse_args()
    unknown = set(args.jobs) - set(JOBS)
    if unknown:
        parser.error(f"unknown job {', '.join(sorted(unknown))}; choose from {', '.join(JOBS)}")
    # Quantile bins of a column that is mostly zero coincide, as expected.
    warnings.filterwarnings("ignore", message="Bins whose width are too small")
    for job in args.jobs or JOBS:
        text = f"{JOBS[job](args)}\n\n{describe_machine(PACKAGES)}"
        print(f"\n## {job}\n\n{text}", flush=True)
        if args.write:
            replace_between_markers(ROOT / "benchmarks" / "RESULTS.md", _marker(job, args), text)


if __name__ == "__main__":
    main()
