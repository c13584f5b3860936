"""The report on a model of Adult: how long it takes, and how large it is."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import weigh
from benchmarks.adult import LABEL
from benchmarks.harness import duration, markdown, race_processes


def job(data: Path, repeats: int) -> str:
    train, test = (data / "adult" / f"{part}.csv" for part in ("train", "test"))
    with tempfile.TemporaryDirectory() as folder:
        model, plain, whole = (Path(folder) / name for name in ("adult.weigh", "plain.html", "whole.html"))
        weigh.NaiveBayes(missing=["?"]).fit(weigh.open(train, label=LABEL)).model_.save(model)
        command = [sys.executable, "-m", "weigh.cli.main", "report", str(model), str(test), "-o"]
        timings = race_processes(
            {
                "weigh report MODEL test.csv": [*command, str(plain)],
                "weigh report MODEL test.csv --train train.csv": [
                    *command,
                    str(whole),
                    "--train",
                    str(train),
                ],
            },
            repeats,
        )
        sizes = [f"{path.stat().st_size / 1e3:,.0f} kB" for path in (plain, whole)]
    rows = [
        [each.name, duration(each.best), duration(each.median), size]
        for each, size in zip(timings, sizes, strict=True)
    ]
    title = "The report on naive Bayes of Adult: 16,281 rows judged, 32,561 learned from; whole processes"
    return f"{title}\n\n{markdown(['', 'min', 'median', 'size'], rows)}"
