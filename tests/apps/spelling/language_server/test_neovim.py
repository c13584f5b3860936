"""Neovim's built-in client shows and applies suggestions."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

NEOVIM = shutil.which("nvim")
SCRIPT = pathlib.Path(__file__).with_name("neovim.lua")
TEXT = """# Notes

😀 I know weather to laugh.

```
I know weather to laugh.
```

The whether is fine today.
"""
EXPECTED = """found true
2 12 19 4 weather → whether
8 4 11 4 whether → weather
**weather → whether**, probability
Replace “weather” with “whether”
found true
found true
# Notes||😀 I know whether to laugh.||```|I know weather to laugh.|```||The weather is fine today.
found true
"""


@pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed (apt-get install neovim).")
def test_neovim_shows_and_applies_suggestions(model, tmp_path):
    (tmp_path / "notes.md").write_text(TEXT, "utf-8")
    output = tmp_path / "output"
    home = {name: str(tmp_path / "home") for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
    variables = {"WEIGH_OUTPUT": str(output), "WEIGH_MODEL": str(model), "WEIGH_PYTHON": sys.executable}
    subprocess.run(
        [NEOVIM, "--headless", "-u", "NONE", "-i", "NONE", "-n", "notes.md", "-c", f"luafile {SCRIPT}"],
        cwd=tmp_path,
        env={**os.environ, **home, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=True,
    )
    assert output.read_text("utf-8") == EXPECTED
