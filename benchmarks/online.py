"""Perceptrons, side by side with the peers.

    python -m benchmarks.online                       all rows
    python -m benchmarks.online --rows s --size small one row on small data, in seconds
    python -m benchmarks.online --write               also into benchmarks/RESULTS.md

Rows: s speed of an epoch over sparse rows, compared with a bare loop in C++; t texts of 20 classes, from a
list of str and from a file; r accuracy of every hypothesis on real data; n label noise.
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
    "s": lambda args: online_speed.speed_tables(args.size, args.repeats),
    "t": lambda args: text_tables(args.work, args.size, args.repeats),
    "r": lambda args: dataset_tables(args.data, args.work, small=args.size == "small"),
    "n": lambda args: noise_tables(small=args.size == "small"),
}


def parse_arguments() -> argparse.Namespace:
    """Parse the command line; an unknown row, or --write of small data, is an error."""
    parser = RowParser("online", __doc__, JOBS, repeats=5, data="real data of row r")
    parser.add_size()
    parser.add_argument(
        "--work", type=Path, help="folder that keeps the corpus of row t (default: a temporary folder)"
    )
    return parser.parse()


def run_rows(args: argparse.Namespace) -> None:
    for row in args.rows:
        tables = JOBS[row](args)
        command = f"`python -m benchmarks.online --rows {row} --repeats {args.repeats}`"
        page = f"{tables}\n\n{command}; {describe_machine(installed_distributions(DISTRIBUTIONS))}"
        print(f"\n## {row}\n\n{page}", flush=True)
        if args.write:
            replace_between_markers(RESULTS, f"online {row}", page)


def main() -> None:
    args = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        args.work = (args.work or Path(folder)).resolve()
        args.work.mkdir(parents=True, exist_ok=True)
        run_rows(args)


MEGABYTES = {"full": 300, "small": 3}
WANTED_SPEED_UP = 8.0


def weigh_perceptron(passes: int) -> Contender:
    """Return weigh's perceptron with `passes` passes, as a command line."""
    key = f"weigh-perceptron-{passes}"
    options = ["--learner", "perceptron", "--set", f"max_iter={passes}"]
    return weigh_contender(FITTERS[key][0], key, f"text:buckets={BUCKETS}", *options)


def sklearn_descents(passes: int) -> list[Contender]:
    """Return scikit-learn's SGD classifiers with `passes` passes, as scripts."""
    return [script_contender(FITTERS[f"{loss}-{passes}"][0], f"{loss}-{passes}", *SKLEARN) for loss in LOSSES]


def make_bench(work: Path, size: str, repeats: int, contenders: Sequence[Contender]) -> TextBench:
    """Return the benchmark of the installed ones among these contenders."""
    args = argparse.Namespace(work=work, size=MEGABYTES[size], repeats=repeats, peers=False)
    bench = TextBench(args)
    bench.contenders = [contender for contender in contenders if not contender.missing_packages]
    return bench


def format_lead(timings: ProcessTimings) -> str:
    """Return a sentence with the speed of the first contender relative to the fastest other."""
    best = {name: min(run.seconds for run in runs) for name, runs in timings.runs.items()}
    ours, *theirs = best.values()
    if not theirs:
        return ""
    ratio = min(theirs) / ours
    return f"weigh is {ratio:.1f} times as fast as the fastest peer (wanted: at least {WANTED_SPEED_UP:g})."


def text_tables(work: Path, size: str, repeats: int) -> str:
    """Return the timings from lists and from files, and the accuracies."""
    parts = []
    for passes in PASSES:
        bench = make_bench(work, size, repeats, [weigh_perceptron(passes), *sklearn_descents(passes)])
        timings, table = text.time_lists(bench, with_accuracy=True)
        parts += [table, format_lead(timings)]
    contenders = [*map(weigh_perceptron, PASSES), *sklearn_descents(1), VW25]
    bench = make_bench(work, size, repeats, contenders)
    parts += [text.time_files(bench)[1], text.accuracy_table(bench)]
    return "\n\n".join(part for part in parts if part)


if __name__ == "__main__":
    main()
