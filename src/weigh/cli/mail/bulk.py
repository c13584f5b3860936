"""Mail that is learned and unlearned, and how much of it there was."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from weigh.apps.mail.learners import LEARNERS
from weigh.apps.mail.results import LearnResult, UnlearnResult
from weigh.apps.mail.store import prefetch
from weigh.cli.mail.spam_ham_options import HAM, SPAM, nonempty_mail_reader
from weigh.cli.output import CliError, show_error, show_stages
from weigh.source.mail import batches, messages
from weigh.text import format_clipped_probability, format_count, format_quantity

if TYPE_CHECKING:
    from weigh.apps.mail.store import MailStore
    from weigh.apps.mail.verdict import Verdict
    from weigh.source.mail import RawMessage

# How many mails are learned before it is the other side's turn, where the order matters.
ROUND_SIZE = 8


@dataclass(frozen=True)
class LearnSummary:
    """What was learned of each side."""

    by_label: Mapping[str, LearnResult]

    def to_dict(self) -> dict[str, Any]:
        """The counts for JSON."""
        return {side: learned.to_dict() for side, learned in self.by_label.items()}

    def __str__(self) -> str:
        return "\n".join(f"{side + ':':<5} {learned}" for side, learned in self.by_label.items())


class BulkLearner:
    """Mail of each side, all of which is found before any is learned."""

    def __init__(self, given: Mapping[str, Sequence[str]]) -> None:
        self._paths = {side: paths for side, paths in given.items() if paths}
        self.input_check = InputCheck()
        self._readers = {side: nonempty_mail_reader(paths) for side, paths in self._paths.items()}

    def learn_all(self, store: MailStore) -> LearnSummary:
        """Learn all mail."""
        told = {side: LearnResult() for side in self._paths}
        with show_stages() as say:
            for side, contents in self._rounds(store.settings.learner):
                before = sum(each.messages for each in told.values())
                told[side] += store.learn(
                    contents, side, progress=_progress_callback(say, before), tidy=False
                )
            store.tidy()
        return LearnSummary(told)

    def _rounds(self, learner: str) -> Iterator[tuple[str, Iterator[bytes]]]:
        """The sides with what is to be learned of them: one after the other, or in turns.

        A learner that goes by order would remember most of the side that came last.
        """
        contents = {
            side: self.input_check.observe(side, _message_contents(look))
            for side, look in self._readers.items()
        }
        if LEARNERS[learner].is_ordered and len(contents) > 1:
            sizes = {side: sum(1 for _ in look()) for side, look in self._readers.items()}
            rounds = min(sizes.values()) // ROUND_SIZE
            for at in range(rounds):
                for side, size in sizes.items():
                    yield side, islice(contents[side], size * (at + 1) // rounds - size * at // rounds)
        yield from contents.items()


def unlearn_all(store: MailStore, paths: Sequence[str]) -> UnlearnResult:
    """Unlearn all mail that paths lead to."""
    contents = _message_contents(nonempty_mail_reader(paths))
    with show_stages() as say:
        return store.unlearn(contents, progress=_progress_callback(say))


def _message_contents(look: Callable[[], Iterator[RawMessage]]) -> Iterator[bytes]:
    # Not an expression: standard input is kept as long as there is a way to look at it.
    for each in look():
        yield each.content


def _progress_callback(say: Callable[[str], None], before: int = 0) -> Callable[[int], None]:
    return lambda done: say(f"{before + done:,} mails")


# The line of an mbox, or a field; the address of a page is none.
_HEADER_LINE = re.compile(rb">?From |[A-Za-z][\w.-]*[ \t]*:(?!//)")
_FINGERPRINT_BYTES = 512  # bytes at both ends that tell mails apart


class InputCheck:
    """Mails on their way to a learner: how many have no headers, and how many come as both kinds."""

    def __init__(self) -> None:
        self._n_mails = self._n_headless = 0
        self._fingerprints: dict[str, set[Hashable]] = {}

    def observe(self, side: str, contents: Iterable[bytes]) -> Iterator[bytes]:
        """The mails of a side, noted as they pass."""
        seen = self._fingerprints.setdefault(side, set())
        for content in contents:
            self._n_mails += 1
            self._n_headless += not _HEADER_LINE.match(content)
            # Mails are too large to be kept, or hashed as a whole for no more than a note.
            seen.add(hash((len(content), content[:_FINGERPRINT_BYTES], content[-_FINGERPRINT_BYTES:])))
            yield content

    def print_notes(self) -> None:
        """Tell what is odd."""
        if self._n_headless:
            do = "does" if self._n_headless == 1 else "do"
            print_note(
                f"{format_count(self._n_headless)} of {format_quantity(self._n_mails, 'message')} {do} not begin with headers. "
                "Are they mail? Take them back with: weigh mail unlearn PATH"
            )
        print_conflicting_labels(self._fingerprints, "What was learned last counts.")


def print_conflicting_labels(sides: Mapping[str, Set[Hashable]], so: str) -> None:
    """Tell how many mails are of both kinds, and what follows."""
    both = len(sides.get(SPAM, set()) & sides.get(HAM, set()))
    if both:
        was = "was" if both == 1 else "were"
        print_note(f"{format_quantity(both, 'mail')} {was} given as both spam and ham. {so}")


def print_note(sentence: str) -> None:
    """Say a sentence on standard error."""
    show_error(CliError(sentence))


def format_verdicts(store: MailStore, paths: Sequence[str], as_json: bool) -> Iterator[str]:
    """Verdict, probability and place of every message that paths lead to."""
    row, done = _verdict_json if as_json else _verdict_line, 0
    with show_stages() as say:
        judged = prefetch(
            lambda batch: (batch, store.judge([each.content for each in batch])), batches(messages(paths))
        )
        for batch, verdicts in judged:
            yield from (row(verdict, each.place) for verdict, each in zip(verdicts, batch, strict=True))
            done += len(batch)
            say(f"{done:,} messages")


def _verdict_line(verdict: Verdict, place: str) -> str:
    return f"{verdict.label:<6}  {format_clipped_probability(verdict.probability)}  {place}"


def _verdict_json(verdict: Verdict, place: str) -> str:
    return json.dumps({**verdict.to_dict(), "place": place}, ensure_ascii=False)
