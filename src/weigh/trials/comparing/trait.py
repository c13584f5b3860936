"""The questions that one asks of a learner, and their answers in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Traits:
    """What a learner can express, and how it finds it."""

    hypothesis_space: str
    expressiveness: str
    strategy: str
    form: str
    learning: str
    scoring: str
    search: str
    cost: str
    guarantee: str

    def to_dict(self) -> dict[str, str]:
        """The traits for JSON."""
        return asdict(self)
