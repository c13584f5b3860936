"""Programs that start once per message import no more than they need."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.mail.conftest import spam

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
@pytest.mark.usefixtures("taught")
def test_no_heavy_library_is_imported(arguments):
    script = (
        "import sys; from weigh.cli.main import code_of; "
        f"code_of(['mail', *{arguments.split()!r}]); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], input=spam(0), capture_output=True)
    assert done.stderr == b"[]\n"
