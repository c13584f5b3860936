"""Half a minute of every attack and the same seeds each time; `make stress` runs them for ten minutes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.stress.attack import ATTACKS
from tests.stress.runner import run_attack

SECONDS = {"files": 6.0, "arrays": 6.0, "models": 6.0, "names": 6.0, "threads": 3.0, "kills": 6.0}


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_hostile_input_is_refused_or_answered_correctly(
    name: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    result = run_attack(name, tmp_path, SECONDS[name])
    record_property("stress", str(result))
    assert not result.faults, "\n".join(result.faults.values())
    assert sum(result.outcomes.values()) > 0
