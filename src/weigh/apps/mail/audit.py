"""Mails at odds with all others: what may lie in the wrong folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from heapq import nsmallest
from typing import Any, NamedTuple

from weigh._core import MailLedger
from weigh.apps.mail.features import Features
from weigh.apps.mail.verdict import logistic
from weigh.errors import DataError, parameter
from weigh.source.mail import Stored, batches
from weigh.text import aligned, counted, html_table, probable, tail

SPAM, HAM = LABELS = ("spam", "ham")
# Of each label: a look at its mails, from the first one on.
Looks = Mapping[str, Callable[[], Iterable[Stored]]]
Key = tuple[str, bytes]
Say = Callable[[str], None]


class _Seen(NamedTuple):
    """A mail as it is learned; copies under one label have one key."""

    place: str
    label: str
    key: Key
    print: bytes


@dataclass(frozen=True)
class Doubt:
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
    def row(self) -> list[str]:
        """The mail in a table for people."""
        return [tail(self.place, 56), "both" if self.has_both else self.label, probable(self.probability)]


@dataclass(frozen=True)
class MailAudit:
    """The result of `audit_mails`; prints as text of at most 80 columns.

    `mails` are counted by label, without further `copies` of the same mail; of `doubted` ones the label has a
    probability below one half. `doubts` are the mails with the least probable labels, these first.
    """

    mails: Mapping[str, int]
    copies: int
    doubted: Mapping[str, int]
    doubts: tuple[Doubt, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "mails": dict(self.mails),
            "copies": self.copies,
            "doubted": dict(self.doubted),
            "doubts": [doubt.to_dict() for doubt in self.doubts],
        }

    def __str__(self) -> str:
        copies = f", and {counted(self.copies, 'copy', 'copies')}" if self.copies else ""
        of = " and ".join(f"{self.doubted[label]:,} of {self.mails[label]:,} {label}" for label in LABELS)
        head = f"Each mail judged by all others: doubted are {of}{copies}."
        return f"{head}\n\n{aligned(self._table(), left=2, indent='  ')}"

    def _repr_html_(self) -> str:
        return html_table("Mails most at odds with the others", self._table(), left=2)

    def plot(self) -> Any:
        """Draw the log-odds of the labels, to the left for those that are more probably wrong."""
        from weigh.pictures import bars

        # Numbers tell mails apart whose places end alike.
        rows = [
            {"name": f"{at}. {tail(each.place, 22)}", "group": f"called {each.label}", "value": each.log_odds}
            for at, each in enumerate(self.doubts, 1)
        ]
        return bars(rows, x="log-odds of the label", title="Mails most at odds with the others")

    def _table(self) -> list[list[str]]:
        return [["mail", "is", "P(label)"], *(each.row for each in self.doubts)]


def audit_mails(
    looks: Looks, *, features: Features | None = None, most: int = 20, say: Say | None = None
) -> MailAudit:
    """Find the mails whose labels are the least probable by naive Bayes of all other mails.

    Each mail is unlearned, judged and learned again, which is exact because counts are whole numbers. Mails
    are read twice and not kept; of those that are the same but for what mailboxes write, one of a label
    counts. `say` is told how far the work has come.
    """
    if most < 1:
        raise parameter("audit_mails", "most", "at least 1", most)
    seen, tell = features or Features(), say or _silent
    ledger = MailLedger("naive-bayes")
    known, copies = _learned(ledger, _read(looks, seen), tell)
    for label in LABELS:
        if label not in known.values():
            raise DataError(f"There is no {label}. An audit takes mail of both kinds.")
    judged = list(_doubts(ledger, _read(looks, seen), known, tell))
    return MailAudit(
        _by_label(judged),
        copies,
        _by_label(doubt for doubt in judged if doubt.log_odds < 0),
        tuple(nsmallest(most, judged, key=lambda doubt: doubt.log_odds)),
    )


def _read(looks: Looks, features: Features) -> Iterator[list[_Seen]]:
    """Mails of all labels, batch by batch."""
    for label, look in looks.items():
        for batch in batches(look()):
            found = features.identified([each.content for each in batch])
            yield [
                _Seen(each.place, label, (label, identity), print)
                for each, (identity, print) in zip(batch, found, strict=True)
            ]


def _learned(ledger: MailLedger, coming: Iterable[list[_Seen]], say: Say) -> tuple[dict[Key, str], int]:
    """Learn all mails once, and return their keys and how many were copies."""
    known: dict[Key, str] = {}
    copies = 0
    for mails in coming:
        new = {mail.key: mail for mail in mails if mail.key not in known}
        _change(ledger.learn, new.values())
        known.update((key, mail.label) for key, mail in new.items())
        copies += len(mails) - len(new)
        say(f"{len(known):,} mails learned")
    return known, copies


def _doubts(
    ledger: MailLedger, coming: Iterable[list[_Seen]], known: Mapping[Key, str], say: Say
) -> Iterator[Doubt]:
    """Judge each mail without itself; what came in since the first reading is not judged."""
    waiting = set(known)
    for mails in coming:
        for mail in mails:
            if mail.key in waiting:
                waiting.remove(mail.key)
                _change(ledger.unlearn, [mail])
                score = ledger.judge([mail.print])[0]
                _change(ledger.learn, [mail])
                both = all((label, mail.key[1]) in known for label in LABELS)
                yield Doubt(mail.place, mail.label, score if mail.label == SPAM else -score, both)
        say(f"{len(known) - len(waiting):,} of {len(known):,} mails judged")


def _change(change: Callable[[list[bytes], bytes], None], mails: Iterable[_Seen]) -> None:
    listed = list(mails)
    change([mail.print for mail in listed], bytes(mail.label == SPAM for mail in listed))


def _by_label(doubts: Iterable[Doubt]) -> dict[str, int]:
    counts = Counter(doubt.label for doubt in doubts)
    return {label: counts[label] for label in LABELS}


def _silent(_: str) -> None:
    """Tell nobody."""
