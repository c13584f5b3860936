"""Advice on data with known truth: redundancy warnings, wrong labels and macro intervals."""

from __future__ import annotations

from functools import partial

from benchmarks.data import ADULT
from benchmarks.job import Quality, Row


def report(name: str, quick: bool) -> str:
    from benchmarks.quality.advice import REPORTS

    return REPORTS[name](quick)


LABELLED = (ADULT, "mushroom.csv", "voting.csv")

JOBS: list[Row] = [
    Quality("advice.r", "Warnings about redundant columns", partial(report, "redundancy")),
    Quality("advice.l", "Estimates of wrong labels", partial(report, "labels"), LABELLED),
    Quality("advice.m", "Coverage of 95 % intervals of macro averages", partial(report, "macro")),
]  # fmt: skip
