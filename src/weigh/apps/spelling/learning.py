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
from weigh.apps.spelling.chooser import LinearChooser
from weigh.apps.spelling.confusion import ConfusionSets
from weigh.apps.spelling.contexts import Occurrences
from weigh.apps.spelling.corpus import Corpus, Progress
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.facts import Facts, LeftOut, SetFacts
from weigh.apps.spelling.learners import among, learned_weights, majority
from weigh.apps.spelling.promise import LEAST, Promise
from weigh.apps.spelling.settings import Settings
from weigh.apps.spelling.speller import Speller
from weigh.features.blocks import Floats, Longs, Mask
from weigh.learn.calibration import Scored, fit_temperature
from weigh.model.pipeline import cores
from weigh.text import counted

Result = TypeVar("Result")


def learn(
    documents: Iterable[Document],
    sets: ConfusionSets,
    settings: Settings,
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
    return taught(corpus, sets.name, settings, progress=progress)


def taught(corpus: Corpus, name: str, settings: Settings, *, progress: Progress | None = None) -> Speller:
    """Return the speller that a corpus teaches; `name` is that of its list of sets."""
    _require_text(corpus)
    kept, left_out = _common(corpus, settings.at_least)
    if not kept:
        raise _no_examples(corpus, name, settings)
    trials = _each(partial(_tried, settings, corpus), kept, progress)
    doubts = np.concatenate([trial.doubts for trial in trials])
    promise = Promise.kept(settings.alarms, doubts, corpus.n_held)
    if promise.doubt:
        warnings.warn(promise.doubt, errors.LittleText, stacklevel=2)
    made = _each(partial(_learned, settings), kept, progress)
    choosers = tuple(one.tempered(trial.temperature) for one, trial in zip(made, trials, strict=True))
    facts = tuple(trial.facts(rows, promise.threshold) for trial, rows in zip(trials, kept, strict=True))
    read = sum(number > 0 for number in corpus.words)
    # Where a list lies is nobody else's business, and would make equal spellers differ.
    listed = PurePath(name).name
    return Speller(choosers, promise, settings, Facts(corpus.n_words, read, listed, facts, left_out))


@dataclass(frozen=True, eq=False)
class _Trial:
    """What choosing came to on held-out text: right or not, how sure of what stood there, and of others."""

    temperature: float
    right: Mask
    usual: Mask
    sure: Floats
    doubts: Floats

    def facts(self, rows: Occurrences, threshold: float) -> SetFacts:
        """Return what is told of a set, whose occurrences were all learned in the end."""
        judged = len(self.right) * _weight(rows)
        shares = (self.right, self.usual, self.sure > threshold)
        accuracy, usual, found = (float(one.mean()) if len(one) else None for one in shares)
        return SetFacts(tuple(_examples(rows).tolist()), judged, accuracy, usual, found, self.temperature)


def _tried(settings: Settings, corpus: Corpus, rows: Occurrences) -> _Trial:
    held = corpus.held(rows)
    taught, asked = rows.where(~held), rows.where(held)
    chooser = _learned(settings, taught)
    temperature = _temperature(chooser, asked, settings.at_least)
    chances = chooser.tempered(temperature).chances(asked)
    best = chances.argmax(axis=1)
    right = best == asked.members
    usual = majority(taught).chances(asked).argmax(axis=1) == asked.members
    sure = chances[np.arange(len(asked)), asked.members]
    doubts = np.repeat(chances[~right, best[~right]], _weight(rows))
    return _Trial(temperature, right, usual, sure, doubts)


def _weight(rows: Occurrences) -> int:
    """Return for how many occurrences each one stands: for two where only half of them were kept."""
    return round(1 / rows.taken)


def _examples(rows: Occurrences) -> Longs:
    """Return how often the text has each word of a set."""
    return np.bincount(rows.members, minlength=len(rows.words)) * _weight(rows)


def _learned(settings: Settings, rows: Occurrences) -> LinearChooser:
    return learned_weights(settings.learner, rows, settings.features)


def _temperature(chooser: LinearChooser, rows: Occurrences, at_least: int) -> float:
    """Return the temperature of least loss on held-out text; text that lacks a word makes nobody surer."""
    if not len(rows):
        return 1.0
    counts = np.bincount(rows.members, minlength=len(rows.words))
    scored = Scored(chooser.scores(rows), rows.members.astype(np.intp), np.ones(len(rows)))
    found = 1.0 / fit_temperature(scored).map.slope
    return found if counts.min() >= at_least else max(1.0, found)


def _common(corpus: Corpus, at_least: int) -> tuple[list[Occurrences], tuple[LeftOut, ...]]:
    """Return the occurrences of words that are common enough, and the words that are not.

    A word is to be learned before it is held out, so that it must also occur in what is not.
    """
    kept: list[Occurrences] = []
    left_out: list[LeftOut] = []
    for rows in corpus.sets:
        examples = _examples(rows)
        taught = np.bincount(rows.members[~corpus.held(rows)], minlength=len(examples))
        enough = (examples >= at_least) & (taught > 0)
        for at in np.flatnonzero(~enough).tolist():
            left_out.append(LeftOut(rows.words[at], rows.words, int(examples[at])))
        if enough.sum() > 1:
            kept.append(rows if enough.all() else among(rows, enough))
    return kept, tuple(left_out)


def _each(
    make: Callable[[Occurrences], Result], sets: Sequence[Occurrences], progress: Progress | None
) -> list[Result]:
    """Return what is made of each set, in their order; sets are learned side by side, the largest first."""
    results: dict[int, Result] = {}
    order = sorted(range(len(sets)), key=lambda at: -len(sets[at]))
    with ThreadPoolExecutor(min(cores(), len(sets))) as pool:
        for at, result in zip(order, pool.map(make, [sets[at] for at in order]), strict=True):
            results[at] = result
            if progress is not None:
                progress(0)
    return [results[at] for at in range(len(sets))]


def _require_text(corpus: Corpus) -> None:
    if corpus.n_words >= LEAST:
        return
    read = counted(len(corpus.words), "document")
    if not corpus.n_words:
        raise errors.DataError(
            f"There is no text to learn from: {read}, and no word in them. Give files or folders of text."
        )
    raise errors.DataError(
        f"There is too little text to learn from: {counted(corpus.n_words, 'word')} in {read}. A fifth is "
        f"held out, in blocks of 1,000 words, so that {LEAST:,} words are the least; a million is better."
    )


def _no_examples(corpus: Corpus, name: str, settings: Settings) -> errors.DataError:
    found = sum(int(_examples(rows).sum()) for rows in corpus.sets)
    seen = f"{counted(found, 'occurrence')} of all its words" if found else "none of its words occurs"
    return errors.DataError(
        f"No set of {name!r} can be learned from {counted(corpus.n_words, 'word')} of text: {seen}, and "
        f"two words of a set must occur {settings.at_least:,} times each. Give more text, or sets of words "
        f"that it has, or a smaller at_least."
    )
