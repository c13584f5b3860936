"""What a speller knows of its own learning: how much it read, and how well each set went."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any


@dataclass(frozen=True)
class LeftOut:
    """A word that occurred too rarely to be learned, and the set that it was in."""

    word: str
    words: tuple[str, ...]
    examples: int


@dataclass(frozen=True)
class SetFacts:
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
class Facts:
    """What was read, which list of sets was asked for, and what became of each set."""

    words: int
    documents: int
    list_name: str
    sets: tuple[SetFacts, ...]
    left_out: tuple[LeftOut, ...] = ()

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
    def lost(self) -> tuple[tuple[LeftOut, ...], ...]:
        """The words left out of sets that have no two others, set by set: these sets were not learned."""
        return tuple(rare for rare in self._rare if len(rare) > len(rare[0].words) - 2)

    @property
    def shortened(self) -> tuple[LeftOut, ...]:
        """The words left out of sets that were learned without them."""
        return tuple(one for rare in self._rare if len(rare) <= len(rare[0].words) - 2 for one in rare)

    @property
    def _rare(self) -> list[tuple[LeftOut, ...]]:
        return [tuple(rare) for _, rare in groupby(self.left_out, key=lambda one: one.words)]

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain values."""
        return asdict(self)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Facts:
        """The facts that `to_dict` has made plain."""
        return cls(
            words=int(plain["words"]),
            documents=int(plain["documents"]),
            list_name=str(plain["list_name"]),
            sets=tuple(_set_facts(one) for one in plain["sets"]),
            left_out=tuple(
                LeftOut(str(one["word"]), tuple(map(str, one["words"])), int(one["examples"]))
                for one in plain["left_out"]
            ),
        )


def _set_facts(plain: dict[str, Any]) -> SetFacts:
    return SetFacts(
        examples=tuple(map(int, plain["examples"])),
        judged=int(plain["judged"]),
        accuracy=_share(plain["accuracy"]),
        majority=_share(plain["majority"]),
        found=_share(plain["found"]),
        temperature=float(plain["temperature"]),
    )


def _share(value: Any) -> float | None:
    return None if value is None else float(value)
