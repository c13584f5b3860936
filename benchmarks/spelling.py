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

from benchmarks import spelling_peers, spelling_quality, spelling_speed
from benchmarks.asked import RowParser
from benchmarks.harness import machine, write_between
from benchmarks.spelling_corpus import Novels
from benchmarks.text import RESULTS
from benchmarks.text_contenders import packages

JOBS: dict[str, Callable[[argparse.Namespace, Novels], str]] = {
    "c": lambda given, novels: spelling_quality.compare_job(novels),
    "g": lambda given, novels: spelling_quality.curve_job(novels),
    "e": lambda given, novels: spelling_quality.swaps_job(novels, given.seeds),
    "d": lambda given, novels: spelling_quality.directions_job(novels),
    "t": lambda given, novels: spelling_speed.job(novels, given.repeats),
    "p": lambda given, novels: spelling_peers.job(novels, given.repeats),
}


def read_arguments() -> argparse.Namespace:
    """Return what was asked; a row that is not there is refused."""
    parser = RowParser("spelling", __doc__, JOBS, repeats=3, data="real data")
    parser.add_size()
    parser.add_argument(
        "--seeds", type=lambda seeds: [int(seed) for seed in seeds.split(",")], default=[1, 2, 3]
    )
    return parser.asked()


def main() -> None:
    given = read_arguments()
    with tempfile.TemporaryDirectory() as folder:
        novels = Novels.unpacked(given.data, Path(folder), given.size)
        for row in given.rows:
            found = JOBS[row](given, novels)
            how = {"e": f" --seeds {','.join(map(str, given.seeds))}"} | dict.fromkeys(
                "tp", f" --repeats {given.repeats}"
            )
            about = machine(packages(["weigh", "numpy", "scikit-learn"]))
            page = f"{found}\n\n`python -m benchmarks.spelling --rows {row}{how.get(row, '')}`; {about}"
            print(f"\n## {row}\n\n{page}", flush=True)
            if given.write:
                write_between(RESULTS, f"spelling {row}", page)


if __name__ == "__main__":
    main()
