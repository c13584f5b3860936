"""Commands that run once per message import no heavy libraries."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.commands.mail.conftest import spam

HEAVY = (
    "numpy",
    "rich",
    "pyarrow",
    "email",
    "asyncio",
    "weigh.model",
    "weigh.judge",
    "weigh.estimators",
    "weigh.pictures",
)


@pytest.mark.parametrize("arguments", ["filter", "filter -q", "learn --spam", "unlearn"])
@pytest.mark.usefixtures("trained")
def test_no_heavy_library_is_imported(arguments):
    script = (
        "import sys; from weigh.cli.main import run_for_exit_code; "
        f"run_for_exit_code(['mail', *{arguments.split()!r}]); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    process = subprocess.run([sys.executable, "-c", script], input=spam(0), capture_output=True)
    assert process.stderr == b"[]\n"
