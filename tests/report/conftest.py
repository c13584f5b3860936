"""Reports that several tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weigh
from tests.report import tables


@pytest.fixture(scope="session")
def spam_model() -> Any:
    return weigh.NaiveBayes().fit(tables.mails(), "kind").model_


@pytest.fixture(scope="session")
def spam(spam_model: Any) -> weigh.Report:
    return weigh.report_on(spam_model, tables.mails(400, 1), train=tables.mails())


@pytest.fixture(scope="session")
def attacked() -> weigh.Report:
    table = tables.hostile()
    model = weigh.NaiveBayes().fit(table, tables.LABEL)
    return weigh.report_on(model, table, tables.LABEL, title=f"</title>{tables.ATTACK}")


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """The folder for screenshots of pages."""
    folder = Path(__file__).resolve().parents[2] / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
