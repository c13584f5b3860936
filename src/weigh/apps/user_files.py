"""Default locations of the user's files."""

from __future__ import annotations

import os


def user_data_path(variable: str, name: str) -> str:
    """Return the value of an environment variable, or `name` in weigh's part of the user data folder."""
    path = os.environ.get(variable)
    if path:
        return path
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(data, "weigh", name)
