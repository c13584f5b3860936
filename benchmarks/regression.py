"""Linear and logistic regression, side by side with the peers.

    python -m benchmarks.regression                       all rows
    python -m benchmarks.regression --rows w --size small a look at one row, in seconds
    python -m benchmarks.regression --write               also into benchmarks/RESULTS.md

Rows: d many rows of dense columns, with paths and cross-validation; w lasso with more columns than rows;
l sparse logistic regression by L2 and L1; o the same online; k decoding movements from neurons.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import regression_decoding, regression_logistic
from benchmarks.harness import describe_machine, replace_between_markers
from benchmarks.regression_contest import RemotePeers
from benchmarks.regression_linear import dense_tables, wide_tables
from benchmarks.regression_logistic import online_tables
from benchmarks.row_arguments import RowParser
from benchmarks.text import RESULTS
from benchmarks.text_contenders import installed_distributions

DISTRIBUTIONS = ["weigh", "numpy", "scipy", "scikit-learn"]
PEERS = {
    "d": ["celer", "glum", "statsmodels"],
    "w": ["celer", "skglm"],
    "l": ["liblinear-official", "celer", "skglm", "snapml"],
}
JOBS: dict[str, Callable[[argparse.Namespace, RemotePeers], str]] = {
    "d": lambda given, elsewhere: dense_tables(given.size, given.repeats, elsewhere),
    "w": lambda given, elsewhere: wide_tables(given.size, given.repeats, elsewhere),
    "l": lambda given, elsewhere: regression_logistic.logistic_tables(given.size, given.repeats),
    "o": lambda given, elsewhere: online_tables(given.size, given.repeats),
    "k": lambda given, elsewhere: regression_decoding.decoding_table(given.data, small=given.size == "small"),
}


def parse_arguments() -> argparse.Namespace:
    """Return what was asked; a row that is not there, or a small one to be written, is refused."""
    parser = RowParser("regression", __doc__, JOBS, repeats=5, data="recordings of row k")
    parser.add_size()
    parser.add_argument("--elsewhere", type=Path, help="a Python with numpy < 2, adelie and python-glmnet")
    return parser.parse()


def run_rows(given: argparse.Namespace, elsewhere: RemotePeers) -> None:
    for row in given.rows:
        found = JOBS[row](given, elsewhere)
        said = f"`python -m benchmarks.regression --rows {row} --repeats {given.repeats}`"
        known = describe_machine(installed_distributions([*DISTRIBUTIONS, *PEERS.get(row, [])]))
        other = f" Also, {elsewhere.versions()}." if row in "dw" else ""
        page = f"{found}\n\n{said}; {known}{other}"
        print(f"\n## {row}\n\n{page}", flush=True)
        if given.write:
            replace_between_markers(RESULTS, f"regression {row}", page)


def main() -> None:
    given = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        elsewhere = RemotePeers(given.elsewhere, Path(folder))
        try:
            run_rows(given, elsewhere)
        finally:
            elsewhere.close()


if __name__ == "__main__":
    main()
