"""Mails at odds with all others: what may lie in the wrong folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from heapq import nsmallest
from typing import Any, NamedTuple

from weigh._core import MailLedger
from weigh.apps.mail.features import FeatureExtractor
from weigh.apps.mail.verdict import logistic
from weigh.errors import DataError, parameter_error
from weigh.source.mail import RawMessage, batches
from weigh.text import format_probability, format_quantity, html_table, text_table, truncate_start

SPAM, HAM = LABELS = ("spam", "ham")
# Of each label: a look at its mails, from the first one on.
MailReaders = Mapping[str, Callable[[], Iterable[RawMessage]]]
MailKey = tuple[str, bytes]
ProgressCallback = Callable[[str], None]


class _HashedMail(NamedTuple):
    """A mail as it is learned; copies under one label have one key."""

    place: str
    label: str
    key: MailKey
    hashed_features: bytes


@dataclass(frozen=True)
class SuspectMail:
    """A mail, its label, the log-odds of that by all other mails, and whether a copy has the other label."""

    place: str
    label: str
    log_odds: float
    has_both: bool

    @property
    def probability(self) -> float:
        """How probable the label is."""
        return logistic(self.log_odds)

    def to_dict(self) -> dict[str, Any]:
        """The doubt for JSON."""
        return {**asdict(self), "probability": self.probability}

    @property
    def table_row(self) -> list[str]:
        """The mail in a table for people."""
        return [
            truncate_start(self.place, 56),
            "both" if self.has_both else self.label,
            format_probability(self.probability),
        ]


@dataclass(frozen=True)
class MailAudit:
    """The result of `audit_mails`; prints as text of at most 80 columns.

    `mails` are counted by label, without further `copies` of the same mail; of `doubted` ones the label has a
    probability below one half. `doubts` are the mails with the least probable labels, these first.
    """

    mails: Mapping[str, int]
    copies: int
    doubted: Mapping[str, int]
    doubts: tuple[SuspectMail, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "mails": dict(self.mails),
            "copies": self.copies,
            "doubted": dict(self.doubted),
            "doubts": [doubt.to_dict() for doubt in self.doubts],
        }

    def __str__(self) -> str:
        copies = f", and {format_quantity(self.copies, 'copy', 'copies')}" if self.copies else ""
        of = " and ".join(f"{self.doubted[label]:,} of {self.mails[label]:,} {label}" for label in LABELS)
        head = f"Each mail judged by all others: doubted are {of}{copies}."
        return f"{head}\n\n{text_table(self._table(), left=2, indent='  ')}"

    def _repr_html_(self) -> str:
        return html_table("Mails most at odds with the others", self._table(), left=2)

    def plot(self) -> Any:
        """Draw the log-odds of the labels, to the left for those that are more probably wrong."""
        from weigh.pictures import bar_chart

        # Numbers tell mails apart whose places end alike.
        rows = [
            {
                "name": f"{at}. {truncate_start(each.place, 22)}",
                "group": f"called {each.label}",
                "value": each.log_odds,
            }
            for at, each in enumerate(self.doubts, 1)
        ]
        return bar_chart(rows, x="log-odds of the label", title="Mails most at odds with the others")

    def _table(self) -> list[list[str]]:
        return [["mail", "is", "P(label)"], *(each.table_row for each in self.doubts)]


def audit_mails(
    looks: MailReaders,
    *,
    features: FeatureExtractor | None = None,
    most: int = 20,
    say: ProgressCallback | None = None,
) -> MailAudit:
    """Find the mails whose labels are the least probable by naive Bayes of all other mails.

    Each mail is unlearned, judged and learned again, which is exact because counts are whole numbers. Mails
    are read twice and not kept; of those that are the same but for what mailboxes write, one of a label
    counts. `say` is told how far the work has come.
    """
    if most < 1:
        raise parameter_error("audit_mails", "most", "at least 1", most)
    seen, tell = features or FeatureExtractor(), say or _ignore_progress
    ledger = MailLedger("naive-bayes")
    known, copies = _learn_all(ledger, _read_batches(looks, seen), tell)
    for label in LABELS:
        if label not in known.values():
            raise DataError(f"There is no {label}. An audit takes mail of both kinds.")
    judged = list(_score_leave_one_out(ledger, _read_batches(looks, seen), known, tell))
    return MailAudit(
        _count_by_label(judged),
        copies,
        _count_by_label(doubt for doubt in judged if doubt.log_odds < 0),
        tuple(nsmallest(most, judged, key=lambda doubt: doubt.log_odds)),
    )


def _read_batches(looks: MailReaders, features: FeatureExtractor) -> Iterator[list[_HashedMail]]:
    """Mails of all labels, batch by batch."""
    for label, look in looks.items():
        for batch in batches(look()):
            found = features.identify([each.content for each in batch])
            yield [
                _HashedMail(each.place, label, (label, identity), print)
                for each, (identity, print) in zip(batch, found, strict=True)
            ]


def _learn_all(
    ledger: MailLedger, coming: Iterable[list[_HashedMail]], say: ProgressCallback
) -> tuple[dict[MailKey, str], int]:
    """Learn all mails once, and return their keys and how many were copies."""
    known: dict[MailKey, str] = {}
    copies = 0
    for mails in coming:
        new = {mail.key: mail for mail in mails if mail.key not in known}
        _apply_to_mails(ledger.learn, new.values())
        known.update((key, mail.label) for key, mail in new.items())
        copies += len(mails) - len(new)
        say(f"{len(known):,} mails learned")
    return known, copies


def _score_leave_one_out(
    ledger: MailLedger,
    coming: Iterable[list[_HashedMail]],
    known: Mapping[MailKey, str],
    say: ProgressCallback,
) -> Iterator[SuspectMail]:
    """Judge each mail without itself; what came in since the first reading is not judged."""
    waiting = set(known)
    for mails in coming:
        for mail in mails:
            if mail.key in waiting:
                waiting.remove(mail.key)
                _apply_to_mails(ledger.unlearn, [mail])
                score = ledger.judge([mail.hashed_features])[0]
                _apply_to_mails(ledger.learn, [mail])
                both = all((label, mail.key[1]) in known for label in LABELS)
                yield SuspectMail(mail.place, mail.label, score if mail.label == SPAM else -score, both)
        say(f"{len(known) - len(waiting):,} of {len(known):,} mails judged")


def _apply_to_mails(change: Callable[[list[bytes], bytes], None], mails: Iterable[_HashedMail]) -> None:
    listed = list(mails)
    change([mail.hashed_features for mail in listed], bytes(mail.label == SPAM for mail in listed))


def _count_by_label(doubts: Iterable[SuspectMail]) -> dict[str, int]:
    counts = Counter(doubt.label for doubt in doubts)
    return {label: counts[label] for label in LABELS}


def _ignore_progress(_: str) -> None:
    """Tell nobody."""
