"""Half a minute of all attacks together, always the same cases; `make stress` runs them for ten minutes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.stress.attack import ATTACKS
from tests.stress.runner import run_attack

CASES = {"files": 500, "arrays": 400, "models": 250, "names": 25, "threads": 8, "kills": 3}
MAX_SECONDS = 150.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_hostile_input_is_refused_or_answered_correctly(
    name: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    result = run_attack(name, tmp_path, MAX_SECONDS, max_cases=CASES[name])
    record_property("stress", str(result))
    assert not result.faults, "\n".join(result.faults.values())
    assert sum(result.outcomes.values()) == CASES[name]
    assert result.outcomes.keys() - {"refused"}, "nothing was accepted"
