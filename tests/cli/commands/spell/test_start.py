"""Commands used in pre-commit hooks and editors start without heavy libraries."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    "sklearn",
    "scipy",
    "pandas",
    "altair",
    "rich",
    "pygls",
    "weigh.learn",
    "weigh.engines",
    "weigh.judge",
    "weigh.estimators",
    "weigh.pictures",
)


@pytest.mark.parametrize(
    "arguments", ["check letter.txt", "check --fix letter.txt", "sets english", "lsp --help"]
)
@pytest.mark.usefixtures("folder")
def test_heavy_libraries_are_not_imported(arguments: str) -> None:
    script = (
        "import sys; from weigh.cli.main import run_for_exit_code; "
        f"run_for_exit_code(['spell', *{arguments.split()!r}]); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    completed = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8")
    assert completed.stderr.splitlines()[-1] == "[]"
