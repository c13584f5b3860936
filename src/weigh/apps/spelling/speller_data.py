"""Spellers as files: all sets end to end in four arrays, and a description; equal spellers, equal bytes."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain, groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weigh import _core, errors
from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.contexts import DEFAULT_WINDOW, MAX_WINDOW
from weigh.apps.spelling.false_alarms import FalseAlarmBound
from weigh.errors import ModelFileError, WeighError
from weigh.features import NameArray
from weigh.features.validation import check_finite, check_integer
from weigh.model.file import store
from weigh.model.file.loading import SPELLER_TYPE
from weigh.model.file.store import FileContent, check_names, damaged_file_error

# What a context is, and how words are written; what was learned from others would not be known again.
CONTEXTS_VERSION = 2
MAX_WEIGHT = float(np.finfo(np.float32).max)  # of a weight, and so of a base


class SpellerParts(NamedTuple):
    """What a speller consists of."""

    sets: tuple[LinearWordClassifier, ...]
    promise: FalseAlarmBound
    settings: SpellerSettings
    facts: TrainingStatistics


def to_file_content(parts: SpellerParts) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The description and the arrays that a file holds."""
    meta = {
        "model": SPELLER_TYPE,
        "contexts": CONTEXTS_VERSION,
        "unicode": _core.UNICODE_VERSION,
        "sets": [{"words": list(one.words), "features": one.n_features} for one in parts.sets],
        "promise": parts.promise.to_dict(),
        "settings": parts.settings.to_dict(),
        "facts": parts.facts.to_dict(),
    }
    lengths = _concatenate([np.diff(one.names.offsets) for one in parts.sets], np.int64)
    return meta, {
        "base": _concatenate([one.base for one in parts.sets], np.float64),
        "names.text": _concatenate([one.names.text for one in parts.sets], np.uint8),
        # Most names are short, and a byte each is a quarter of what their weights take.
        "names.lengths": lengths.astype(np.min_scalar_type(int(lengths.max(initial=0)))),
        "weights": _concatenate([one.table.reshape(-1) for one in parts.sets], np.float32),
    }


def _concatenate(arrays: Sequence[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *arrays]).astype(dtype, copy=False)


def read_speller(path: str | os.PathLike[str]) -> SpellerParts:
    """What a file holds; nothing in it is executed."""
    stored = store.read(path, check=True)
    _check_is_speller(stored)
    try:
        sets = _parse_classifiers(stored)
        return SpellerParts(
            sets=sets,
            promise=_parse_bound(stored.meta["promise"]),
            settings=SpellerSettings(**stored.meta["settings"]),
            facts=_parse_statistics(stored.meta["facts"], sets),
        )
    except ModelFileError:
        raise
    except (WeighError, LookupError, TypeError, ValueError, AttributeError, OverflowError) as cause:
        raise damaged_file_error(
            stored.path, f"its description is incomplete or contradictory ({cause})"
        ) from cause


def _check_is_speller(stored: FileContent) -> None:
    kind = stored.meta.get("model")
    if kind != SPELLER_TYPE:
        raise ModelFileError(
            f"{stored.path} holds a model of rows ({kind}), not a speller. "
            f"Open it with weigh.load({stored.path!r}), or give the file of weigh spell learn."
        )
    made = (stored.meta.get("contexts"), stored.meta.get("unicode"))
    if made != (CONTEXTS_VERSION, _core.UNICODE_VERSION):
        raise ModelFileError(
            f"{stored.path} was made by another version of weigh, which saw other contexts in a text "
            f"({made[0]}, Unicode {made[1]}; this one {CONTEXTS_VERSION}, {_core.UNICODE_VERSION}). "
            f"Learn the speller again."
        )


def _parse_bound(plain: dict[str, Any]) -> FalseAlarmBound:
    promise = FalseAlarmBound.from_dict(plain)
    if not 0 <= promise.threshold <= 1:
        raise ValueError(f"a threshold of {promise.threshold!r}")
    if not (0 < promise.rate < math.inf and 0 < promise.promised < math.inf):
        raise ValueError(f"a promise of {promise.rate!r} and {promise.promised!r} alarms")
    return promise


def _parse_statistics(plain: dict[str, Any], sets: Sequence[LinearWordClassifier]) -> TrainingStatistics:
    facts = TrainingStatistics.from_dict(plain)
    if [len(one.examples) for one in facts.sets] != [len(one.words) for one in sets]:
        raise ValueError("facts of other sets")
    rows = [(one.accuracy, one.majority, one.found, one.temperature) for one in facts.sets]
    numbers = [facts.found, *chain.from_iterable(rows)]
    if not all(math.isfinite(number) for number in numbers if number is not None):
        raise ValueError("facts that are no numbers")
    return facts


def _parse_classifiers(stored: FileContent) -> tuple[LinearWordClassifier, ...]:
    described = stored.meta["sets"]
    words = ConfusionSets(tuple(tuple(map(str, one["words"])) for one in described), SPELLER_TYPE).sets
    base, weights = stored.arrays["base"], stored.arrays["weights"]
    if base.dtype != np.float64 or weights.dtype != np.float32 or not np.isfinite(weights).all():
        raise ValueError("weights that are no numbers")
    # A word that was never seen has a base of minus infinity.
    if not (np.isneginf(base) | (np.abs(base) <= MAX_WEIGHT)).all():
        raise ValueError("a base that is no number")
    sizes = [int(one["features"]) for one in described]
    names = _parse_feature_names(stored, sizes)
    bases = _split_exactly(base, [len(one) for one in words])
    if any(np.isneginf(one).all() for one in bases):
        raise ValueError("a set without a word that may be chosen")
    tables = _split_exactly(weights, [len(one) * size for one, size in zip(words, sizes, strict=True)])
    return tuple(
        LinearWordClassifier(*one[:3], one[3].reshape(-1, len(one[0])))
        for one in zip(words, bases, names, tables, strict=True)
    )


def _parse_feature_names(stored: FileContent, sizes: list[int]) -> list[NameArray]:
    text, lengths = stored.arrays["names.text"], stored.arrays["names.lengths"]
    if lengths.dtype.kind != "u" or lengths.dtype.itemsize > 4 or lengths.ndim != 1:
        raise ValueError("lengths of names that are no counts")
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    check_names(text, offsets, stored.path)
    ends = np.cumsum([0, *sizes])
    _split_exactly(lengths, sizes)
    return [
        NameArray(text[offsets[begin] : offsets[end]], offsets[begin : end + 1] - offsets[begin])
        for begin, end in pairwise(ends)
    ]


def _split_exactly(array: NDArray[Any], sizes: list[int]) -> list[NDArray[Any]]:
    """An array's parts of these sizes, which must be all of it."""
    if array.ndim != 1 or min(sizes, default=0) < 0 or sum(sizes) != len(array):
        raise ValueError(f"{len(array):,} numbers where {sum(sizes):,} are told")
    return np.split(array, np.cumsum(sizes)[:-1]) if sizes else []


PARAMETER_OWNER = "Speller"
LINEAR_LEARNERS = (
    "logistic",
    "naive-bayes",
    "bernoulli",
    "perceptron",
)  # the learners of which spellers are made
ALARMS_CONSTRAINT = "a number above 0, of false alarms per 10,000 words"


@dataclass(frozen=True)
class SpellerSettings:
    """How a speller learns.

    Parameters
    ----------
    learner : "logistic", "naive-bayes", "bernoulli" or "perceptron"
    alarms : how many false alarms per 10,000 words of clean text are allowed
    window : how many words to each side are looked at
    features : how many features of each set are kept, the strongest ones
    at_least : how often a word must occur to be learned
    """

    learner: str = LINEAR_LEARNERS[0]
    alarms: float = 0.5
    window: int = DEFAULT_WINDOW
    features: int = 4000
    at_least: int = 20

    def __post_init__(self) -> None:
        if self.learner not in LINEAR_LEARNERS:
            raise errors.parameter_error(
                PARAMETER_OWNER, "learner", f"one of {errors.quote_names(LINEAR_LEARNERS)}", self.learner
            )
        if not check_finite(PARAMETER_OWNER, "alarms", self.alarms, ALARMS_CONSTRAINT) > 0:
            raise errors.parameter_error(PARAMETER_OWNER, "alarms", ALARMS_CONSTRAINT, self.alarms)
        for name, least in (("window", 0), ("features", 1), ("at_least", 1)):
            object.__setattr__(self, name, check_integer(PARAMETER_OWNER, name, getattr(self, name), least))
        if self.window > MAX_WINDOW:
            raise errors.parameter_error(PARAMETER_OWNER, "window", f"at most {MAX_WINDOW:,}", self.window)
        object.__setattr__(self, "alarms", float(self.alarms))

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class RareWord:
    """A word that occurred too rarely to be learned, and the set that it was in."""

    word: str
    words: tuple[str, ...]
    examples: int


@dataclass(frozen=True)
class SetStatistics:
    """How one set was learned: examples of each word, and what choosing came to on held-out text.

    `judged` counts the held-out occurrences; `accuracy` and `majority`, the share that the chooser and the
    commoner word alone have right of them, are None where there are none. So is `found`, the share whose
    word has a probability above the threshold: it would be suggested if another word of the set stood there.
    """

    examples: tuple[int, ...]
    judged: int
    accuracy: float | None
    majority: float | None
    found: float | None
    temperature: float

    @property
    def is_better(self) -> bool:
        """Whether contexts tell the words better than knowing the commoner one alone, as far as is known."""
        return self.accuracy is None or self.majority is None or self.accuracy > self.majority


@dataclass(frozen=True)
class TrainingStatistics:
    """What was read, which list of sets was asked for, and what became of each set."""

    words: int
    documents: int
    list_name: str
    sets: tuple[SetStatistics, ...]
    left_out: tuple[RareWord, ...] = ()

    @property
    def accuracy(self) -> float | None:
        """The mean accuracy over the sets that were judged."""
        known = [one.accuracy for one in self.sets if one.accuracy is not None]
        return sum(known) / len(known) if known else None

    @property
    def found(self) -> float | None:
        """The share of errors that would be found in held-out text, where all of its words are as likely."""
        known = [(one.judged, one.found) for one in self.sets if one.found is not None]
        judged = sum(number for number, _ in known)
        return sum(number * share for number, share in known) / judged if judged else None

    @property
    def dropped_sets(self) -> tuple[tuple[RareWord, ...], ...]:
        """The words left out of sets that have no two others, set by set: these sets were not learned."""
        return tuple(rare for rare in self._rare_by_set if len(rare) > len(rare[0].words) - 2)

    @property
    def dropped_words(self) -> tuple[RareWord, ...]:
        """The words left out of sets that were learned without them."""
        return tuple(one for rare in self._rare_by_set if len(rare) <= len(rare[0].words) - 2 for one in rare)

    @property
    def _rare_by_set(self) -> list[tuple[RareWord, ...]]:
        return [tuple(rare) for _, rare in groupby(self.left_out, key=lambda one: one.words)]

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> TrainingStatistics:
        """The facts that `to_dict` has made plain."""
        return cls(
            words=int(plain["words"]),
            documents=int(plain["documents"]),
            list_name=str(plain["list_name"]),
            sets=tuple(_set_statistics_from_dict(one) for one in plain["sets"]),
            left_out=tuple(
                RareWord(str(one["word"]), tuple(map(str, one["words"])), int(one["examples"]))
                for one in plain["left_out"]
            ),
        )


def _set_statistics_from_dict(plain: dict[str, Any]) -> SetStatistics:
    return SetStatistics(
        examples=tuple(map(int, plain["examples"])),
        judged=int(plain["judged"]),
        accuracy=_optional_float(plain["accuracy"]),
        majority=_optional_float(plain["majority"]),
        found=_optional_float(plain["found"]),
        temperature=float(plain["temperature"]),
    )


def _optional_float(value: Any) -> float | None:
    return None if value is None else float(value)
