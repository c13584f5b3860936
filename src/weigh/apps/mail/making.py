"""A new store, made once however many programs begin with it at the same time."""

from __future__ import annotations

import os

from weigh.apps.mail.folder import JOURNAL, SETTINGS, prepared
from weigh.apps.mail.settings import Settings, read_settings
from weigh.errors import ModelFileError
from weigh.journal import START, Journal


def made(folder: str, settings: Settings) -> Settings:
    """Make a store, unless somebody else has just done so, and give the settings that it has."""
    prepared(folder)
    path = os.path.join(folder, SETTINGS)
    with Journal(os.path.join(folder, JOURNAL)).writing() as turn:
        found = read_settings(path)
        if found is None and turn.position != START:
            raise ModelFileError(f"{path} is missing beside a journal. Restore the whole folder from a copy.")
        if found is None:
            settings.written(path)
        return found or settings
