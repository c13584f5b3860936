"""Where a person's own files are, if nothing else is said."""

from __future__ import annotations

import os


def user_data_path(variable: str, name: str) -> str:
    """What a variable of the environment says, or `name` in weigh's part of the folder for data."""
    given = os.environ.get(variable)
    if given:
        return given
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(data, "weigh", name)
