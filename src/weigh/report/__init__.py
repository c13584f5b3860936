"""Reports on models: facts are collected first, then rendered as one self-contained HTML page."""

from __future__ import annotations

from weigh.report.builder import report_on
from weigh.report.facts import ReportFacts
from weigh.report.report import Report

__all__ = ["Report", "ReportFacts", "report_on"]
