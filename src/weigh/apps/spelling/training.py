"""Training a speller: calibrate and set the threshold on held-out text, then train on all of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import TypeVar

import numpy as np

from weigh import errors
from weigh.advice import Step
from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.contexts import Corpus, Occurrences, Progress
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.false_alarms import MIN_TRAINING_WORDS, FalseAlarmBound
from weigh.apps.spelling.learners import majority_classifier, restrict_to_words, train_linear_classifier
from weigh.apps.spelling.speller import Speller
from weigh.apps.spelling.speller_data import RareWord, SetStatistics, SpellerSettings, TrainingStatistics
from weigh.deduplicated_warnings import warn
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
    """Train a speller on documents, which are read once.

    A fifth of the text is held out. It determines the temperature of every set and the threshold that bounds
    the false alarms. Then the classifiers are trained again on all of the text, with these temperatures and
    this threshold. `progress` is called with the size of each piece read, and with 0 after each of the two
    trainings of a set.
    """
    corpus = Corpus.read(documents, sets.sets, settings.window, progress)
    return train_on_corpus(corpus, sets.name, settings, progress=progress)


def train_on_corpus(
    corpus: Corpus, name: str, settings: SpellerSettings, *, progress: Progress | None = None
) -> Speller:
    """Train a speller on the occurrences of a corpus; `name` is that of the list of confusion sets."""
    _check_enough_text(corpus)
    sets, rare_words = _select_common_words(corpus, settings.at_least)
    if not sets:
        raise _no_examples_error(corpus, name, settings)
    results = _map_sets(partial(_evaluate_held_out, settings, corpus), sets, progress)
    alarm_probabilities = np.concatenate([result.alarm_probabilities for result in results])
    bound = FalseAlarmBound.for_rate(settings.alarms, alarm_probabilities, corpus.n_held_out_words)
    if bound.shortfall_warning:
        warn(errors.LittleText(bound.shortfall_warning))
    trained = _map_sets(partial(_train_set, settings), sets, progress)
    classifiers = tuple(
        classifier.with_temperature(result.temperature)
        for classifier, result in zip(trained, results, strict=True)
    )
    set_statistics = tuple(
        result.to_statistics(rows, bound.threshold) for result, rows in zip(results, sets, strict=True)
    )
    n_documents = sum(n_words > 0 for n_words in corpus.document_words)
    # Only the file name: the folder is private, and equal spellers must not differ by it.
    list_name = PurePath(name).name
    statistics = TrainingStatistics(corpus.n_words, n_documents, list_name, set_statistics, rare_words)
    return Speller(classifiers, bound, settings, statistics)


@dataclass(frozen=True, eq=False)
class _HeldOutResult:
    """The predictions of one set's classifier for its held-out occurrences.

    `alarm_probabilities` are the probabilities of the wrong predictions.
    """

    temperature: float
    is_correct: Mask
    is_majority_correct: Mask
    written_probability: Floats
    alarm_probabilities: Floats

    def to_statistics(self, rows: Occurrences, threshold: float) -> SetStatistics:
        """Return the statistics of the set with these occurrences, held out or not."""
        n_judged = len(self.is_correct) * _sampling_weight(rows)
        masks = (self.is_correct, self.is_majority_correct, self.written_probability > threshold)
        accuracy, majority, recall = (float(mask.mean()) if len(mask) else None for mask in masks)
        examples = tuple(_count_examples(rows).tolist())
        return SetStatistics(examples, n_judged, accuracy, majority, recall, self.temperature)


def _evaluate_held_out(settings: SpellerSettings, corpus: Corpus, rows: Occurrences) -> _HeldOutResult:
    is_held_out = corpus.is_held_out(rows)
    train, test = rows.select(~is_held_out), rows.select(is_held_out)
    classifier = _train_set(settings, train)
    temperature = _held_out_temperature(classifier, test, settings.at_least)
    probabilities = classifier.with_temperature(temperature).predict_proba(test)
    best = probabilities.argmax(axis=1)
    is_correct = best == test.members
    return _HeldOutResult(
        temperature,
        is_correct,
        is_majority_correct=majority_classifier(train).predict_proba(test).argmax(axis=1) == test.members,
        written_probability=probabilities[np.arange(len(test)), test.members],
        alarm_probabilities=np.repeat(probabilities[~is_correct, best[~is_correct]], _sampling_weight(rows)),
    )


def _sampling_weight(rows: Occurrences) -> int:
    """Return the number of occurrences in the text per occurrence kept."""
    return round(1 / rows.sampling_fraction)


def _count_examples(rows: Occurrences) -> Longs:
    """Return the number of occurrences in the text of each word of a set."""
    return np.bincount(rows.members, minlength=len(rows.words)) * _sampling_weight(rows)


def _train_set(settings: SpellerSettings, rows: Occurrences) -> LinearWordClassifier:
    return train_linear_classifier(settings.learner, rows, settings.features)


def _held_out_temperature(classifier: LinearWordClassifier, rows: Occurrences, at_least: int) -> float:
    """Return the temperature with the smallest log loss on held-out text.

    If a word has too few held-out occurrences, the temperature is at least 1: never more confident than
    trained.
    """
    if not len(rows):
        return 1.0
    counts = np.bincount(rows.members, minlength=len(rows.words))
    data = CalibrationData(classifier.scores(rows), rows.members.astype(np.intp), np.ones(len(rows)))
    temperature = 1.0 / fit_temperature(data).map.slope
    return temperature if counts.min() >= at_least else max(1.0, temperature)


def _select_common_words(corpus: Corpus, at_least: int) -> tuple[list[Occurrences], tuple[RareWord, ...]]:
    """Return the occurrences of the words that are frequent enough, and the words that are not.

    A word must also occur in the text that is not held out, so that it can be learned at all.
    """
    sets: list[Occurrences] = []
    rare_words: list[RareWord] = []
    for rows in corpus.occurrences:
        examples = _count_examples(rows)
        n_training = np.bincount(rows.members[~corpus.is_held_out(rows)], minlength=len(examples))
        is_common = (examples >= at_least) & (n_training > 0)
        for member in np.flatnonzero(~is_common).tolist():
            rare_words.append(RareWord(rows.words[member], rows.words, int(examples[member])))
        if is_common.sum() > 1:
            sets.append(rows if is_common.all() else restrict_to_words(rows, is_common))
    return sets, tuple(rare_words)


def _map_sets(
    function: Callable[[Occurrences], Result], sets: Sequence[Occurrences], progress: Progress | None
) -> list[Result]:
    """Apply a function to every set in parallel, largest first; results keep the order of the sets."""
    results: dict[int, Result] = {}
    order = sorted(range(len(sets)), key=lambda i: -len(sets[i]))
    with ThreadPoolExecutor(min(available_cores(), len(sets))) as pool:
        for i, result in zip(order, pool.map(function, [sets[i] for i in order]), strict=True):
            results[i] = result
            if progress is not None:
                progress(0)
    return [results[i] for i in range(len(sets))]


def _check_enough_text(corpus: Corpus) -> None:
    if corpus.n_words >= MIN_TRAINING_WORDS:
        return
    documents = format_quantity(len(corpus.document_words), "document")
    if not corpus.n_words:
        raise errors.DataError(
            f"There is no text to learn from: no words in {documents}. Give files or folders of text."
        )
    raise errors.DataError(
        f"There is too little text to learn from: {format_quantity(corpus.n_words, 'word')} in {documents}. "
        "At least "
        f"{MIN_TRAINING_WORDS:,} words are needed, because a fifth is held out in blocks of 1,000 words; a "
        "million "
        "is better."
    )


def _no_examples_error(corpus: Corpus, name: str, settings: SpellerSettings) -> errors.DataError:
    n_examples = sum(int(_count_examples(rows).sum()) for rows in corpus.occurrences)
    counted = (
        f"{format_quantity(n_examples, 'occurrence')} in all" if n_examples else "none of its words occurs"
    )
    return errors.DataError(
        f"No set of {name!r} can be learned from {format_quantity(corpus.n_words, 'word')} of text: "
        f"{counted}, and two words of a set must occur at least {settings.at_least:,} times each.",
        hint=(
            "Give more text, sets of words that occur in it, or a smaller ",
            Step("minimum of occurrences", "at_least"),
            ".",
        ),
    )
