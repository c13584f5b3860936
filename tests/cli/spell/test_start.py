"""A check before every commit must not wait for libraries that it does not need."""

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
def test_no_heavy_library_is_imported(arguments: str) -> None:
    script = (
        "import sys; from weigh.cli.main import code_of; "
        f"code_of(['spell', *{arguments.split()!r}]); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8")
    assert done.stderr.splitlines()[-1] == "[]"
