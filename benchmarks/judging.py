"""Judging learners, side by side with the peers.

    python -m benchmarks.judging                      all rows
    python -m benchmarks.judging --rows e,b           some of them
    python -m benchmarks.judging --write              also into benchmarks/RESULTS.md

Rows: e all measures of a million predictions; a leave-one-out of a table; b bias and variance, and whether
they add up; l learning curves; r the report on a model.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from benchmarks import judging_audit, judging_measures, judging_parts, judging_report
from benchmarks.harness import ROOT, machine, write_between
from benchmarks.text import RESULTS
from benchmarks.text_contenders import packages

DISTRIBUTIONS = ["weigh", "numpy", "scikit-learn", "mlxtend", "altair"]
JOBS: dict[str, Callable[[argparse.Namespace], str]] = {
    "e": lambda given: judging_measures.job(given.repeats),
    "a": lambda given: judging_audit.job(given.data, given.repeats),
    "b": lambda given: judging_parts.job(given.repeats),
    "l": lambda given: judging_parts.curve_job(given.data, given.repeats),
    "r": lambda given: judging_report.job(given.data, given.repeats),
}


def read_arguments() -> argparse.Namespace:
    """Return what was asked; a row that is not there is refused."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m benchmarks.judging", description=__doc__, formatter_class=form
    )
    parser.add_argument("--rows", type=lambda rows: rows.split(","), default=list(JOBS), metavar="e,a,…")
    parser.add_argument("--repeats", type=int, default=3, help="of what is timed")
    usual = Path(os.environ.get("WEIGH_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=usual, help="real data; else $WEIGH_DATA")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/RESULTS.md")
    given = parser.parse_args()
    if beyond := [row for row in given.rows if row not in JOBS]:
        parser.error(f"there is no row {' and no row '.join(beyond)}; the rows are {', '.join(JOBS)}")
    return given


def main() -> None:
    given = read_arguments()
    for row in given.rows:
        found = JOBS[row](given)
        said = f"`python -m benchmarks.judging --rows {row} --repeats {given.repeats}`"
        page = f"{found}\n\n{said}; {machine(packages(DISTRIBUTIONS))}"
        print(f"\n## {row}\n\n{page}", flush=True)
        if given.write:
            write_between(RESULTS, f"judging {row}", page)


if __name__ == "__main__":
    main()
