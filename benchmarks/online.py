"""Perceptrons, side by side with the peers.

    python -m benchmarks.online                       all rows
    python -m benchmarks.online --rows s --size small a look at one row, in seconds
    python -m benchmarks.online --write               also into benchmarks/RESULTS.md

Rows: s the speed of an epoch over sparse rows, beside a bare loop in C++; t texts of 20 classes,
from a list of str and from a file; r real data, what of a run predicts best; n noise in the labels.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import online_speed, text
from benchmarks.harness import ProcessTimings, describe_machine, replace_between_markers
from benchmarks.online_accuracy import dataset_tables, noise_tables
from benchmarks.row_arguments import RowParser
from benchmarks.text import RESULTS
from benchmarks.text_contenders import (
    SKLEARN,
    VW25,
    Contender,
    TextBench,
    installed_distributions,
    script_contender,
    weigh_contender,
)
from benchmarks.text_memory import FITTERS
from benchmarks.text_peers import BUCKETS, LOSSES, PASSES

DISTRIBUTIONS = ["weigh", "numpy", "scipy", "scikit-learn", "vowpalwabbit"]
JOBS: dict[str, Callable[[argparse.Namespace], str]] = {
    "s": lambda given: online_speed.speed_tables(given.size, given.repeats),
    "t": lambda given: text_tables(given.work, given.size, given.repeats),
    "r": lambda given: dataset_tables(given.data, given.work, small=given.size == "small"),
    "n": lambda given: noise_tables(small=given.size == "small"),
}


def parse_arguments() -> argparse.Namespace:
    """Return what was asked; a row that is not there, or a small one to be written, is refused."""
    parser = RowParser("online", __doc__, JOBS, repeats=5, data="real data of row r")
    parser.add_size()
    parser.add_argument("--work", type=Path, help="keeps the corpus of row t; else a temporary folder")
    return parser.parse()


def run_rows(given: argparse.Namespace) -> None:
    for row in given.rows:
        found = JOBS[row](given)
        said = f"`python -m benchmarks.online --rows {row} --repeats {given.repeats}`"
        page = f"{found}\n\n{said}; {describe_machine(installed_distributions(DISTRIBUTIONS))}"
        print(f"\n## {row}\n\n{page}", flush=True)
        if given.write:
            replace_between_markers(RESULTS, f"online {row}", page)


def main() -> None:
    given = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        given.work = (given.work or Path(folder)).resolve()
        given.work.mkdir(parents=True, exist_ok=True)
        run_rows(given)


if __name__ == "__main__":
    main()

MEGABYTES = {"full": 300, "small": 3}
WANTED_SPEED_UP = 8.0


def weigh_perceptron(passes: int) -> Contender:
    """Return our command line for so many passes."""
    key = f"weigh-perceptron-{passes}"
    options = ["--learner", "perceptron", "--set", f"max_iter={passes}"]
    return weigh_contender(FITTERS[key][0], key, f"text:buckets={BUCKETS}", *options)


def sklearn_descents(passes: int) -> list[Contender]:
    """Return the peers' scripts for so many passes."""
    return [script_contender(FITTERS[f"{loss}-{passes}"][0], f"{loss}-{passes}", *SKLEARN) for loss in LOSSES]


def make_bench(work: Path, size: str, repeats: int, contenders: Sequence[Contender]) -> TextBench:
    """Return the files and models of a corpus with these contenders."""
    given = argparse.Namespace(work=work, size=MEGABYTES[size], repeats=repeats, peers=False)
    bench = TextBench(given)
    bench.contenders = [contender for contender in contenders if not contender.missing_packages]
    return bench


def format_lead(turns: ProcessTimings) -> str:
    """Say how much faster the first contender was than the fastest other."""
    best = {name: min(run.seconds for run in runs) for name, runs in turns.runs.items()}
    mine, *theirs = best.values()
    if not theirs:
        return ""
    ratio = min(theirs) / mine
    return f"weigh is {ratio:.1f} times as fast as the fastest peer (wanted: at least {WANTED_SPEED_UP:g})."


def text_tables(work: Path, size: str, repeats: int) -> str:
    """Return the tables from lists, from files, and of accuracy."""
    parts = []
    for passes in PASSES:
        bench = make_bench(work, size, repeats, [weigh_perceptron(passes), *sklearn_descents(passes)])
        turns, table = text.time_lists(bench, judged=True)
        parts += [table, format_lead(turns)]
    everyone = [*map(weigh_perceptron, PASSES), *sklearn_descents(1), VW25]
    bench = make_bench(work, size, repeats, everyone)
    parts += [text.time_files(bench)[1], text.accuracy_table(bench)]
    return "\n\n".join(part for part in parts if part)
