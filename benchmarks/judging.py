"""Judging learners, side by side with the peers.

    python -m benchmarks.judging                      all rows
    python -m benchmarks.judging --rows e,b           some of them
    python -m benchmarks.judging --write              also into benchmarks/RESULTS.md

Rows: e all measures of a million predictions; a leave-one-out of a table; b bias and variance, and whether
they add up; l learning curves; r the report on a model.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from benchmarks import judging_audit, judging_measures, judging_parts, judging_report
from benchmarks.asked import RowParser
from benchmarks.harness import machine, write_between
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
    return RowParser("judging", __doc__, JOBS, repeats=3, data="real data").asked()


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
