"""Neovim's own client, where there is one, underlines and puts right as any editor should."""

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
TOLD = """found true
2 12 19 4 weather → whether
8 4 11 4 whether → weather
**weather → whether**, probability
Write “whether” instead of “weather”
found true
found true
# Notes||😀 I know whether to laugh.||```|I know weather to laugh.|```||The weather is fine today.
found true
"""


@pytest.mark.skipif(NEOVIM is None, reason="There is no Neovim here (apt-get install neovim).")
def test_neovim_shows_and_follows_suggestions(model, tmp_path):
    (tmp_path / "notes.md").write_text(TEXT, "utf-8")
    told = tmp_path / "told"
    home = {name: str(tmp_path / "home") for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
    own = {"WEIGH_TOLD": str(told), "WEIGH_MODEL": str(model), "WEIGH_PYTHON": sys.executable}
    subprocess.run(
        [NEOVIM, "--headless", "-u", "NONE", "-i", "NONE", "-n", "notes.md", "-c", f"luafile {SCRIPT}"],
        cwd=tmp_path,
        env={**os.environ, **home, **own},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=True,
    )
    assert told.read_text("utf-8") == TOLD
