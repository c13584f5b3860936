"""Reports: facts collected first, then shown on one page that needs nothing else."""

from __future__ import annotations

from weigh.report.facts import Facts
from weigh.report.making import report_on
from weigh.report.report import Report

__all__ = ["Facts", "Report", "report_on"]
