"""Print the counts of the attacks at the end of a test run."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print one line per attack."""
    lines = [
        str(value)
        for reports in terminalreporter.stats.values()
        for report in reports
        for key, value in getattr(report, "user_properties", ())
        if key == "stress" and report.when == "call"
    ]
    if lines:
        terminalreporter.section("stress: hostile input")
        for line in lines:
            terminalreporter.write_line(line)
