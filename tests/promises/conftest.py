"""The table of five mails that several promises are tested on."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def mails() -> dict[str, list[Any]]:
    """Five mails: what they contain, how familiar the sender is, whether they are spam."""
    return {
        "CS373": [0, 0, 0, 0, 1],
        "investment": [1, 0, 1, 1, 0],
        "familiarity": ["low", "high", "high", "medium", "low"],
        "spam": ["spam", "not-spam", "spam", "not-spam", "not-spam"],
    }


@pytest.fixture
def new_mail() -> dict[str, Any]:
    """A mail that is neither clearly spam nor clearly not."""
    return {"CS373": 1, "investment": 1, "familiarity": "high"}
