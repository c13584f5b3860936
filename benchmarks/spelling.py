"""The speller on sixty novels, the last ten held out, compared with scikit-learn and LanguageTool.

    python -m benchmarks.spelling                      all rows
    python -m benchmarks.spelling --rows t,p --repeats 3
    python -m benchmarks.spelling --write              also into benchmarks/RESULTS.md

Rows: c every learner on every confusion set; g accuracy by size of the training text; e detection of inserted
errors; d precision and recall by direction, with LanguageTool's published figures; t time, memory and size on
the command line; p scikit-learn on the same contexts.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import spelling_peers
from benchmarks.harness import describe_machine, replace_between_markers
from benchmarks.row_arguments import RowParser
from benchmarks.spelling_commands import (
    NovelCorpus,
    comparison_tables,
    direction_table,
    learning_curve_table,
    speed_tables,
    swap_tables,
)
from benchmarks.text import RESULTS
from benchmarks.text_contenders import installed_distributions

JOBS: dict[str, Callable[[argparse.Namespace, NovelCorpus], str]] = {
    "c": lambda args, novels: comparison_tables(novels),
    "g": lambda args, novels: learning_curve_table(novels),
    "e": lambda args, novels: swap_tables(novels, args.seeds),
    "d": lambda args, novels: direction_table(novels),
    "t": lambda args, novels: speed_tables(novels, args.repeats),
    "p": lambda args, novels: spelling_peers.peers_table(novels, args.repeats),
}


def parse_arguments() -> argparse.Namespace:
    """Parse the command line; an unknown row is an error."""
    parser = RowParser("spelling", __doc__, JOBS, repeats=3, data="real data")
    parser.add_size()
    parser.add_argument(
        "--seeds", type=lambda seeds: [int(seed) for seed in seeds.split(",")], default=[1, 2, 3]
    )
    return parser.parse()


def main() -> None:
    args = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        novels = NovelCorpus.unpack(args.data, Path(folder), args.size)
        for row in args.rows:
            tables = JOBS[row](args, novels)
            options = {"e": f" --seeds {','.join(map(str, args.seeds))}"} | dict.fromkeys(
                "tp", f" --repeats {args.repeats}"
            )
            machine = describe_machine(installed_distributions(["weigh", "numpy", "scikit-learn"]))
            page = (
                f"{tables}\n\n`python -m benchmarks.spelling --rows {row}{options.get(row, '')}`; {machine}"
            )
            print(f"\n## {row}\n\n{page}", flush=True)
            if args.write:
                replace_between_markers(RESULTS, f"spelling {row}", page)


if __name__ == "__main__":
    main()
