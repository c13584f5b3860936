"""Perceptrons, side by side with the peers.

    python -m benchmarks.online                       all rows
    python -m benchmarks.online --rows s --size small a look at one row, in seconds
    python -m benchmarks.online --write               also into benchmarks/RESULTS.md

Rows: s the speed of an epoch over sparse rows, beside a bare loop in C++; t texts of 20 classes,
from a list of str and from a file; r real data, what of a run predicts best; n noise in the labels.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import online_noise, online_real, online_speed, online_text
from benchmarks.harness import ROOT, machine, write_between
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
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m benchmarks.online", description=__doc__, formatter_class=form)
    parser.add_argument("--rows", type=lambda rows: rows.split(","), default=list(JOBS), metavar="s,t,…")
    parser.add_argument("--size", choices=["full", "small"], default="full", help="small ones show nothing")
    parser.add_argument("--repeats", type=int, default=5, help="of what is timed")
    parser.add_argument("--work", type=Path, help="keeps the corpus of row t; else a temporary folder")
    usual = Path(os.environ.get("WEIGH_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=usual, help="real data of row r; else $WEIGH_DATA")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/RESULTS.md")
    given = parser.parse_args()
    if beyond := [row for row in given.rows if row not in JOBS]:
        parser.error(f"there is no row {' and no row '.join(beyond)}; the rows are {', '.join(JOBS)}")
    if given.write and given.size != "full":
        parser.error("small rows show nothing, so they are not written; leave --size or --write out")
    page = RESULTS.read_text(encoding="utf-8")
    if given.write and (absent := [row for row in given.rows if f"begin online {row} -->" not in page]):
        parser.error(f"{RESULTS} has no place marked online {', '.join(absent)}")
    return given


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
