"""Mail that is learned and unlearned, and how much of it there was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from weigh.apps.mail.learners import LEARNERS
from weigh.apps.mail.results import Learned, Unlearned
from weigh.cli.mail.noted import Noted
from weigh.cli.mail.sides import look_for_some
from weigh.cli.stages import stages

if TYPE_CHECKING:
    from weigh.apps.mail.store import MailStore
    from weigh.source.mail import Stored

# How many mails are learned before it is the other side's turn, where the order matters.
TURN = 8


@dataclass(frozen=True)
class Lesson:
    """What was learned of each side."""

    sides: Mapping[str, Learned]

    def to_dict(self) -> dict[str, Any]:
        """The counts for JSON."""
        return {side: learned.to_dict() for side, learned in self.sides.items()}

    def __str__(self) -> str:
        return "\n".join(f"{side + ':':<5} {learned}" for side, learned in self.sides.items())


class Teacher:
    """Mail of each side, all of which is found before any is learned."""

    def __init__(self, given: Mapping[str, Sequence[str]]) -> None:
        self._paths = {side: paths for side, paths in given.items() if paths}
        self.noted = Noted()
        self._looks = {side: look_for_some(paths) for side, paths in self._paths.items()}

    def teach(self, store: MailStore) -> Lesson:
        """Learn all mail."""
        told = {side: Learned() for side in self._paths}
        with stages() as say:
            for side, contents in self._turns(store.settings.learner):
                before = sum(each.messages for each in told.values())
                told[side] += store.learn(contents, side, progress=_counting(say, before), tidy=False)
            store.tidy()
        return Lesson(told)

    def _turns(self, learner: str) -> Iterator[tuple[str, Iterator[bytes]]]:
        """The sides with what is to be learned of them: one after the other, or in turns.

        A learner that goes by order would remember most of the side that came last.
        """
        contents = {side: self.noted.passing(side, _contents(look)) for side, look in self._looks.items()}
        if LEARNERS[learner].is_ordered and len(contents) > 1:
            sizes = {side: sum(1 for _ in look()) for side, look in self._looks.items()}
            rounds = min(sizes.values()) // TURN
            for at in range(rounds):
                for side, size in sizes.items():
                    yield side, islice(contents[side], size * (at + 1) // rounds - size * at // rounds)
        yield from contents.items()


def unteach(store: MailStore, paths: Sequence[str]) -> Unlearned:
    """Unlearn all mail that paths lead to."""
    contents = _contents(look_for_some(paths))
    with stages() as say:
        return store.unlearn(contents, progress=_counting(say))


def _contents(look: Callable[[], Iterator[Stored]]) -> Iterator[bytes]:
    # Not an expression: standard input is kept as long as there is a way to look at it.
    for each in look():
        yield each.content


def _counting(say: Callable[[str], None], before: int = 0) -> Callable[[int], None]:
    return lambda done: say(f"{before + done:,} mails")
