"""Naive Bayes on text, side by side with the peers.

    python -m benchmarks.text                        all rows, 300 MB
    python -m benchmarks.text --rows a,c --size 30   some rows, a small corpus
    python -m benchmarks.text --write                also into benchmarks/RESULTS.md

Rows: a a list of str to a fitted model, b a file to a saved model, c predicting, d accuracy on
held-out documents, e growing files, f real texts. Everyone takes turns. Before anything is timed
the input files are read once and every program runs once on the first 3 MB; a fit in memory first
fits 1,000 documents in its own process. `--peers` leaves the library out. Models of peers are kept
in the --work folder for rows c and d; ours are made anew in every run.
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
GROWTH_SHARES = (0.1, 1.0, 2.0, 3.0)  # sizes of row e, in shares of --size
MAX_GROWTH_RATIO = 2.2  # how much longer twice the data may take
DISTRIBUTIONS = [
    "weigh", "numpy", "pyarrow", "pandas", "scikit-learn", "polars", "vowpalwabbit", "river",
]  # fmt: skip


def list_table(bench: TextBench) -> str:
    """A list of str in memory to a fitted model, each in a fresh process."""
    return time_lists(bench)[1]


def time_lists(bench: TextBench, *, judged: bool = False) -> tuple[ProcessTimings, str]:
    """Return the runs and their table; with `judged` it tells the accuracy on held-out documents."""
    train, held_out = bench.corpus_files()
    paths = [str(files.csv) for files in ((train, held_out) if judged else (train,))]
    growth: dict[str, str] = {}
    accuracy: dict[str, str] = {}

    def call(key: str, name: str) -> ProcessCost:
        try:
            facts = run_in_new_process("benchmarks.text_memory", "fit", key, *paths)
        except subprocess.CalledProcessError as failure:
            raise ProcessFailed(last_line(failure.stderr)) from failure
        growth[name] = format_megabytes(facts["growth"])
        if judged:
            accuracy[name] = f"{facts['accuracy']:.4f}"
        return ProcessCost(facts["seconds"], facts["peak"])

    keys = {c.key for c in bench.contenders}
    keys |= {"halved"} if "hashing" in keys else set()
    fitters = {key: name for key, (name, _) in text_memory.FITTERS.items() if key in keys}
    calls = {name: partial(call, key, name) for key, name in fitters.items()}
    turns = ProcessTimings.run_in_turns(calls, bench.given.repeats)
    columns = {"of it the fit": growth} | ({"accuracy": accuracy} if judged else {})
    return turns, f"{bench.size} MB as a list of str → fitted model\n\n{turns.format_table(columns)}"


def file_tables(bench: TextBench) -> str:
    """A file to a saved model, start of the process included."""
    return "\n\n".join([time_files(bench)[1], *_river_note(bench)])


def time_files(bench: TextBench) -> tuple[ProcessTimings, str]:
    """Return the runs from a file to a saved model and their table."""
    train, _ = bench.corpus_files()
    warm_up = ProcessTimings.run_in_turns({c.name: partial(bench.warm_up, c) for c in bench.contenders}, 1)
    for path in (train.csv, train.vw, train.fasttext):
        fill_page_cache(path)
    calls = {c.name: partial(bench.fit, c, train) for c in bench.contenders if c.name in warm_up.runs}
    turns = ProcessTimings.run_in_turns(calls, bench.given.repeats)
    turns.failures |= warm_up.failures
    for contender in bench.contenders:
        if contender.name in turns.runs:
            bench.mark_fitted(contender)
    return turns, f"{bench.size} MB file → fitted and saved model, whole process\n\n{turns.format_table()}"


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
    """Held-out documents: in one process, as processes, and one short text at a time."""
    turns = ProcessTimings()
    able = [c for c in bench.contenders if c.predict and c.key not in ("weigh-hashed-1", "chunks")]
    able = [c for c in able if _has_model(bench, c, turns)]
    for round_number in range(bench.given.repeats + 1):
        if round_number == 1:
            # the first round warmed up
            turns.runs.clear()
        for contender in able:
            turns.run_once(contender.name, partial(_time_prediction, bench, contender))
    rates = {name: _format_rate(min(run.seconds for run in runs)) for name, runs in turns.runs.items()}
    title = f"{text_corpus.N_HELD_OUT:,} held-out documents of 1 kB, raw text → labels"
    inside = [c for c in able if c.is_ours or c.key in ("hashing", "counting")]
    parts = [f"{title}, models in memory", _in_memory_table(bench, inside)] if inside else []
    parts += [f"{title}, whole process from file to file", turns.format_table({"documents/s": rates})]
    return "\n\n".join([*parts, *_whole_file_table(bench, [c for c in able if "scikit-learn" not in c.name])])


def _whole_file_table(bench: TextBench, contenders: Sequence[Contender]) -> list[str]:
    """Predict the training documents too, so many that the start of a process matters little."""
    train, _ = bench.corpus_files()
    calls = {c.name: partial(_time_prediction, bench, c, train) for c in contenders}
    title = f"The {bench.size} MB of training documents, whole process from file to file"
    return [title, ProcessTimings.run_in_turns(calls, bench.given.repeats).format_table()]


def _in_memory_table(bench: TextBench, contenders: Sequence[Contender]) -> str:
    named = [f"{c.name}={bench.model_path(c)}" for c in contenders]
    repeats = ["--repeats", str(bench.given.repeats)]
    held_out = str(bench.corpus_files()[1].csv)
    facts = run_in_new_process("benchmarks.text_memory", "predict", held_out, *named, *repeats)
    timings = [Timing(name, tuple(seconds)) for name, seconds in facts["many"].items()]
    single = [f"{facts['single'][t.name] * 1e6:,.0f} µs" for t in timings]
    rates = [_format_rate(t.best) for t in timings]
    return format_ratio_table(timings, {"documents/s": rates, "one short text, median": single})


def _format_rate(seconds: float) -> str:
    return f"{text_corpus.N_HELD_OUT / seconds:,.0f}"


def _has_model(bench: TextBench, contender: Contender, turns: ProcessTimings) -> bool:
    try:
        bench.ensure_model(contender)
    except ProcessFailed as failure:
        turns.failures[contender.name] = str(failure)
    return contender.name not in turns.failures


def _time_prediction(
    bench: TextBench, contender: Contender, files: text_corpus.CorpusFiles | None = None
) -> ProcessCost:
    return bench.predict(contender, files)[0]


def accuracy_table(bench: TextBench) -> str:
    """Accuracy on held-out documents, of the saved models."""
    import pyarrow.csv as pc

    true = pc.read_csv(bench.corpus_files()[1].csv)["label"].to_pylist()
    turns = ProcessTimings()
    rows = []
    for contender in (c for c in bench.contenders if c.predict):
        if _has_model(bench, contender, turns):
            said = bench.predict(contender)[1]
            hits = sum(a == b for a, b in zip(said, true, strict=True))
            rows.append([contender.name, f"{hits / len(true):.4f}"])
    title = f"Accuracy on {len(true):,} held-out documents after {bench.size} MB"
    return "\n\n".join([title, format_markdown_table(["", "accuracy"], rows), *turns.failure_notes()])


def growth_table(bench: TextBench) -> str:
    """Ours over growing files: time and memory."""
    sizes = [max(round(bench.size * share), 1) for share in GROWTH_SHARES]
    model = bench.folder / "growth.weigh"
    files = {f"{size} MB": text_corpus.ensure_corpus(bench.folder, size, ("csv",))[0] for size in sizes}
    title = f"{text_contenders.HASHED.name}, from a CSV file to the saved model, whole process"
    warm_up = ProcessTimings.run_in_turns({title: partial(bench.warm_up, text_contenders.HASHED)}, 1)
    if warm_up.failures:
        return "\n\n".join(warm_up.failure_notes())
    for each in files.values():
        fill_page_cache(each.csv)
    calls = {name: partial(bench.fit, text_contenders.HASHED, each, model) for name, each in files.items()}
    turns = ProcessTimings.run_in_turns(calls, bench.given.repeats)
    if turns.failures:
        return "\n\n".join([title, *turns.failure_notes()])
    best = [min(run.seconds for run in turns.runs[name]) for name in files]
    ratio = best[2] / best[1]
    verdict = "as wanted" if ratio <= MAX_GROWTH_RATIO else "too much"
    said = (
        f"Twice the data takes {ratio:.2f} times as long (at most {MAX_GROWTH_RATIO} is wanted: {verdict})."
    )
    return f"{title}\n\n{turns.format_table()}\n\n{said}"


def real_tables(bench: TextBench) -> str:
    return text_real.real_text_tables(bench.given.data, bench.folder, bench.given.peers)


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
    parser.add_argument("--rows", default=",".join(JOBS), help="letters with commas between")
    parser.add_argument("--size", type=int, default=DEFAULT_SIZE, help="megabytes of the corpus")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--work", type=Path, help="where corpora and models are kept; else a temporary one")
    data = os.environ.get("WEIGH_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=data, help="folder of row f; else $WEIGH_DATA")
    parser.add_argument("--peers", action="store_true", help="leave the library out")
    parser.add_argument("--write", action="store_true", help="fill benchmarks/RESULTS.md")
    return parser


def _run_rows(given: argparse.Namespace, rows: list[str]) -> None:
    bench = TextBench(given)
    if absent := text_contenders.missing_note():
        print(absent, flush=True)
    for row in rows:
        without = " --peers" if given.peers else ""
        of_size = "" if row == "f" else f" --size {given.size} --repeats {given.repeats}"
        command = f"`python -m benchmarks.text --rows {row}{of_size}{without}`"
        found = JOBS[row](bench)
        text = f"{found}\n\n{command}; {describe_machine(text_contenders.installed_distributions(DISTRIBUTIONS))}"
        print(f"\n## {row}\n\n{text}", flush=True)
        if given.write:
            replace_between_markers(RESULTS, _marker(row, given), text)


def _marker(row: str, given: argparse.Namespace) -> str:
    return f"text {row}" + ("" if given.size == DEFAULT_SIZE or row == "f" else f" {given.size} MB")


def main() -> None:
    parser = _make_parser()
    given: Any = parser.parse_args()
    rows = given.rows.split(",")
    if unknown := sorted(set(rows) - set(JOBS)):
        parser.error(f"no row {', '.join(unknown)}; there are {', '.join(JOBS)}")
    page = RESULTS.read_text(encoding="utf-8")
    unmarked = [m for m in (_marker(row, given) for row in rows) if f"begin {m} -->" not in page]
    if given.write and unmarked:
        parser.error(f"{RESULTS} has no place marked {', '.join(unmarked)}; leave --write out or add it")
    if given.work is not None:
        given.work = given.work.resolve()
        given.work.mkdir(parents=True, exist_ok=True)
        _run_rows(given, rows)
        return
    with tempfile.TemporaryDirectory() as folder:
        given.work = Path(folder)
        _run_rows(given, rows)


if __name__ == "__main__":
    main()
