"""The settings that a speller is learned with."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from weigh import errors
from weigh.apps.spelling.contexts import WIDEST, WINDOW
from weigh.features.settings import finite, whole

OWNER = "Speller"
KEPT = ("logistic", "naive-bayes", "bernoulli", "perceptron")  # the learners of which spellers are made
ALARMS = "a number above 0, of false alarms per 10,000 words"


@dataclass(frozen=True)
class Settings:
    """How a speller learns.

    Parameters
    ----------
    learner : "logistic", "naive-bayes", "bernoulli" or "perceptron"
    alarms : how many false alarms per 10,000 words of clean text are allowed
    window : how many words to each side are looked at
    features : how many features of each set are kept, the strongest ones
    at_least : how often a word must occur to be learned
    """

    learner: str = KEPT[0]
    alarms: float = 0.5
    window: int = WINDOW
    features: int = 4000
    at_least: int = 20

    def __post_init__(self) -> None:
        if self.learner not in KEPT:
            raise errors.parameter(OWNER, "learner", f"one of {errors.listing(KEPT)}", self.learner)
        if not finite(OWNER, "alarms", self.alarms, ALARMS) > 0:
            raise errors.parameter(OWNER, "alarms", ALARMS, self.alarms)
        for name, least in (("window", 0), ("features", 1), ("at_least", 1)):
            object.__setattr__(self, name, whole(OWNER, name, getattr(self, name), least))
        if self.window > WIDEST:
            raise errors.parameter(OWNER, "window", f"at most {WIDEST:,}", self.window)
        object.__setattr__(self, "alarms", float(self.alarms))

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain values."""
        return asdict(self)
