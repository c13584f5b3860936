"""Linear and logistic regression, side by side with the peers.

    python -m benchmarks.regression                       all rows
    python -m benchmarks.regression --rows w --size small a look at one row, in seconds
    python -m benchmarks.regression --write               also into benchmarks/RESULTS.md

Rows: d many rows of dense columns, with paths and cross-validation; w lasso with more columns than rows;
l sparse logistic regression by L2 and L1; o the same online; k decoding movements from neurons.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    regression_decoding,
    regression_dense,
    regression_logistic,
    regression_online,
    regression_wide,
)
from benchmarks.harness import ROOT, machine, write_between
from benchmarks.regression_elsewhere import Elsewhere
from benchmarks.text import RESULTS
from benchmarks.text_contenders import packages

DISTRIBUTIONS = ["weigh", "numpy", "scipy", "scikit-learn"]
PEERS = {
    "d": ["celer", "glum", "statsmodels"],
    "w": ["celer", "skglm"],
    "l": ["liblinear-official", "celer", "skglm", "snapml"],
}
JOBS: dict[str, Callable[[argparse.Namespace, Elsewhere], str]] = {
    "d": lambda given, elsewhere: regression_dense.job(given.size, given.repeats, elsewhere),
    "w": lambda given, elsewhere: regression_wide.job(given.size, given.repeats, elsewhere),
    "l": lambda given, elsewhere: regression_logistic.job(given.size, given.repeats),
    "o": lambda given, elsewhere: regression_online.job(given.size, given.repeats),
    "k": lambda given, elsewhere: regression_decoding.job(given.data, small=given.size == "small"),
}


def read_arguments() -> argparse.Namespace:
    """Return what was asked; a row that is not there, or a small one to be written, is refused."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m benchmarks.regression", description=__doc__, formatter_class=form
    )
    parser.add_argument("--rows", type=lambda rows: rows.split(","), default=list(JOBS), metavar="d,w,…")
    parser.add_argument("--size", choices=["full", "small"], default="full", help="small ones show nothing")
    parser.add_argument("--repeats", type=int, default=5, help="of what is timed")
    parser.add_argument("--elsewhere", type=Path, help="a Python with numpy < 2, adelie and python-glmnet")
    usual = Path(os.environ.get("WEIGH_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=usual, help="recordings of row k; else $WEIGH_DATA")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/RESULTS.md")
    given = parser.parse_args()
    if beyond := [row for row in given.rows if row not in JOBS]:
        parser.error(f"there is no row {' and no row '.join(beyond)}; the rows are {', '.join(JOBS)}")
    if given.write and given.size != "full":
        parser.error("small rows show nothing, so they are not written; leave --size or --write out")
    page = RESULTS.read_text(encoding="utf-8")
    if given.write and (absent := [row for row in given.rows if f"begin regression {row} -->" not in page]):
        parser.error(f"{RESULTS} has no place marked regression {', '.join(absent)}")
    return given


def run(given: argparse.Namespace, elsewhere: Elsewhere) -> None:
    for row in given.rows:
        found = JOBS[row](given, elsewhere)
        said = f"`python -m benchmarks.regression --rows {row} --repeats {given.repeats}`"
        known = machine(packages([*DISTRIBUTIONS, *PEERS.get(row, [])]))
        other = f" Also, {elsewhere.versions()}." if row in "dw" else ""
        page = f"{found}\n\n{said}; {known}{other}"
        print(f"\n## {row}\n\n{page}", flush=True)
        if given.write:
            write_between(RESULTS, f"regression {row}", page)


def main() -> None:
    given = read_arguments()
    with tempfile.TemporaryDirectory() as folder:
        elsewhere = Elsewhere(given.elsewhere, Path(folder))
        try:
            run(given, elsewhere)
        finally:
            elsewhere.close()


if __name__ == "__main__":
    main()
