"""What is odd about mail that is learned or tried, told on standard error."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Set

from weigh.cli.mail.sides import HAM, SPAM
from weigh.cli.told import Told, tell
from weigh.text import amount, counted

# The line of an mbox, or a field; the address of a page is none.
_HEADER = re.compile(rb">?From |[A-Za-z][\w.-]*[ \t]*:(?!//)")
_EDGE = 512  # bytes at both ends that tell mails apart


class Noted:
    """Mails on their way to a learner: how many have no headers, and how many come as both kinds."""

    def __init__(self) -> None:
        self._mails = self._headless = 0
        self._sides: dict[str, set[Hashable]] = {}

    def passing(self, side: str, contents: Iterable[bytes]) -> Iterator[bytes]:
        """The mails of a side, noted as they pass."""
        seen = self._sides.setdefault(side, set())
        for content in contents:
            self._mails += 1
            self._headless += not _HEADER.match(content)
            # Mails are too large to be kept, or hashed as a whole for no more than a note.
            seen.add(hash((len(content), content[:_EDGE], content[-_EDGE:])))
            yield content

    def tell(self) -> None:
        """Tell what is odd."""
        if self._headless:
            do = "does" if self._headless == 1 else "do"
            note(
                f"{amount(self._headless)} of {counted(self._mails, 'message')} {do} not begin with headers. "
                "Are they mail? Take them back with: weigh mail unlearn PATH"
            )
        tell_both(self._sides, "What was learned last counts.")


def tell_both(sides: Mapping[str, Set[Hashable]], so: str) -> None:
    """Tell how many mails are of both kinds, and what follows."""
    both = len(sides.get(SPAM, set()) & sides.get(HAM, set()))
    if both:
        was = "was" if both == 1 else "were"
        note(f"{counted(both, 'mail')} {was} given as both spam and ham. {so}")


def note(sentence: str) -> None:
    """Say a sentence on standard error."""
    tell(Told(sentence))
