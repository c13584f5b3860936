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
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import corpus, text_contenders, text_memory, text_real
from benchmarks.harness import ROOT, Timing, fresh_process, machine, markdown, megabytes, ratio_table
from benchmarks.harness import write_between as write_result
from benchmarks.processes import Failed, Run, Turns, last_line, measured
from benchmarks.text_contenders import Contender

SLICE = 3  # megabytes for the warm-up, and for river
GROWTH = (0.1, 1.0, 2.0, 3.0)  # sizes of row e, in shares of --size
TWICE = 2.2  # how much longer twice the data may take
DISTRIBUTIONS = [
    "weigh", "numpy", "pyarrow", "pandas", "scikit-learn", "polars", "vowpalwabbit", "river",
]  # fmt: skip


@dataclass
class Bench:
    """What was asked, the files, and which models this run has made."""

    given: argparse.Namespace
    made: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.folder: Path = self.given.work
        self.size: int = self.given.size
        self.contenders = text_contenders.present(self.given.peers)
        self.models: Path = self.folder / f"models-{self.size}"

    def files(self) -> tuple[corpus.Files, corpus.Files]:
        return corpus.ready(self.folder, self.size)

    def small(self) -> corpus.Files:
        return corpus.ready(self.folder, SLICE)[0]

    def model(self, contender: Contender) -> Path:
        self.models.mkdir(exist_ok=True)
        return self.models / f"{contender.key}{'.weigh' if contender.is_ours else ''}"

    def fit(self, contender: Contender, files: corpus.Files, model: Path | None = None) -> Run:
        model = model or self.model(contender)
        return measured(contender.fit(files, model), Path(f"{model}.out"))

    def have_model(self, contender: Contender) -> None:
        """Fit unless this run has; a peer's model of an earlier run will do."""
        kept = not contender.is_ours and self._done(contender).exists()
        if contender.key not in self.made and not kept:
            self.fit(contender, self.files()[0])
            self.note_model(contender)

    def note_model(self, contender: Contender) -> None:
        """Remember that this run has fitted the model."""
        self.made.add(contender.key)
        self._done(contender).touch()

    def _done(self, contender: Contender) -> Path:
        return Path(f"{self.model(contender)}.done")

    def predict(self, contender: Contender) -> tuple[Run, list[str]]:
        """Run the prediction of held-out documents; the labels come in their order."""
        assert contender.predict is not None
        output = Path(f"{self.model(contender)}.predictions")
        printed = Path(f"{output}.out")
        run = measured(contender.predict(self.files()[1], self.model(contender), output), printed)
        lines = (printed if contender.prints else output).read_text().splitlines()
        return run, [contender.label(line) for line in lines[contender.is_ours :]]


def list_job(bench: Bench) -> str:
    """A list of str in memory to a fitted model, each in a fresh process."""
    train, _ = bench.files()
    growth: dict[str, str] = {}

    def call(key: str, name: str) -> Run:
        try:
            facts = fresh_process("benchmarks.text_memory", "fit", key, str(train.csv))
        except subprocess.CalledProcessError as failure:
            raise Failed(last_line(failure.stderr)) from failure
        growth[name] = megabytes(facts["growth"])
        return Run(facts["seconds"], facts["peak"])

    keys = {c.key for c in bench.contenders}
    keys |= {"halved"} if "hashing" in keys else set()
    fitters = {key: name for key, (name, _) in text_memory.FITTERS.items() if key in keys}
    calls = {name: partial(call, key, name) for key, name in fitters.items()}
    turns = Turns.taken(calls, bench.given.repeats)
    return f"{bench.size} MB as a list of str → fitted model\n\n{turns.table({'of it the fit': growth})}"


def file_job(bench: Bench) -> str:
    """A file to a saved model, start of the process included."""
    train, _ = bench.files()
    warm_up = Turns.taken({c.name: partial(_warm, bench, c) for c in bench.contenders}, 1)
    for path in (train.csv, train.vw, train.fasttext):
        _read(path)
    calls = {c.name: partial(bench.fit, c, train) for c in bench.contenders if c.name in warm_up.runs}
    turns = Turns.taken(calls, bench.given.repeats)
    turns.failures |= warm_up.failures
    for contender in bench.contenders:
        if contender.name in turns.runs:
            bench.note_model(contender)
    parts = [f"{bench.size} MB file → fitted and saved model, whole process", turns.table()]
    return "\n\n".join([*parts, *_river(bench)])


def _warm(bench: Bench, contender: Contender) -> Run:
    return bench.fit(contender, bench.small(), bench.folder / f"warm-{contender.key}.weigh")


def _read(path: Path) -> None:
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 24):
            pass


def _river(bench: Bench) -> list[str]:
    """Return a sentence about river, which learns one document at a time."""
    if not text_contenders.installed("river"):
        return []
    files = [str(bench.small().csv), str(bench.files()[1].csv)]
    facts = fresh_process("benchmarks.text_scripts", "river", "fit", *files)
    rate = f"{facts['fit']:.1f} s for the first {SLICE} MB, without start and reading"
    scaled = f"scaled to {bench.size} MB {facts['fit'] * bench.size / SLICE:,.0f} s"
    hits = f"Accuracy after {SLICE} MB: {facts['hits']:.3f}."
    return [f"river, BagOfWords | MultinomialNB: {rate}; {scaled}. {hits}"]


def predict_job(bench: Bench) -> str:
    """Held-out documents: in one process, as processes, and one short text at a time."""
    turns = Turns()
    able = [c for c in bench.contenders if c.predict and c.key not in ("weigh-hashed-1", "chunks")]
    able = [c for c in able if _try_model(bench, c, turns)]
    for round_number in range(bench.given.repeats + 1):
        if round_number == 1:
            # the first round warmed up
            turns.runs.clear()
        for contender in able:
            turns.take(contender.name, partial(_predicted, bench, contender))
    rates = {name: _rate(min(run.seconds for run in runs)) for name, runs in turns.runs.items()}
    title = f"{corpus.HELD_OUT:,} held-out documents of 1 kB, raw text → labels"
    inside = [c for c in able if c.is_ours or c.key in ("hashing", "counting")]
    parts = [f"{title}, models in memory", _in_memory(bench, inside)] if inside else []
    parts += [f"{title}, whole process from file to file", turns.table({"documents/s": rates})]
    return "\n\n".join(parts)


def _in_memory(bench: Bench, contenders: Sequence[Contender]) -> str:
    named = [f"{c.name}={bench.model(c)}" for c in contenders]
    repeats = ["--repeats", str(bench.given.repeats)]
    held_out = str(bench.files()[1].csv)
    facts = fresh_process("benchmarks.text_memory", "predict", held_out, *named, *repeats)
    timings = [Timing(name, tuple(seconds)) for name, seconds in facts["many"].items()]
    single = [f"{facts['single'][t.name] * 1e6:,.0f} µs" for t in timings]
    rates = [_rate(t.best) for t in timings]
    return ratio_table(timings, {"documents/s": rates, "one short text, median": single})


def _rate(seconds: float) -> str:
    return f"{corpus.HELD_OUT / seconds:,.0f}"


def _try_model(bench: Bench, contender: Contender, turns: Turns) -> bool:
    try:
        bench.have_model(contender)
    except Failed as failure:
        turns.failures[contender.name] = str(failure)
    return contender.name not in turns.failures


def _predicted(bench: Bench, contender: Contender) -> Run:
    return bench.predict(contender)[0]


def accuracy_job(bench: Bench) -> str:
    """Accuracy on held-out documents, of the saved models."""
    import pyarrow.csv as pc

    true = pc.read_csv(bench.files()[1].csv)["label"].to_pylist()
    turns = Turns()
    rows = []
    for contender in (c for c in bench.contenders if c.predict):
        if _try_model(bench, contender, turns):
            said = bench.predict(contender)[1]
            hits = sum(a == b for a, b in zip(said, true, strict=True))
            rows.append([contender.name, f"{hits / len(true):.4f}"])
    title = f"Accuracy on {len(true):,} held-out documents after {bench.size} MB"
    return "\n\n".join([title, markdown(["", "accuracy"], rows), *turns.sentences()])


def growth_job(bench: Bench) -> str:
    """Ours over growing files: time and memory."""
    sizes = [max(round(bench.size * share), 1) for share in GROWTH]
    model = bench.folder / "growth.weigh"
    files = {f"{size} MB": corpus.ready(bench.folder, size, ("csv",))[0] for size in sizes}
    for each in files.values():
        _read(each.csv)
    calls = {name: partial(bench.fit, text_contenders.HASHED, each, model) for name, each in files.items()}
    turns = Turns.taken(calls, bench.given.repeats)
    title = f"{text_contenders.HASHED.name}, from a CSV file to the saved model, whole process"
    if turns.failures:
        return "\n\n".join([title, *turns.sentences()])
    best = [min(run.seconds for run in turns.runs[name]) for name in files]
    ratio = best[2] / best[1]
    verdict = "as wanted" if ratio <= TWICE else "too much"
    said = f"Twice the data takes {ratio:.2f} times as long (at most {TWICE} is wanted: {verdict})."
    return f"{title}\n\n{turns.table()}\n\n{said}"


def real_job(bench: Bench) -> str:
    return text_real.job(bench.given.data, bench.folder, bench.given.peers)


JOBS: dict[str, Callable[[Bench], str]] = {
    "a": list_job,
    "b": file_job,
    "c": predict_job,
    "d": accuracy_job,
    "e": growth_job,
    "f": real_job,
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.text",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rows", default=",".join(JOBS), help="letters with commas between")
    parser.add_argument("--size", type=int, default=300, help="megabytes of the corpus")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--work", type=Path, help="where corpora and models are kept; else a temporary one")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="of row f")
    parser.add_argument("--peers", action="store_true", help="leave the library out")
    parser.add_argument("--write", action="store_true", help="fill benchmarks/RESULTS.md")
    return parser


def _run(given: argparse.Namespace, rows: list[str]) -> None:
    bench = Bench(given)
    if absent := text_contenders.absence():
        print(absent, flush=True)
    for row in rows:
        of_size = "" if row == "f" else f" --size {given.size} --repeats {given.repeats}"
        command = f"`python -m benchmarks.text --rows {row}{of_size}`"
        found = JOBS[row](bench)
        text = f"{found}\n\n{command}; {machine(text_contenders.packages(DISTRIBUTIONS))}"
        print(f"\n## {row}\n\n{text}", flush=True)
        if given.write:
            other = "" if given.size == 300 or row == "f" else f" {given.size} MB"
            write_result(ROOT / "benchmarks" / "RESULTS.md", f"text {row}{other}", text)


def main() -> None:
    parser = _parser()
    given: Any = parser.parse_args()
    rows = given.rows.split(",")
    if unknown := sorted(set(rows) - set(JOBS)):
        parser.error(f"no row {', '.join(unknown)}; there are {', '.join(JOBS)}")
    if given.work is not None:
        given.work = given.work.resolve()
        given.work.mkdir(parents=True, exist_ok=True)
        _run(given, rows)
        return
    with tempfile.TemporaryDirectory() as folder:
        given.work = Path(folder)
        _run(given, rows)


if __name__ == "__main__":
    main()
