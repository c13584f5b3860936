"""Measure in this process how much memory one contestant adds while it fits; print JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import mixed
from benchmarks.harness import measure_peak_growth


def fit_calls() -> dict[str, Callable[[Any], object]]:
    """Return the fitting calls by name; the peer's imports happen only when it is chosen."""

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
    parser.add_argument("contestant", choices=sorted(fit_calls()))
    parser.add_argument("file", type=Path)
    parser.add_argument("storage", choices=["str", "object", "arrow"])
    given = parser.parse_args()
    fit = fit_calls()[given.contestant]
    # a copy, since a slice would keep the whole table alive in the baseline
    warm = mixed.read_table(given.file, given.storage).head(1_000).copy(deep=True)
    print(json.dumps(measure_peak_growth(lambda: mixed.read_table(given.file, given.storage), fit, warm)))


if __name__ == "__main__":
    main()
