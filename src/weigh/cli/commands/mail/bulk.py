"""Learning, unlearning and judging of many mails, with progress and notes on odd input."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from weigh.apps.mail.learners import LEARNERS
from weigh.apps.mail.results import LearnResult, UnlearnResult
from weigh.apps.mail.store import prefetch
from weigh.cli.commands.mail.spam_ham_options import HAM, SPAM, nonempty_mail_reader
from weigh.cli.output.text import CliError, show_error, show_stages, to_json_text
from weigh.source.mail.mailboxes import messages
from weigh.source.mail.raw_message import batches
from weigh.text import format_clipped_probability, format_count, format_quantity

if TYPE_CHECKING:
    from weigh.apps.mail.store import MailStore
    from weigh.apps.mail.verdict import Verdict
    from weigh.source.mail.raw_message import RawMessage

# Mails of the rarer label per round, where the order matters and labels alternate.
ROUND_SIZE = 8
# An mbox "From " line or a header field, but not a URL.
_HEADER_LINE = re.compile(rb">?From |[A-Za-z][\w.-]*[ \t]*:(?!//)")
_FINGERPRINT_BYTES = 512  # taken from both ends of a mail


@dataclass(frozen=True)
class LearnSummary:
    """The counts of learned messages by label."""

    by_label: Mapping[str, LearnResult]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values for JSON."""
        return {label: result.to_dict() for label, result in self.by_label.items()}

    def __str__(self) -> str:
        return "\n".join(f"{label + ':':<5} {result}" for label, result in self.by_label.items())


class BulkLearner:
    """Learns the mail at paths by label; all paths are checked before any mail is learned."""

    def __init__(self, paths_by_label: Mapping[str, Sequence[str]]) -> None:
        self.input_check = InputCheck()
        self._readers = {
            label: nonempty_mail_reader(paths) for label, paths in paths_by_label.items() if paths
        }

    def learn_all(self, store: MailStore) -> LearnSummary:
        """Learn all mail into a store."""
        results = {label: LearnResult() for label in self._readers}
        with show_stages() as show:
            for label, contents in self._rounds(store.settings.learner):
                done = sum(result.messages for result in results.values())
                results[label] += store.learn(
                    contents, label, progress=_progress_callback(show, done), tidy=False
                )
            store.tidy()
        return LearnSummary(results)

    def _rounds(self, learner: str) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Generate labels with messages to learn: each label at once, or both alternating in rounds.

        A learner that depends on the order would give too much weight to the label that comes last.
        """
        contents = {
            label: self.input_check.observe(label, _message_contents(read))
            for label, read in self._readers.items()
        }
        if LEARNERS[learner].is_ordered and len(contents) > 1:
            sizes = {label: sum(1 for _ in read()) for label, read in self._readers.items()}
            n_rounds = min(sizes.values()) // ROUND_SIZE
            for i in range(n_rounds):
                for label, size in sizes.items():
                    n = size * (i + 1) // n_rounds - size * i // n_rounds
                    yield label, islice(contents[label], n)
        yield from contents.items()


def unlearn_all(store: MailStore, paths: Sequence[str]) -> UnlearnResult:
    """Unlearn all mail at paths."""
    contents = _message_contents(nonempty_mail_reader(paths))
    with show_stages() as show:
        return store.unlearn(contents, progress=_progress_callback(show))


def _message_contents(read: Callable[[], Iterator[RawMessage]]) -> Iterator[bytes]:
    # Not a generator expression: `read` must stay alive, because it owns the copy of standard input.
    for message in read():
        yield message.content


def _progress_callback(show: Callable[[str], None], offset: int = 0) -> Callable[[int], None]:
    return lambda done: show(f"{offset + done:,} mails")


class InputCheck:
    """Counts mails without headers and mails given under both labels, while they are learned."""

    def __init__(self) -> None:
        self._n_mails = self._n_headless = 0
        self._fingerprints: dict[str, set[Hashable]] = {}

    def observe(self, label: str, contents: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the mails of a label unchanged, and record what is odd about them."""
        fingerprints = self._fingerprints.setdefault(label, set())
        for content in contents:
            self._n_mails += 1
            self._n_headless += not _HEADER_LINE.match(content)
            # For a mere note it is not worth keeping or hashing whole mails.
            ends = content[:_FINGERPRINT_BYTES], content[-_FINGERPRINT_BYTES:]
            fingerprints.add(hash((len(content), *ends)))
            yield content

    def print_notes(self) -> None:
        """Print notes on odd mails to standard error."""
        if self._n_headless:
            count = f"{format_count(self._n_headless)} of {format_quantity(self._n_mails, 'message')}"
            do = "does" if self._n_headless == 1 else "do"
            print_note(
                f"{count} {do} not begin with headers. Are they mail? "
                "If not, undo with: weigh mail unlearn PATH"
            )
        print_conflicting_labels(self._fingerprints, "The label learned last counts.")


def print_conflicting_labels(mails_by_label: Mapping[str, Set[Hashable]], consequence: str) -> None:
    """Print how many mails have both labels, and the consequence."""
    n_both = len(mails_by_label.get(SPAM, set()) & mails_by_label.get(HAM, set()))
    if n_both:
        was = "was" if n_both == 1 else "were"
        print_note(f"{format_quantity(n_both, 'mail')} {was} given as both spam and ham. {consequence}")


def print_note(text: str) -> None:
    """Print a note to standard error."""
    show_error(CliError(text))


def format_verdicts(store: MailStore, paths: Sequence[str], as_json: bool) -> Iterator[str]:
    """Generate a line with verdict, probability and place of every message at paths."""
    format_line, done = _verdict_json if as_json else _verdict_line, 0
    with show_stages() as show:
        judged = prefetch(
            lambda batch: (batch, store.judge([message.content for message in batch])),
            batches(messages(paths)),
        )
        for batch, verdicts in judged:
            for verdict, message in zip(verdicts, batch, strict=True):
                yield format_line(verdict, message.place)
            done += len(batch)
            show(f"{done:,} messages")


def _verdict_line(verdict: Verdict, place: str) -> str:
    return f"{verdict.label:<6}  {format_clipped_probability(verdict.probability)}  {place}"


def _verdict_json(verdict: Verdict, place: str) -> str:
    return to_json_text({**verdict.to_dict(), "place": place})
