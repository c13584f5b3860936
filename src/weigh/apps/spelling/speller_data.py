"""The data of a speller: its settings, its training statistics, and its file format.

A file has a JSON description and four arrays, each the concatenation over all sets: intercepts, text and
lengths of the feature names, and weights. Equal spellers have equal bytes.
"""

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
from weigh.advice import Step
from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.contexts import DEFAULT_WINDOW, MAX_WINDOW
from weigh.apps.spelling.false_alarms import FalseAlarmBound
from weigh.errors import ModelFileError
from weigh.features.names import NameArray
from weigh.model.file import store
from weigh.model.file.loading import SPELLER_TYPE
from weigh.model.file.store import FileContent, check_names
from weigh.parameters import check_finite, check_integer
from weigh.result import Facts

PARAMETER_OWNER = "Speller"
LINEAR_LEARNERS = ("logistic", "naive-bayes", "bernoulli", "perceptron")
ALARMS_CONSTRAINT = "a number above 0, of false alarms per 10,000 words"
# The version of the context features; weights for other features would be meaningless.
CONTEXTS_VERSION = 2
MAX_INTERCEPT = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class SpellerSettings(Facts):
    """How a speller is trained.

    Parameters
    ----------
    learner : "logistic", "naive-bayes", "bernoulli" or "perceptron"
    alarms : largest number of false alarms per 10,000 words of correct text
    window : number of words on each side that count as context
    features : largest number of features per set; the strongest are kept
    at_least : smallest number of occurrences of a word that is learned
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
        for name, minimum in (("window", 0), ("features", 1), ("at_least", 1)):
            object.__setattr__(self, name, check_integer(PARAMETER_OWNER, name, getattr(self, name), minimum))
        if self.window > MAX_WINDOW:
            raise errors.parameter_error(PARAMETER_OWNER, "window", f"at most {MAX_WINDOW:,}", self.window)
        object.__setattr__(self, "alarms", float(self.alarms))


@dataclass(frozen=True)
class RareWord:
    """A word with too few occurrences to be learned, and its set."""

    word: str
    words: tuple[str, ...]
    examples: int


@dataclass(frozen=True)
class SetStatistics:
    """The training examples of each word of a set, and the results on `judged` held-out occurrences.

    `accuracy` is that of the classifier, `majority` that of always predicting the more frequent word. `found`
    is the recall: the share of occurrences with P > threshold for the right word, which would be suggested if
    another word of the set were written. All three are None without held-out occurrences.
    """

    examples: tuple[int, ...]
    judged: int
    accuracy: float | None
    majority: float | None
    found: float | None
    temperature: float

    @property
    def is_better(self) -> bool:
        """Whether the classifier beats the majority baseline; True without held-out occurrences."""
        return self.accuracy is None or self.majority is None or self.accuracy > self.majority


@dataclass(frozen=True)
class TrainingStatistics(Facts):
    """The size of the training text, the name of the list of confusion sets, and the results of each set."""

    words: int
    documents: int
    list_name: str
    sets: tuple[SetStatistics, ...]
    left_out: tuple[RareWord, ...] = ()

    @property
    def accuracy(self) -> float | None:
        """The mean accuracy over the sets with held-out occurrences."""
        accuracies = [one.accuracy for one in self.sets if one.accuracy is not None]
        return sum(accuracies) / len(accuracies) if accuracies else None

    @property
    def found(self) -> float | None:
        """The recall over all held-out occurrences, if errors are equally likely at each of them."""
        recalls = [(one.judged, one.found) for one in self.sets if one.found is not None]
        n_judged = sum(judged for judged, _ in recalls)
        return sum(judged * recall for judged, recall in recalls) / n_judged if n_judged else None

    @property
    def dropped_sets(self) -> tuple[tuple[RareWord, ...], ...]:
        """The rare words of each set that was dropped because fewer than two of its words are left."""
        return tuple(rare for rare in self._rare_by_set if len(rare) > len(rare[0].words) - 2)

    @property
    def dropped_words(self) -> tuple[RareWord, ...]:
        """The rare words of sets that were learned without them."""
        return tuple(
            word for rare in self._rare_by_set if len(rare) <= len(rare[0].words) - 2 for word in rare
        )

    @property
    def _rare_by_set(self) -> list[tuple[RareWord, ...]]:
        return [tuple(rare) for _, rare in groupby(self.left_out, key=lambda one: one.words)]

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> TrainingStatistics:
        """Restore statistics from the values of `to_dict`."""
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


class SpellerParts(NamedTuple):
    """The fields of a speller."""

    sets: tuple[LinearWordClassifier, ...]
    promise: FalseAlarmBound
    settings: SpellerSettings
    facts: TrainingStatistics


def to_file_content(parts: SpellerParts) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the description and the arrays to be stored."""
    meta = {
        "model": SPELLER_TYPE,
        "contexts": CONTEXTS_VERSION,
        "unicode": _core.UNICODE_VERSION,
        "sets": [{"words": list(one.words), "features": one.n_features} for one in parts.sets],
        "promise": asdict(parts.promise),
        "settings": asdict(parts.settings),
        "facts": asdict(parts.facts),
    }
    lengths = _concatenate([np.diff(one.names.offsets) for one in parts.sets], np.int64)
    return meta, {
        "base": _concatenate([one.intercept for one in parts.sets], np.float64),
        "names.text": _concatenate([one.names.text for one in parts.sets], np.uint8),
        # Most names are short enough for one byte, a quarter of a weight.
        "names.lengths": lengths.astype(np.min_scalar_type(int(lengths.max(initial=0)))),
        "weights": _concatenate([one.weights.reshape(-1) for one in parts.sets], np.float32),
    }


def _concatenate(arrays: Sequence[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *arrays]).astype(dtype, copy=False)


def read_speller(path: str | os.PathLike[str]) -> SpellerParts:
    """Read and validate a file; nothing in it is executed."""
    content = store.read(path)
    _check_is_speller(content)
    with store.report_damage(content.path):
        sets = _parse_classifiers(content)
        return SpellerParts(
            sets=sets,
            promise=_parse_bound(content.meta["promise"]),
            settings=SpellerSettings(**content.meta["settings"]),
            facts=_parse_statistics(content.meta["facts"], sets),
        )


def _check_is_speller(content: FileContent) -> None:
    model_type = content.meta.get("model")
    if model_type != SPELLER_TYPE:
        raise ModelFileError(
            f"{content.path} is a model for rows ({model_type}), not a speller.",
            hint=Step(
                "model instead of speller",
                f"Open it with weigh.load({content.path!r}), or give the file of a speller.",
            ),
        )
    versions = (content.meta.get("contexts"), content.meta.get("unicode"))
    if versions != (CONTEXTS_VERSION, _core.UNICODE_VERSION):
        raise ModelFileError(
            f"{content.path} was made by a version of weigh with other context features (version "
            f"{versions[0]}, "
            f"Unicode {versions[1]}; this one has version {CONTEXTS_VERSION}, Unicode "
            f"{_core.UNICODE_VERSION}). "
            f"Learn the speller again."
        )


def _parse_bound(plain: dict[str, Any]) -> FalseAlarmBound:
    bound = FalseAlarmBound.from_dict(plain)
    if not 0 <= bound.threshold <= 1:
        raise ValueError(f"threshold {bound.threshold!r}")
    if not (0 < bound.rate < math.inf and 0 < bound.promised < math.inf):
        raise ValueError(f"alarm rates {bound.rate!r} and {bound.promised!r}")
    return bound


def _parse_statistics(plain: dict[str, Any], sets: Sequence[LinearWordClassifier]) -> TrainingStatistics:
    statistics = TrainingStatistics.from_dict(plain)
    if [len(one.examples) for one in statistics.sets] != [len(one.words) for one in sets]:
        raise ValueError("statistics of other sets")
    rows = [(one.accuracy, one.majority, one.found, one.temperature) for one in statistics.sets]
    numbers = [statistics.found, *chain.from_iterable(rows)]
    if not all(math.isfinite(number) for number in numbers if number is not None):
        raise ValueError("statistics that are not finite")
    return statistics


def _parse_classifiers(content: FileContent) -> tuple[LinearWordClassifier, ...]:
    described = content.meta["sets"]
    words = ConfusionSets(tuple(tuple(map(str, one["words"])) for one in described), SPELLER_TYPE).sets
    intercept, weights = content.arrays["base"], content.arrays["weights"]
    if intercept.dtype != np.float64 or weights.dtype != np.float32 or not np.isfinite(weights).all():
        raise ValueError("weights that are not finite numbers")
    # The intercept of a word without training examples is −∞.
    if not (np.isneginf(intercept) | (np.abs(intercept) <= MAX_INTERCEPT)).all():
        raise ValueError("an intercept that is not a number")
    n_features = [int(one["features"]) for one in described]
    names = _parse_feature_names(content, n_features)
    intercepts = _split_exactly(intercept, [len(one) for one in words])
    if any(np.isneginf(one).all() for one in intercepts):
        raise ValueError("a set without any word that can be predicted")
    tables = _split_exactly(weights, [len(one) * n for one, n in zip(words, n_features, strict=True)])
    return tuple(
        LinearWordClassifier(*one[:3], one[3].reshape(-1, len(one[0])))
        for one in zip(words, intercepts, names, tables, strict=True)
    )


def _parse_feature_names(content: FileContent, n_features: list[int]) -> list[NameArray]:
    text, lengths = content.arrays["names.text"], content.arrays["names.lengths"]
    if lengths.dtype.kind != "u" or lengths.dtype.itemsize > 4 or lengths.ndim != 1:
        raise ValueError("name lengths that are not unsigned integers")
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    check_names(text, offsets, content.path)
    _split_exactly(lengths, n_features)
    return [
        NameArray(text[offsets[begin] : offsets[end]], offsets[begin : end + 1] - offsets[begin])
        for begin, end in pairwise(np.cumsum([0, *n_features]))
    ]


def _split_exactly(array: NDArray[Any], sizes: list[int]) -> list[NDArray[Any]]:
    """Split an array into parts of these sizes, which must add up to its length."""
    if array.ndim != 1 or min(sizes, default=0) < 0 or sum(sizes) != len(array):
        raise ValueError(f"{len(array):,} numbers instead of {sum(sizes):,}")
    return np.split(array, np.cumsum(sizes)[:-1]) if sizes else []
