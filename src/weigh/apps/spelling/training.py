"""Learning a speller: choosers on a part of the text, a promise on the rest, then choosers on all of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import TypeVar

import numpy as np

from weigh import errors
from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.contexts import Corpus, Occurrences, Progress
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.false_alarms import MIN_TRAINING_WORDS, FalseAlarmBound
from weigh.apps.spelling.learners import majority_classifier, restrict_to_words, train_linear_classifier
from weigh.apps.spelling.speller import Speller
from weigh.apps.spelling.speller_data import RareWord, SetStatistics, SpellerSettings, TrainingStatistics
from weigh.features.blocks import Floats, Longs, Mask
from weigh.learn.calibration import CalibrationData, fit_temperature
from weigh.model.parallel import available_cores
from weigh.text import format_quantity

Result = TypeVar("Result")


def train_speller(
    documents: Iterable[Document],
    sets: ConfusionSets,
    settings: SpellerSettings,
    *,
    progress: Progress | None = None,
) -> Speller:
    """Return the speller that documents teach.

    They are read once. A fifth of the text is held out: on it the temperature of every set is found, and the
    threshold that keeps the promise. Then all of the text is learned, with the same temperatures and
    threshold. `progress` is called with the bytes of each piece that was read, and with 0 when a set was
    learned: once without what is held out, and once with it.
    """
    corpus = Corpus.read(documents, sets.sets, settings.window, progress)
    return train_on_corpus(corpus, sets.name, settings, progress=progress)


def train_on_corpus(
    corpus: Corpus, name: str, settings: SpellerSettings, *, progress: Progress | None = None
) -> Speller:
    """Return the speller that a corpus teaches; `name` is that of its list of sets."""
    _check_enough_text(corpus)
    kept, left_out = _select_common_words(corpus, settings.at_least)
    if not kept:
        raise _no_examples_error(corpus, name, settings)
    trials = _map_sets(partial(_evaluate_held_out, settings, corpus), kept, progress)
    doubts = np.concatenate([trial.alarm_probabilities for trial in trials])
    promise = FalseAlarmBound.for_rate(settings.alarms, doubts, corpus.n_held_out_words)
    if promise.shortfall_warning:
        warnings.warn(promise.shortfall_warning, errors.LittleText, stacklevel=2)
    made = _map_sets(partial(_train_set, settings), kept, progress)
    choosers = tuple(one.with_temperature(trial.temperature) for one, trial in zip(made, trials, strict=True))
    facts = tuple(
        trial.to_statistics(rows, promise.threshold) for trial, rows in zip(trials, kept, strict=True)
    )
    read = sum(number > 0 for number in corpus.document_words)
    # Where a list lies is nobody else's business, and would make equal spellers differ.
    listed = PurePath(name).name
    return Speller(
        choosers, promise, settings, TrainingStatistics(corpus.n_words, read, listed, facts, left_out)
    )


@dataclass(frozen=True, eq=False)
class _HeldOutResult:
    """What choosing came to on held-out text: right or not, how sure of what stood there, and of others."""

    temperature: float
    is_correct: Mask
    is_majority_correct: Mask
    written_probability: Floats
    alarm_probabilities: Floats

    def to_statistics(self, rows: Occurrences, threshold: float) -> SetStatistics:
        """Return what is told of a set, whose occurrences were all learned in the end."""
        judged = len(self.is_correct) * _sampling_weight(rows)
        shares = (self.is_correct, self.is_majority_correct, self.written_probability > threshold)
        accuracy, usual, found = (float(one.mean()) if len(one) else None for one in shares)
        return SetStatistics(
            tuple(_count_examples(rows).tolist()), judged, accuracy, usual, found, self.temperature
        )


def _evaluate_held_out(settings: SpellerSettings, corpus: Corpus, rows: Occurrences) -> _HeldOutResult:
    held = corpus.is_held_out(rows)
    taught, asked = rows.select(~held), rows.select(held)
    chooser = _train_set(settings, taught)
    temperature = _held_out_temperature(chooser, asked, settings.at_least)
    chances = chooser.with_temperature(temperature).predict_proba(asked)
    best = chances.argmax(axis=1)
    right = best == asked.members
    usual = majority_classifier(taught).predict_proba(asked).argmax(axis=1) == asked.members
    sure = chances[np.arange(len(asked)), asked.members]
    doubts = np.repeat(chances[~right, best[~right]], _sampling_weight(rows))
    return _HeldOutResult(temperature, right, usual, sure, doubts)


def _sampling_weight(rows: Occurrences) -> int:
    """Return for how many occurrences each one stands: for two where only half of them were kept."""
    return round(1 / rows.sampling_fraction)


def _count_examples(rows: Occurrences) -> Longs:
    """Return how often the text has each word of a set."""
    return np.bincount(rows.members, minlength=len(rows.words)) * _sampling_weight(rows)


def _train_set(settings: SpellerSettings, rows: Occurrences) -> LinearWordClassifier:
    return train_linear_classifier(settings.learner, rows, settings.features)


def _held_out_temperature(chooser: LinearWordClassifier, rows: Occurrences, at_least: int) -> float:
    """Return the temperature of least loss on held-out text; text that lacks a word makes nobody surer."""
    if not len(rows):
        return 1.0
    counts = np.bincount(rows.members, minlength=len(rows.words))
    scored = CalibrationData(chooser.scores(rows), rows.members.astype(np.intp), np.ones(len(rows)))
    found = 1.0 / fit_temperature(scored).map.slope
    return found if counts.min() >= at_least else max(1.0, found)


def _select_common_words(corpus: Corpus, at_least: int) -> tuple[list[Occurrences], tuple[RareWord, ...]]:
    """Return the occurrences of words that are common enough, and the words that are not.

    A word is to be learned before it is held out, so that it must also occur in what is not.
    """
    kept: list[Occurrences] = []
    left_out: list[RareWord] = []
    for rows in corpus.occurrences:
        examples = _count_examples(rows)
        taught = np.bincount(rows.members[~corpus.is_held_out(rows)], minlength=len(examples))
        enough = (examples >= at_least) & (taught > 0)
        for at in np.flatnonzero(~enough).tolist():
            left_out.append(RareWord(rows.words[at], rows.words, int(examples[at])))
        if enough.sum() > 1:
            kept.append(rows if enough.all() else restrict_to_words(rows, enough))
    return kept, tuple(left_out)


def _map_sets(
    make: Callable[[Occurrences], Result], sets: Sequence[Occurrences], progress: Progress | None
) -> list[Result]:
    """Return what is made of each set, in their order; sets are learned side by side, the largest first."""
    results: dict[int, Result] = {}
    order = sorted(range(len(sets)), key=lambda at: -len(sets[at]))
    with ThreadPoolExecutor(min(available_cores(), len(sets))) as pool:
        for at, result in zip(order, pool.map(make, [sets[at] for at in order]), strict=True):
            results[at] = result
            if progress is not None:
                progress(0)
    return [results[at] for at in range(len(sets))]


def _check_enough_text(corpus: Corpus) -> None:
    if corpus.n_words >= MIN_TRAINING_WORDS:
        return
    read = format_quantity(len(corpus.document_words), "document")
    if not corpus.n_words:
        raise errors.DataError(
            f"There is no text to learn from: {read}, and no word in them. Give files or folders of text."
        )
    raise errors.DataError(
        f"There is too little text to learn from: {format_quantity(corpus.n_words, 'word')} in {read}. A fifth is "
        f"held out, in blocks of 1,000 words, so that {MIN_TRAINING_WORDS:,} words are the least; a million is better."
    )


def _no_examples_error(corpus: Corpus, name: str, settings: SpellerSettings) -> errors.DataError:
    found = sum(int(_count_examples(rows).sum()) for rows in corpus.occurrences)
    seen = f"{format_quantity(found, 'occurrence')} of all its words" if found else "none of its words occurs"
    return errors.DataError(
        f"No set of {name!r} can be learned from {format_quantity(corpus.n_words, 'word')} of text: {seen}, and "
        f"two words of a set must occur {settings.at_least:,} times each. Give more text, or sets of words "
        f"that it has, or a smaller at_least."
    )
