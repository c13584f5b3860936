"""Linear and logistic regression, side by side with the peers.

    python -m benchmarks.regression                       all rows
    python -m benchmarks.regression --rows w --size small one row on small data, in seconds
    python -m benchmarks.regression --write               also into benchmarks/RESULTS.md

Rows: d many dense rows, with paths and cross-validation; w lasso with more columns than rows; l sparse
logistic regression with L2 and L1; o the same trained online; k decoding movements from neurons.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import regression_decoding, regression_logistic
from benchmarks.harness import describe_machine, replace_between_markers
from benchmarks.regression_comparison import RemotePeers
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
    "d": lambda args, remote: dense_tables(args.size, args.repeats, remote),
    "w": lambda args, remote: wide_tables(args.size, args.repeats, remote),
    "l": lambda args, remote: regression_logistic.logistic_tables(args.size, args.repeats),
    "o": lambda args, remote: online_tables(args.size, args.repeats),
    "k": lambda args, remote: regression_decoding.decoding_table(args.data, small=args.size == "small"),
}


def parse_arguments() -> argparse.Namespace:
    """Parse the command line; an unknown row, or --write of small data, is an error."""
    parser = RowParser("regression", __doc__, JOBS, repeats=5, data="recordings of row k")
    parser.add_size()
    parser.add_argument(
        "--elsewhere", type=Path, help="a Python executable with numpy < 2, adelie and python-glmnet"
    )
    return parser.parse()


def run_rows(args: argparse.Namespace, remote: RemotePeers) -> None:
    for row in args.rows:
        tables = JOBS[row](args, remote)
        command = f"`python -m benchmarks.regression --rows {row} --repeats {args.repeats}`"
        machine = describe_machine(installed_distributions([*DISTRIBUTIONS, *PEERS.get(row, [])]))
        remote_note = f" Also, {remote.versions()}." if row in "dw" else ""
        page = f"{tables}\n\n{command}; {machine}{remote_note}"
        print(f"\n## {row}\n\n{page}", flush=True)
        if args.write:
            replace_between_markers(RESULTS, f"regression {row}", page)


def main() -> None:
    args = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        remote = RemotePeers(args.elsewhere, Path(folder))
        try:
            run_rows(args, remote)
        finally:
            remote.close()


if __name__ == "__main__":
    main()
