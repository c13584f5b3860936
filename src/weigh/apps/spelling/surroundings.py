"""The words around an occurrence as the text writes them, where features have them without capitals."""

from __future__ import annotations

import re
from dataclasses import dataclass

_REACH = 256  # bytes to each side; a word that is farther is told without its capitals
_WORD = re.compile(r"(?:[^\W_]|_\w)(?:\w|['’](?=[^\W_]))*")


@dataclass(frozen=True)
class Surroundings:
    """The nearest words before and after a place, as they are written, by what features call them."""

    before: dict[str, str]
    after: dict[str, str]

    @classmethod
    def of(cls, prose: bytes, begin: int, end: int) -> Surroundings:
        """Return the surroundings of the bytes from `begin` to `end`."""
        before, after = _words(prose[max(begin - _REACH, 0) : begin]), _words(prose[end : end + _REACH])
        return cls(_by_name(before), _by_name(after[::-1]))

    def written(self, feature: str) -> str:
        """Return the words that a feature names, as the text writes them."""
        kind, _, seen = feature.partition(":")
        words = seen.split(" ")
        if kind == "around":
            return f"{self.before.get(words[0], words[0])} _ {self.after.get(words[-1], words[-1])}"
        near = {"before": self.before, "after": self.after}.get(kind.rstrip("2"), self.after | self.before)
        return " ".join(near.get(word, word) for word in words)


def _words(text: bytes) -> list[str]:
    return _WORD.findall(text.decode("utf-8", "ignore"))


def _by_name(words: list[str]) -> dict[str, str]:
    """Words by what features call them; of those that are one to them, the last."""
    return {word.lower().replace("’", "'"): word for word in words}
