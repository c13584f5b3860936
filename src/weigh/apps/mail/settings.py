"""The settings of a store, written once when it is created and never changed."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from weigh.advice import Step
from weigh.apps.mail.features import FEATURES_VERSION, FeatureExtractor
from weigh.apps.mail.filter import new_ledger
from weigh.apps.mail.folder import (
    JOURNAL_FILE,
    REPAIR_ADVICE,
    SETTINGS_FILE,
    prepare_folder,
    translate_os_errors,
    write_private_file,
)
from weigh.apps.mail.learners import NAIVE_BAYES
from weigh.apps.mail.verdict import Costs
from weigh.errors import ModelFileError, ParameterError, one_line_repr, parameter_error, quote_names
from weigh.journal.journal import Journal
from weigh.journal.storage import JOURNAL_START

FORMAT_VERSION = 2  # format 1 had no checksum
_RESTORE_ADVICE = "Restore it from a copy, or learn all mail again into another folder."
_REQUIRED_FIELDS = ("learner", "features", "words", "costs")


@dataclass(frozen=True)
class StoreSettings:
    """The learner, feature extractor and costs of a store.

    `features` includes the secret salt of the hash: without it nobody can tell which word a key stands for.
    `words` says whether the words themselves are stored as well.
    """

    learner: str = NAIVE_BAYES
    features: FeatureExtractor = field(default_factory=FeatureExtractor)
    words: bool = False
    costs: Costs = field(default_factory=Costs)

    def __post_init__(self) -> None:
        new_ledger(self.learner)
        if not isinstance(self.words, bool):
            raise parameter_error("MailStore", "words", "True or False", self.words)

    def check_matches(self, folder: str, requested: Mapping[str, object]) -> None:
        """Raise ParameterError if the store was created with settings other than those requested."""
        actual = {**asdict(self.features), "learner": self.learner, "words": self.words}
        for name, value in requested.items():
            if value != actual[name]:
                raise ParameterError(
                    f"{folder}: this store was created {_describe_setting(name, actual[name])}, not "
                    f"{_describe_setting(name, value)}.",
                    hint=(
                        "Give ",
                        Step("another store", "another folder"),
                        ", or remove this one and learn all mail again.",
                    ),
                )

    def write(self, path: str) -> None:
        """Write the settings file."""
        features = {"version": FEATURES_VERSION, **asdict(self.features)}
        # Many programs read JSON numbers as floats, which cannot represent all 64-bit integers.
        features["salt"] = f"{self.features.salt:016x}"
        document = {"format": FORMAT_VERSION, **asdict(self), "features": features}
        document["checksum"] = _checksum(document)
        with write_private_file(path) as file:
            file.write(json.dumps(document, indent=2).encode() + b"\n")


def _describe_setting(name: str, value: object) -> str:
    if name == "words":
        return "with words" if value else "without words"
    return f"with {name} {one_line_repr(value)}"


def new_settings(requested: Mapping[str, Any], costs: Costs | None) -> StoreSettings:
    """Return the requested settings with a new random salt."""
    feature_options = {name: value for name, value in requested.items() if name in ("pairs", "characters")}
    store_options = {name: value for name, value in requested.items() if name in ("learner", "words")}
    features = FeatureExtractor(**feature_options, salt=int.from_bytes(os.urandom(8), "little"))
    return StoreSettings(features=features, costs=costs or Costs(), **store_options)


def existing_settings(folder: str) -> StoreSettings | None:
    """Return the settings of the store in a folder, or None if there is no store."""
    settings = read_settings(os.path.join(folder, SETTINGS_FILE))
    # The journal is created before the settings and never removed; without it the store would start empty.
    if settings and not os.path.exists(os.path.join(folder, JOURNAL_FILE)):
        raise ModelFileError(f"{folder}: the journal is missing.", hint=REPAIR_ADVICE)
    return settings


def create_store(folder: str, settings: StoreSettings) -> StoreSettings:
    """Create a store unless another process has just done so, and return its settings."""
    prepare_folder(folder)
    path = os.path.join(folder, SETTINGS_FILE)
    with Journal(os.path.join(folder, JOURNAL_FILE)).transaction() as transaction:
        existing = read_settings(path)
        if existing is None and transaction.position != JOURNAL_START:
            raise ModelFileError(f"{path} is missing, but there is a journal.", hint=_RESTORE_ADVICE)
        if existing is None:
            settings.write(path)
        return existing or settings


def read_settings(path: str) -> StoreSettings | None:
    """Read a settings file; return None if it does not exist."""
    with translate_os_errors(os.path.dirname(path), "read"):
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return None
    try:
        document = json.loads(data)
        version = document["format"]
        is_settings = isinstance(version, int) and version > 0
    except (ValueError, TypeError, KeyError, RecursionError):
        is_settings = False
    if not is_settings:
        raise ModelFileError(f"{path} does not contain the settings of a mail store.", hint=_RESTORE_ADVICE)
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format {version}; this version of weigh reads formats up to {FORMAT_VERSION}. "
            "Use a later version."
        )
    if (version > 1 or "checksum" in document) and document.pop("checksum", None) != _checksum(document):
        raise ModelFileError(
            f"{path} is damaged: its checksum does not match its settings.", hint=_RESTORE_ADVICE
        )
    return _parse_settings(document, path)


def upgrade_settings(folder: str, settings: StoreSettings) -> None:
    """Write the settings again if their file was written by an earlier version, without a checksum."""
    path = os.path.join(folder, SETTINGS_FILE)
    with open(path, "rb") as file:
        if json.load(file)["format"] < FORMAT_VERSION:
            settings.write(path)


def _checksum(document: dict[str, Any]) -> int:
    """Return the CRC-32 of settings, which does not depend on the layout of the file."""
    return zlib.crc32(json.dumps(document, sort_keys=True).encode())


def _parse_settings(document: dict[str, Any], path: str) -> StoreSettings:
    missing = [name for name in _REQUIRED_FIELDS if name not in document]
    if missing:
        raise ModelFileError(f"{path} is missing {quote_names(missing)}.", hint=_RESTORE_ADVICE)
    try:
        options = dict(document["features"])
        version = options.pop("version", None)
        if version != FEATURES_VERSION:
            raise ModelFileError(
                f"{path}: the store was created by a version of weigh that extracts different features "
                f"({one_line_repr(version)}; this one has {FEATURES_VERSION}). "
                "Learn all mail again into another folder."
            )
        features = FeatureExtractor(**{**options, "salt": int(options["salt"], 16)})
        return StoreSettings(document["learner"], features, document["words"], Costs(**document["costs"]))
    except (ParameterError, TypeError, ValueError, KeyError) as error:
        raise ModelFileError(f"{path} has settings that this version of weigh cannot use: {error}") from error
