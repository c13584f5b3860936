"""Measure how much memory one fit adds to this process; print it as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import mixed
from benchmarks.harness import measure_peak_growth


def fit_calls() -> dict[str, Callable[[Any], object]]:
    """Return the fits by name; each imports its library only when it runs."""

    def ours(frame: Any) -> object:
        from benchmarks.weigh_calls import fit_frame

        return fit_frame(frame, mixed.LABEL)

    def peer(encoder: Any) -> Callable[[Any], object]:
        def fit(frame: Any) -> object:
            from benchmarks.peers import MixedNaiveBayes

            columns = list(mixed.LEVELS), list(mixed.NUMBERS)
            return MixedNaiveBayes(*columns, encoder).fit(frame, mixed.LABEL)

        return fit

    return {"weigh": ours, "ordinal": peer("ordinal"), "pandas": peer("pandas")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fitter", choices=sorted(fit_calls()))
    parser.add_argument("file", type=Path, help="Arrow file written by benchmarks.mixed")
    parser.add_argument("storage", choices=["str", "object", "arrow"], help="dtypes of the frame")
    args = parser.parse_args()
    fit = fit_calls()[args.fitter]
    # A slice instead of a copy would keep the whole table alive in the baseline.
    warm = mixed.read_table(args.file, args.storage).head(1_000).copy(deep=True)
    print(json.dumps(measure_peak_growth(lambda: mixed.read_table(args.file, args.storage), fit, warm)))


if __name__ == "__main__":
    main()
