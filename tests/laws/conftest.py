"""Shared setup: random rows may have constant columns and outliers, so these warnings are ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

HOME = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HOME in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::weigh.errors.FlatColumns"))
            item.add_marker(pytest.mark.filterwarnings("ignore::weigh.errors.Outliers"))
