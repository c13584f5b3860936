"""How often a learner chooses the word that was written."""

from __future__ import annotations

from typing import NamedTuple

from weigh.apps.spelling.contexts import Occurrences
from weigh.apps.spelling.learners import learned, majority

MAJORITY = "majority"


class Hits(NamedTuple):
    """How many occurrences a learner got right, and how many features it keeps."""

    right: int
    features: int


def hits(learner: str, train: Occurrences, test: Occurrences) -> Hits:
    """Learn from some occurrences and choose a word for others; the majority is the commonest word."""
    chooser = majority(train) if learner == MAJORITY else learned(learner, train)
    return Hits(int((chooser.chances(test).argmax(axis=1) == test.members).sum()), chooser.size)
