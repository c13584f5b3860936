"""Audit of labelled mails: find those whose label all other mails contradict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any, NamedTuple

from weigh._core import MailLedger
from weigh.apps.mail.features import FeatureExtractor
from weigh.apps.mail.verdict import logistic
from weigh.errors import DataError, parameter_error
from weigh.result import Facts, Section, Table, TabularResult
from weigh.source.mail.raw_message import RawMessage, batches
from weigh.text import format_probability, format_quantity, truncate_start

SPAM, HAM = LABELS = ("spam", "ham")
# For each label a function that reads its mails from the beginning.
MailReaders = Mapping[str, Callable[[], Iterable[RawMessage]]]
MailKey = tuple[str, bytes]
ProgressCallback = Callable[[str], None]


@dataclass(frozen=True)
class SuspectMail(Facts):
    """A mail with its label and the leave-one-out log-odds of that label.

    `has_both` says whether a copy of the mail has the other label.
    """

    place: str
    label: str
    log_odds: float
    has_both: bool
    _json = ("place", "label", "log_odds", "has_both", "probability")

    @property
    def probability(self) -> float:
        """The probability of the label."""
        return logistic(self.log_odds)

    @property
    def table_row(self) -> list[str]:
        """The cells of the mail in a table."""
        return [
            truncate_start(self.place, 56),
            "both" if self.has_both else self.label,
            format_probability(self.probability),
        ]


@dataclass(frozen=True, repr=False)
class MailAudit(TabularResult):
    """The result of `audit_mails`; prints as text of at most 80 columns.

    `mails` counts the distinct mails of each label and `copies` the further copies. `doubted` counts the
    mails whose label has a probability below one half. `doubts` are the mails with the least probable labels,
    in this order.
    """

    mails: Mapping[str, int]
    copies: int
    doubted: Mapping[str, int]
    doubts: tuple[SuspectMail, ...]
    _frames = ("doubts",)

    @property
    def headline(self) -> str:
        """The number of doubtful labels."""
        counts = " and ".join(f"{self.doubted[label]:,} of {self.mails[label]:,} {label}" for label in LABELS)
        copies = f"; {format_quantity(self.copies, 'copy', 'copies')} skipped" if self.copies else ""
        return f"Each mail judged by all others: doubtful are {counts}{copies}."

    def sections(self) -> list[Section]:
        """Return the mails with the least probable labels."""
        rows = [["mail", "label", "P(label)"], *(mail.table_row for mail in self.doubts)]
        return [Section("doubts", [Table(rows, left=2, indent="  ")])]

    def plot(self) -> Any:
        """Plot the log-odds of the labels; bars to the left are labels that are probably wrong."""
        from weigh.pictures import bar_chart

        # Numbers distinguish mails whose truncated places are the same.
        rows = [
            {
                "name": f"{number}. {truncate_start(mail.place, 22)}",
                "group": f"labelled {mail.label}",
                "value": mail.log_odds,
            }
            for number, mail in enumerate(self.doubts, 1)
        ]
        return bar_chart(rows, x="log-odds of the label", title="Mails whose labels are least probable")


def audit_mails(
    readers: MailReaders,
    *,
    features: FeatureExtractor | None = None,
    most: int = 20,
    progress: ProgressCallback | None = None,
) -> MailAudit:
    """Find the `most` mails whose labels are least probable under naive Bayes trained on all other mails.

    Each mail is unlearned, judged and learned again, which is exact because the counts are integers. Mails
    are read twice and not kept in memory. Of copies that differ only in what mailboxes write, one per label
    counts.
    """
    if most < 1:
        raise parameter_error("audit_mails", "most", "at least 1", most)
    extractor, report = features or FeatureExtractor(), progress or _ignore_progress
    ledger = MailLedger("naive-bayes")
    learned, copies = _learn_all(ledger, _read_batches(readers, extractor), report)
    for label in LABELS:
        if label not in learned.values():
            raise DataError(f"There is no {label}. An audit needs both spam and ham.")
    mails = list(_score_leave_one_out(ledger, _read_batches(readers, extractor), learned, report))
    return MailAudit(
        _count_by_label(mails),
        copies,
        _count_by_label(mail for mail in mails if mail.log_odds < 0),
        tuple(nsmallest(most, mails, key=lambda mail: mail.log_odds)),
    )


class _HashedMail(NamedTuple):
    """A mail with its hashed features; copies with the same label have the same key."""

    place: str
    label: str
    key: MailKey
    hashed_features: bytes


def _read_batches(readers: MailReaders, features: FeatureExtractor) -> Iterator[list[_HashedMail]]:
    """Read the mails of all labels in batches."""
    for label, read in readers.items():
        for batch in batches(read()):
            identified = features.identify([mail.content for mail in batch])
            yield [
                _HashedMail(mail.place, label, (label, identity), hashed)
                for mail, (identity, hashed) in zip(batch, identified, strict=True)
            ]


def _learn_all(
    ledger: MailLedger, mail_batches: Iterable[list[_HashedMail]], report: ProgressCallback
) -> tuple[dict[MailKey, str], int]:
    """Learn every distinct mail, and return the labels by key and the number of copies."""
    learned: dict[MailKey, str] = {}
    copies = 0
    for mails in mail_batches:
        new = {mail.key: mail for mail in mails if mail.key not in learned}
        _apply_to_mails(ledger.learn, new.values())
        learned.update((key, mail.label) for key, mail in new.items())
        copies += len(mails) - len(new)
        report(f"{len(learned):,} mails learned")
    return learned, copies


def _score_leave_one_out(
    ledger: MailLedger,
    mail_batches: Iterable[list[_HashedMail]],
    learned: Mapping[MailKey, str],
    report: ProgressCallback,
) -> Iterator[SuspectMail]:
    """Judge each learned mail without itself; mails that arrived since the first pass are skipped."""
    remaining = set(learned)
    for mails in mail_batches:
        for mail in mails:
            if mail.key in remaining:
                remaining.remove(mail.key)
                _apply_to_mails(ledger.unlearn, [mail])
                score = ledger.judge([mail.hashed_features])[0]
                _apply_to_mails(ledger.learn, [mail])
                has_both = all((label, mail.key[1]) in learned for label in LABELS)
                yield SuspectMail(mail.place, mail.label, score if mail.label == SPAM else -score, has_both)
        report(f"{len(learned) - len(remaining):,} of {len(learned):,} mails judged")


def _apply_to_mails(change: Callable[[list[bytes], bytes], None], mails: Iterable[_HashedMail]) -> None:
    mail_list = list(mails)
    change([mail.hashed_features for mail in mail_list], bytes(mail.label == SPAM for mail in mail_list))


def _count_by_label(mails: Iterable[SuspectMail]) -> dict[str, int]:
    counts = Counter(mail.label for mail in mails)
    return {label: counts[label] for label in LABELS}


def _ignore_progress(_: str) -> None:
    """Do nothing."""
