"""Learners side by side: how often each chooses the right word of every set, on text held out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.apps.spelling.confusion import ConfusionSets
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.learners import LEARNERS
from weigh.apps.spelling.trial import compare_text
from weigh.apps.spelling.trial.scoring import MAJORITY, Hits, error_over_sets, hits, share_of
from weigh.apps.spelling.trial.texts import checked_learners, read
from weigh.judge.measures.losses import Floats
from weigh.judge.measures.measure import Measure
from weigh.text import plain

OWNER = "compared"


@dataclass(frozen=True)
class SetResult:
    """What was found of one set: occurrences learned and judged, and the hits of each learner."""

    words: tuple[str, ...]
    learned: int
    judged: int
    hits: dict[str, Hits]

    @property
    def name(self) -> str:
        """The words as people name a set."""
        return "/".join(self.words)

    def accuracy(self, learner: str) -> float:
        """The share of right choices; nan where nothing was judged."""
        return self.hits[learner].right / self.judged if self.judged else math.nan

    def measure(self, learner: str) -> Measure:
        """The share of right choices with its exact 95 % interval."""
        return share_of(learner, self.hits[learner].right, self.judged)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "words": list(self.words),
            "learned": self.learned,
            "judged": self.judged,
            "learners": [
                {**self.measure(name).to_dict(), "right": each.right, "features": each.features}
                for name, each in self.hits.items()
            ],
        }


@dataclass(frozen=True, eq=False, repr=False)
class LearnerComparison:
    """The result of `compared`; prints within 80 columns.

    `learners` begin with the majority, which always writes the commonest word of a set. Means are over the
    sets of which something was judged, each with the same weight; by occurrence, frequent sets count more.
    """

    sets: tuple[SetResult, ...]
    learners: tuple[str, ...]
    learned_words: int
    judged_words: int
    learned_documents: int
    judged_documents: int

    @property
    def judged(self) -> tuple[SetResult, ...]:
        """The sets of which something was judged."""
        return tuple(each for each in self.sets if each.judged)

    def accuracies(self, learner: str) -> Floats:
        """The accuracy of a learner for each set judged."""
        return np.array([each.accuracy(learner) for each in self.judged])

    def mean(self, learner: str) -> float:
        """The mean over the sets."""
        return float(self.accuracies(learner).mean())

    def by_occurrence(self, learner: str) -> float:
        """The share of all occurrences that were right."""
        return sum(each.hits[learner].right for each in self.judged) / sum(s.judged for s in self.judged)

    def gain(self, learner: str) -> tuple[float, float]:
        """How far the mean is above that of the majority, and the standard error of it over the sets."""
        more = self.accuracies(learner) - self.accuracies(MAJORITY)
        return float(more.mean()), float(error_over_sets(more))

    @property
    def best(self) -> str:
        """The learner with the highest mean over the sets; the first of equals."""
        return max(self.learners[1:], key=self.mean)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "learned_words": self.learned_words,
            "judged_words": self.judged_words,
            "learned_documents": self.learned_documents,
            "judged_documents": self.judged_documents,
            "best": self.best,
            "learners": [
                {
                    "name": name,
                    "mean": self.mean(name),
                    "by_occurrence": self.by_occurrence(name),
                    "gain": self.gain(name)[0],
                    "gain_error": plain(self.gain(name)[1]),
                }
                for name in self.learners
            ],
            "sets": [each.to_dict() for each in self.sets],
        }

    def plot(self) -> Any:
        """Draw the accuracy of the best learner and of the majority for every set, with their intervals."""
        from weigh.pictures import intervals

        return intervals(
            compare_text.drawn(self),
            x="accuracy on text held out",
            title=f"{self.best} and majority, the commonest word, by set",
            what="sets",
            most=compare_text.DRAWN,
        )

    def __str__(self) -> str:
        return compare_text.text(self)

    def __repr__(self) -> str:
        return compare_text.headline(self)

    def _repr_html_(self) -> str:
        return compare_text.markup(self)


def compared(
    documents: Iterable[Document],
    held: Iterable[Document] | None = None,
    sets: Any = "english",
    learners: Sequence[str] = LEARNERS,
    *,
    window: int = 6,
    progress: Callable[[int, int], None] | None = None,
) -> LearnerComparison:
    """Learn every set with every learner, and count right choices on text held out.

    Parameters
    ----------
    documents : texts to learn from
    held : texts to judge by; None holds out the last sixth of the documents
    sets : confusion sets, or what `ConfusionSets.given` takes
    learners : names of learners
    window : words seen on each side
    progress : called with the steps done and all steps, one for each set and learner
    """
    names = (MAJORITY, *checked_learners(learners, OWNER))
    chosen = ConfusionSets.given(sets)
    texts = read(documents, held, chosen.sets, window, OWNER)
    found, done, total = [], 0, len(chosen.sets) * len(names)
    for at, words in enumerate(chosen.sets):
        train, test = texts.to_learn(at), texts.to_judge(at)
        scores = {}
        for name in names:
            scores[name] = hits(name, train, test)
            done += 1
            if progress is not None:
                progress(done, total)
        found.append(SetResult(tuple(words), len(train), len(test), scores))
    return LearnerComparison(
        tuple(found),
        names,
        int(texts.learnable.sum()),
        int(texts.held.sum()),
        len(texts.learnable),
        len(texts.held),
    )
