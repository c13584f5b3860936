"""The settings of a store: what it learns by, written once and never changed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from weigh.apps.mail.features import VERSION, Features
from weigh.apps.mail.filter import new_ledger
from weigh.apps.mail.folder import private, telling
from weigh.apps.mail.learners import NAIVE_BAYES
from weigh.apps.mail.verdict import Costs
from weigh.errors import ModelFileError, ParameterError, listing, parameter, told

FORMAT = 1
_FIELDS = ("learner", "features", "words", "costs")


@dataclass(frozen=True)
class Settings:
    """How a store sees, learns and judges messages.

    `features` has the secret number that keys are made with, so that nobody without it can tell which words
    a key stands for. `words` says whether the words themselves are kept as well.
    """

    learner: str = NAIVE_BAYES
    features: Features = field(default_factory=Features)
    words: bool = False
    costs: Costs = field(default_factory=Costs)

    def __post_init__(self) -> None:
        new_ledger(self.learner)
        if not isinstance(self.words, bool):
            raise parameter("MailStore", "words", "True or False", self.words)

    def require(self, folder: str, asked: Mapping[str, object]) -> None:
        """Refuse a store that learns otherwise than was asked for."""
        has = {**asdict(self.features), "learner": self.learner, "words": self.words}
        for name, wanted in asked.items():
            if wanted != has[name]:
                raise ParameterError(
                    f"{folder}: this store was made {_made(name, has[name])}, not {_made(name, wanted)}. "
                    "Give another folder (--store DIR), or remove this one and learn all mail again."
                )

    def written(self, path: str) -> None:
        """Put the settings into their file."""
        features = {"version": VERSION, **asdict(self.features)}
        # Other programs read numbers of JSON as floats, which cannot hold this one.
        features["salt"] = f"{self.features.salt:016x}"
        written = {"format": FORMAT, **asdict(self), "features": features}
        with private(path) as file:
            file.write(json.dumps(written, indent=2).encode() + b"\n")


def _made(name: str, value: object) -> str:
    if name == "words":
        return "with words" if value else "without words"
    return f"with {name} {told(value)}"


def new_settings(asked: Mapping[str, Any], costs: Costs | None) -> Settings:
    """Settings as asked for, and a secret number that no other store has."""
    of_features = {name: value for name, value in asked.items() if name in ("pairs", "characters")}
    of_store = {name: value for name, value in asked.items() if name in ("learner", "words")}
    features = Features(**of_features, salt=int.from_bytes(os.urandom(8), "little"))
    return Settings(features=features, costs=costs or Costs(), **of_store)


def read_settings(path: str) -> Settings | None:
    """The settings in a file, None if there is none, or a refusal."""
    with telling(os.path.dirname(path), "read"):
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
    if version > FORMAT:
        raise ModelFileError(
            f"{path} is of format {version}; this weigh reads formats up to {FORMAT}. Use a later weigh."
        )
    return _checked(found, path)


def _checked(found: dict[str, Any], path: str) -> Settings:
    missing = [name for name in _FIELDS if name not in found]
    if missing:
        raise ModelFileError(f"{path} lacks {listing(missing)}. Restore it from a copy.")
    try:
        seen = dict(found["features"])
        version = seen.pop("version", None)
        if version != VERSION:
            raise ModelFileError(
                f"{path}: the store was made by another version of weigh, which saw other features in a mail "
                f"({told(version)}; this one {VERSION}). Learn all mail anew, into another folder."
            )
        features = Features(**{**seen, "salt": int(seen["salt"], 16)})
        return Settings(found["learner"], features, found["words"], Costs(**found["costs"]))
    except (ParameterError, TypeError, ValueError, KeyError) as error:
        raise ModelFileError(f"{path} has settings that this weigh cannot use: {error}") from error
