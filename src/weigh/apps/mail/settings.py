"""The settings of a store: what it learns by, written once and never changed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from weigh.apps.mail.features import FEATURES_VERSION, FeatureExtractor
from weigh.apps.mail.filter import new_ledger
from weigh.apps.mail.folder import (
    JOURNAL_FILE,
    SETTINGS_FILE,
    prepare_folder,
    translate_os_errors,
    write_private_file,
)
from weigh.apps.mail.learners import NAIVE_BAYES
from weigh.apps.mail.verdict import Costs
from weigh.errors import ModelFileError, ParameterError, one_line_repr, parameter_error, quote_names
from weigh.journal import JOURNAL_START, Journal

FORMAT_VERSION = 1
_REQUIRED_FIELDS = ("learner", "features", "words", "costs")


@dataclass(frozen=True)
class StoreSettings:
    """How a store sees, learns and judges messages.

    `features` has the secret number that keys are made with, so that nobody without it can tell which words
    a key stands for. `words` says whether the words themselves are kept as well.
    """

    learner: str = NAIVE_BAYES
    features: FeatureExtractor = field(default_factory=FeatureExtractor)
    words: bool = False
    costs: Costs = field(default_factory=Costs)

    def __post_init__(self) -> None:
        new_ledger(self.learner)
        if not isinstance(self.words, bool):
            raise parameter_error("MailStore", "words", "True or False", self.words)

    def check_matches(self, folder: str, asked: Mapping[str, object]) -> None:
        """Refuse a store that learns otherwise than was asked for."""
        has = {**asdict(self.features), "learner": self.learner, "words": self.words}
        for name, wanted in asked.items():
            if wanted != has[name]:
                raise ParameterError(
                    f"{folder}: this store was made {_describe_setting(name, has[name])}, not {_describe_setting(name, wanted)}. "
                    "Give another folder (--store DIR), or remove this one and learn all mail again."
                )

    def write(self, path: str) -> None:
        """Put the settings into their file."""
        features = {"version": FEATURES_VERSION, **asdict(self.features)}
        # Other programs read numbers of JSON as floats, which cannot hold this one.
        features["salt"] = f"{self.features.salt:016x}"
        written = {"format": FORMAT_VERSION, **asdict(self), "features": features}
        with write_private_file(path) as file:
            file.write(json.dumps(written, indent=2).encode() + b"\n")


def _describe_setting(name: str, value: object) -> str:
    if name == "words":
        return "with words" if value else "without words"
    return f"with {name} {one_line_repr(value)}"


def new_settings(asked: Mapping[str, Any], costs: Costs | None) -> StoreSettings:
    """Settings as asked for, and a secret number that no other store has."""
    of_features = {name: value for name, value in asked.items() if name in ("pairs", "characters")}
    of_store = {name: value for name, value in asked.items() if name in ("learner", "words")}
    features = FeatureExtractor(**of_features, salt=int.from_bytes(os.urandom(8), "little"))
    return StoreSettings(features=features, costs=costs or Costs(), **of_store)


def read_settings(path: str) -> StoreSettings | None:
    """The settings in a file, None if there is none, or a refusal."""
    with translate_os_errors(os.path.dirname(path), "read"):
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return None
    try:
        found = json.loads(data)
        version = found["format"]
        is_ours = isinstance(version, int) and version > 0
    except (ValueError, TypeError, KeyError, RecursionError):
        is_ours = False
    if not is_ours:
        raise ModelFileError(f"{path} does not hold the settings of a mail store. Restore it from a copy.")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{path} is of format {version}; this weigh reads formats up to {FORMAT_VERSION}. Use a later weigh."
        )
    return _parse_settings(found, path)


def _parse_settings(found: dict[str, Any], path: str) -> StoreSettings:
    missing = [name for name in _REQUIRED_FIELDS if name not in found]
    if missing:
        raise ModelFileError(f"{path} lacks {quote_names(missing)}. Restore it from a copy.")
    try:
        seen = dict(found["features"])
        version = seen.pop("version", None)
        if version != FEATURES_VERSION:
            raise ModelFileError(
                f"{path}: the store was made by another version of weigh, which saw other features in a mail "
                f"({one_line_repr(version)}; this one {FEATURES_VERSION}). Learn all mail anew, into another folder."
            )
        features = FeatureExtractor(**{**seen, "salt": int(seen["salt"], 16)})
        return StoreSettings(found["learner"], features, found["words"], Costs(**found["costs"]))
    except (ParameterError, TypeError, ValueError, KeyError) as error:
        raise ModelFileError(f"{path} has settings that this weigh cannot use: {error}") from error


def existing_settings(folder: str) -> StoreSettings | None:
    """The settings of the store in a folder, None if there is none."""
    settings = read_settings(os.path.join(folder, SETTINGS_FILE))
    # The journal comes first, and stays; a store without one would begin anew.
    if settings and not os.path.exists(os.path.join(folder, JOURNAL_FILE)):
        raise ModelFileError(f"{folder}: the journal is missing. Restore the whole folder from a copy.")
    return settings


def create_store(folder: str, settings: StoreSettings) -> StoreSettings:
    """Make a store, unless somebody else has just done so, and give the settings that it has."""
    prepare_folder(folder)
    path = os.path.join(folder, SETTINGS_FILE)
    with Journal(os.path.join(folder, JOURNAL_FILE)).transaction() as turn:
        others = read_settings(path)
        if others is None and turn.position != JOURNAL_START:
            raise ModelFileError(f"{path} is missing beside a journal. Restore the whole folder from a copy.")
        if others is None:
            settings.write(path)
        return others or settings
