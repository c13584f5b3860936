"""The speller on sixty novels, the last ten held out, beside scikit-learn and LanguageTool's figures.

    python -m benchmarks.spelling                      all rows
    python -m benchmarks.spelling --rows t,p --repeats 3
    python -m benchmarks.spelling --write              also into benchmarks/RESULTS.md

Rows: c every learner, set by set; g accuracy over the size of the text; e errors put in and found; d by
direction, beside what LanguageTool publishes; t time, memory and size by the command line; p scikit-learn
on the same contexts.
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
    "c": lambda given, novels: comparison_tables(novels),
    "g": lambda given, novels: learning_curve_table(novels),
    "e": lambda given, novels: swap_tables(novels, given.seeds),
    "d": lambda given, novels: direction_table(novels),
    "t": lambda given, novels: speed_tables(novels, given.repeats),
    "p": lambda given, novels: spelling_peers.peers_table(novels, given.repeats),
}


def parse_arguments() -> argparse.Namespace:
    """Return what was asked; a row that is not there is refused."""
    parser = RowParser("spelling", __doc__, JOBS, repeats=3, data="real data")
    parser.add_size()
    parser.add_argument(
        "--seeds", type=lambda seeds: [int(seed) for seed in seeds.split(",")], default=[1, 2, 3]
    )
    return parser.parse()


def main() -> None:
    given = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        novels = NovelCorpus.unpack(given.data, Path(folder), given.size)
        for row in given.rows:
            found = JOBS[row](given, novels)
            how = {"e": f" --seeds {','.join(map(str, given.seeds))}"} | dict.fromkeys(
                "tp", f" --repeats {given.repeats}"
            )
            about = describe_machine(installed_distributions(["weigh", "numpy", "scikit-learn"]))
            page = f"{found}\n\n`python -m benchmarks.spelling --rows {row}{how.get(row, '')}`; {about}"
            print(f"\n## {row}\n\n{page}", flush=True)
            if given.write:
                replace_between_markers(RESULTS, f"spelling {row}", page)


if __name__ == "__main__":
    main()
