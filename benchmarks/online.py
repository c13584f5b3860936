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
from collections.abc import Callable
from pathlib import Path

from benchmarks import online_noise, online_real, online_speed, online_text
from benchmarks.asked import RowParser
from benchmarks.harness import machine, write_between
from benchmarks.text import RESULTS
from benchmarks.text_contenders import packages

DISTRIBUTIONS = ["weigh", "numpy", "scipy", "scikit-learn", "vowpalwabbit"]
JOBS: dict[str, Callable[[argparse.Namespace], str]] = {
    "s": lambda given: online_speed.job(given.size, given.repeats),
    "t": lambda given: online_text.job(given.work, given.size, given.repeats),
    "r": lambda given: online_real.job(given.data, given.work, small=given.size == "small"),
    "n": lambda given: online_noise.job(small=given.size == "small"),
}


def read_arguments() -> argparse.Namespace:
    """Return what was asked; a row that is not there, or a small one to be written, is refused."""
    parser = RowParser("online", __doc__, JOBS, repeats=5, data="real data of row r")
    parser.add_size()
    parser.add_argument("--work", type=Path, help="keeps the corpus of row t; else a temporary folder")
    return parser.asked()


def run(given: argparse.Namespace) -> None:
    for row in given.rows:
        found = JOBS[row](given)
        said = f"`python -m benchmarks.online --rows {row} --repeats {given.repeats}`"
        page = f"{found}\n\n{said}; {machine(packages(DISTRIBUTIONS))}"
        print(f"\n## {row}\n\n{page}", flush=True)
        if given.write:
            write_between(RESULTS, f"online {row}", page)


def main() -> None:
    given = read_arguments()
    with tempfile.TemporaryDirectory() as folder:
        given.work = (given.work or Path(folder)).resolve()
        given.work.mkdir(parents=True, exist_ok=True)
        run(given)


if __name__ == "__main__":
    main()
