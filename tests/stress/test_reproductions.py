"""The reproductions name tests that exist, and docs/robustness.md lists them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stress import reproductions
from tests.stress.reproductions import Reproduction

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("reproduction", reproductions.find(), ids=lambda each: each.path.stem)
def test_a_reproduction_names_a_test_that_exists(reproduction: Reproduction) -> None:
    path, _, name = reproduction.comments["test"].partition("::")
    assert f"def {name}" in (ROOT / path).read_text()


def test_the_documentation_lists_all_reproductions() -> None:
    page = (ROOT / "docs" / "robustness.md").read_text()
    assert reproductions.format_table() in page, "python -m tests.stress --table prints the table"
