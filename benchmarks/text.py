"""Naive Bayes on text, side by side with the peers.

    python -m benchmarks.text                        all rows, 300 MB
    python -m benchmarks.text --rows a,c --size 30   some rows on a small corpus
    python -m benchmarks.text --write                also into benchmarks/RESULTS.md

Rows: a from a list of str to a fitted model; b from a file to a saved model; c prediction; d accuracy on
held-out documents; e growing files; f real texts. The contenders take turns. As a warm-up, the input files
are read once and every program runs once on the first 3 MB; a fit in memory first fits 1,000 documents in
its own process. `--peers` leaves weigh out. For rows c and d the peers' models are kept in the --work
folder; ours are fitted again in every run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import text_contenders, text_corpus, text_memory, text_real
from benchmarks.harness import (
    ROOT,
    ProcessCost,
    ProcessFailed,
    ProcessTimings,
    Timing,
    describe_machine,
    format_markdown_table,
    format_megabytes,
    format_ratio_table,
    last_line,
    replace_between_markers,
    run_in_new_process,
)
from benchmarks.text_contenders import WARM_UP_MEGABYTES, Contender, TextBench, fill_page_cache

RESULTS = ROOT / "benchmarks" / "RESULTS.md"
DEFAULT_SIZE = 300  # megabytes
GROWTH_SHARES = (0.1, 1.0, 2.0, 3.0)  # sizes of row e, as multiples of --size
MAX_GROWTH_RATIO = 2.2  # target for the time of twice the data
DISTRIBUTIONS = [
    "weigh", "numpy", "pyarrow", "pandas", "scikit-learn", "polars", "vowpalwabbit", "river",
]  # fmt: skip


def list_table(bench: TextBench) -> str:
    """Return the times from a list of str in memory to a fitted model, each fit in a new process."""
    return time_lists(bench)[1]


def time_lists(bench: TextBench, *, with_accuracy: bool = False) -> tuple[ProcessTimings, str]:
    """Return the runs and their table, with the accuracy on held-out documents if `with_accuracy`."""
    train, held_out = bench.corpus_files()
    paths = [str(files.csv) for files in ((train, held_out) if with_accuracy else (train,))]
    growth: dict[str, str] = {}
    accuracy: dict[str, str] = {}

    def call(key: str, name: str) -> ProcessCost:
        try:
            facts = run_in_new_process("benchmarks.text_memory", "fit", key, *paths)
        except subprocess.CalledProcessError as failure:
            raise ProcessFailed(last_line(failure.stderr)) from failure
        growth[name] = format_megabytes(facts["growth"])
        if with_accuracy:
            accuracy[name] = f"{facts['accuracy']:.4f}"
        return ProcessCost(facts["seconds"], facts["peak"])

    keys = {c.key for c in bench.contenders}
    keys |= {"halved"} if "hashing" in keys else set()
    fitters = {key: name for key, (name, _) in text_memory.FITTERS.items() if key in keys}
    calls = {name: partial(call, key, name) for key, name in fitters.items()}
    timings = ProcessTimings.run_in_turns(calls, bench.args.repeats)
    columns = {"of it the fit": growth} | ({"accuracy": accuracy} if with_accuracy else {})
    return timings, f"{bench.size} MB as a list of str → fitted model\n\n{timings.format_table(columns)}"


def file_tables(bench: TextBench) -> str:
    """Return the times from a file to a saved model, including the start of the process."""
    return "\n\n".join([time_files(bench)[1], *_river_note(bench)])


def time_files(bench: TextBench) -> tuple[ProcessTimings, str]:
    """Time the processes from a file to a saved model; return the runs and their table."""
    train, _ = bench.corpus_files()
    warm_up = ProcessTimings.run_in_turns({c.name: partial(bench.warm_up, c) for c in bench.contenders}, 1)
    for path in (train.csv, train.vw, train.fasttext):
        fill_page_cache(path)
    calls = {c.name: partial(bench.fit, c, train) for c in bench.contenders if c.name in warm_up.runs}
    timings = ProcessTimings.run_in_turns(calls, bench.args.repeats)
    timings.failures |= warm_up.failures
    for contender in bench.contenders:
        if contender.name in timings.runs:
            bench.mark_fitted(contender)
    return (
        timings,
        f"{bench.size} MB file → fitted and saved model, whole process\n\n{timings.format_table()}",
    )


def _river_note(bench: TextBench) -> list[str]:
    """Return a sentence about river, which learns one document at a time."""
    if not text_contenders.is_installed("river"):
        return []
    files = [str(bench.warm_up_files().csv), str(bench.corpus_files()[1].csv)]
    facts = run_in_new_process("benchmarks.text_scripts", "river", "fit", *files)
    rate = f"{facts['fit']:.1f} s for the first {WARM_UP_MEGABYTES} MB, without start and reading"
    scaled = f"scaled to {bench.size} MB {facts['fit'] * bench.size / WARM_UP_MEGABYTES:,.0f} s"
    hits = f"Accuracy after {WARM_UP_MEGABYTES} MB: {facts['hits']:.3f}."
    return [f"river, BagOfWords | MultinomialNB: {rate}; {scaled}. {hits}"]


def predict_tables(bench: TextBench) -> str:
    """Return the times of predicting held-out documents in one process, as processes, and one by one."""
    timings = ProcessTimings()
    contenders = [c for c in bench.contenders if c.predict and c.key not in ("weigh-hashed-1", "chunks")]
    contenders = [c for c in contenders if _has_model(bench, c, timings)]
    for round_number in range(bench.args.repeats + 1):
        if round_number == 1:
            # The first round was the warm-up.
            timings.runs.clear()
        for contender in contenders:
            timings.run_once(contender.name, partial(_time_prediction, bench, contender))
    rates = {name: _format_rate(min(run.seconds for run in runs)) for name, runs in timings.runs.items()}
    title = f"{text_corpus.N_HELD_OUT:,} held-out documents of 1 kB, raw text → labels"
    in_memory = [c for c in contenders if c.is_ours or c.key in ("hashing", "counting")]
    parts = [f"{title}, models in memory", _in_memory_table(bench, in_memory)] if in_memory else []
    parts += [f"{title}, whole process from file to file", timings.format_table({"documents/s": rates})]
    return "\n\n".join(
        [*parts, *_whole_file_table(bench, [c for c in contenders if "scikit-learn" not in c.name])]
    )


def _whole_file_table(bench: TextBench, contenders: Sequence[Contender]) -> list[str]:
    """Time predicting the training documents, where the start of the process hardly matters."""
    train, _ = bench.corpus_files()
    calls = {c.name: partial(_time_prediction, bench, c, train) for c in contenders}
    title = f"The {bench.size} MB of training documents, whole process from file to file"
    return [title, ProcessTimings.run_in_turns(calls, bench.args.repeats).format_table()]


def _in_memory_table(bench: TextBench, contenders: Sequence[Contender]) -> str:
    named = [f"{c.name}={bench.model_path(c)}" for c in contenders]
    repeats = ["--repeats", str(bench.args.repeats)]
    held_out = str(bench.corpus_files()[1].csv)
    facts = run_in_new_process("benchmarks.text_memory", "predict", held_out, *named, *repeats)
    timings = [Timing(name, tuple(seconds)) for name, seconds in facts["many"].items()]
    single = [f"{facts['single'][t.name] * 1e6:,.0f} µs" for t in timings]
    rates = [_format_rate(t.best) for t in timings]
    return format_ratio_table(timings, {"documents/s": rates, "one short text, median": single})


def _format_rate(seconds: float) -> str:
    return f"{text_corpus.N_HELD_OUT / seconds:,.0f}"


def _has_model(bench: TextBench, contender: Contender, timings: ProcessTimings) -> bool:
    try:
        bench.ensure_model(contender)
    except ProcessFailed as failure:
        timings.failures[contender.name] = str(failure)
    return contender.name not in timings.failures


def _time_prediction(
    bench: TextBench, contender: Contender, files: text_corpus.CorpusFiles | None = None
) -> ProcessCost:
    return bench.predict(contender, files)[0]


def accuracy_table(bench: TextBench) -> str:
    """Return the accuracies of the saved models on held-out documents."""
    import pyarrow.csv as pc

    true = pc.read_csv(bench.corpus_files()[1].csv)["label"].to_pylist()
    timings = ProcessTimings()
    rows = []
    for contender in (c for c in bench.contenders if c.predict):
        if _has_model(bench, contender, timings):
            predicted = bench.predict(contender)[1]
            hits = sum(a == b for a, b in zip(predicted, true, strict=True))
            rows.append([contender.name, f"{hits / len(true):.4f}"])
    title = f"Accuracy on {len(true):,} held-out documents after {bench.size} MB"
    return "\n\n".join([title, format_markdown_table(["", "accuracy"], rows), *timings.failure_notes()])


def growth_table(bench: TextBench) -> str:
    """Return our time and memory on growing files."""
    sizes = [max(round(bench.size * share), 1) for share in GROWTH_SHARES]
    model = bench.folder / "growth.weigh"
    files = {f"{size} MB": text_corpus.ensure_corpus(bench.folder, size, ("csv",))[0] for size in sizes}
    title = f"{text_contenders.HASHED.name}, from a CSV file to the saved model, whole process"
    warm_up = ProcessTimings.run_in_turns({title: partial(bench.warm_up, text_contenders.HASHED)}, 1)
    if warm_up.failures:
        return "\n\n".join(warm_up.failure_notes())
    for corpus in files.values():
        fill_page_cache(corpus.csv)
    calls = {
        name: partial(bench.fit, text_contenders.HASHED, corpus, model) for name, corpus in files.items()
    }
    timings = ProcessTimings.run_in_turns(calls, bench.args.repeats)
    if timings.failures:
        return "\n\n".join([title, *timings.failure_notes()])
    best = [min(run.seconds for run in timings.runs[name]) for name in files]
    ratio = best[2] / best[1]
    verdict = "as wanted" if ratio <= MAX_GROWTH_RATIO else "too much"
    note = (
        f"Twice the data takes {ratio:.2f} times as long (at most {MAX_GROWTH_RATIO} is wanted: {verdict})."
    )
    return f"{title}\n\n{timings.format_table()}\n\n{note}"


def real_tables(bench: TextBench) -> str:
    return text_real.real_text_tables(bench.args.data, bench.folder, bench.args.peers)


JOBS: dict[str, Callable[[TextBench], str]] = {
    "a": list_table,
    "b": file_tables,
    "c": predict_tables,
    "d": accuracy_table,
    "e": growth_table,
    "f": real_tables,
}


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.text",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rows", default=",".join(JOBS), help="letters separated by commas")
    parser.add_argument("--size", type=int, default=DEFAULT_SIZE, help="megabytes of the corpus")
    parser.add_argument("--repeats", type=int, default=3, help="timed repetitions")
    parser.add_argument(
        "--work", type=Path, help="folder that keeps corpora and models (default: a temporary folder)"
    )
    data = os.environ.get("WEIGH_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument(
        "--data", type=Path, default=data, help="folder of the real texts of row f (default: $WEIGH_DATA)"
    )
    parser.add_argument("--peers", action="store_true", help="leave weigh out")
    parser.add_argument("--write", action="store_true", help="write the tables to benchmarks/RESULTS.md")
    return parser


def _run_rows(args: argparse.Namespace, rows: list[str]) -> None:
    bench = TextBench(args)
    if note := text_contenders.missing_note():
        print(note, flush=True)
    for row in rows:
        without = " --peers" if args.peers else ""
        options = "" if row == "f" else f" --size {args.size} --repeats {args.repeats}"
        command = f"`python -m benchmarks.text --rows {row}{options}{without}`"
        tables = JOBS[row](bench)
        machine = describe_machine(text_contenders.installed_distributions(DISTRIBUTIONS))
        text = f"{tables}\n\n{command}; {machine}"
        print(f"\n## {row}\n\n{text}", flush=True)
        if args.write:
            replace_between_markers(RESULTS, _marker(row, args), text)


def _marker(row: str, args: argparse.Namespace) -> str:
    return f"text {row}" + ("" if args.size == DEFAULT_SIZE or row == "f" else f" {args.size} MB")


def main() -> None:
    parser = _make_parser()
    args: Any = parser.parse_args()
    rows = args.rows.split(",")
    if unknown := sorted(set(rows) - set(JOBS)):
        parser.error(f"unknown row {', '.join(unknown)}; choose from {', '.join(JOBS)}")
    page = RESULTS.read_text(encoding="utf-8")
    unmarked = [m for m in (_marker(row, args) for row in rows) if f"begin {m} -->" not in page]
    if args.write and unmarked:
        parser.error(f"{RESULTS} has no marker {', '.join(unmarked)}; add it or leave out --write")
    if args.work is not None:
        args.work = args.work.resolve()
        args.work.mkdir(parents=True, exist_ok=True)
        _run_rows(args, rows)
        return
    with tempfile.TemporaryDirectory() as folder:
        args.work = Path(folder)
        _run_rows(args, rows)


if __name__ == "__main__":
    main()
