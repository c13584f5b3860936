"""A store that is found, or made once however many programs begin with it at the same time."""

from __future__ import annotations

import os

from weigh.apps.mail.folder import JOURNAL, SETTINGS, prepared
from weigh.apps.mail.settings import Settings, read_settings
from weigh.errors import ModelFileError
from weigh.journal import START, Journal


def found(folder: str) -> Settings | None:
    """The settings of the store in a folder, None if there is none."""
    settings = read_settings(os.path.join(folder, SETTINGS))
    # The journal comes first, and stays; a store without one would begin anew.
    if settings and not os.path.exists(os.path.join(folder, JOURNAL)):
        raise ModelFileError(f"{folder}: the journal is missing. Restore the whole folder from a copy.")
    return settings


def made(folder: str, settings: Settings) -> Settings:
    """Make a store, unless somebody else has just done so, and give the settings that it has."""
    prepared(folder)
    path = os.path.join(folder, SETTINGS)
    with Journal(os.path.join(folder, JOURNAL)).writing() as turn:
        others = read_settings(path)
        if others is None and turn.position != START:
            raise ModelFileError(f"{path} is missing beside a journal. Restore the whole folder from a copy.")
        if others is None:
            settings.written(path)
        return others or settings
