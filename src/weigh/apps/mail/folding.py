"""Writing what a journal has into a snapshot, with the archive and the words that belong to it."""

from __future__ import annotations

from collections import Counter

from weigh._core import MailLedger
from weigh.apps.mail.archive import archived, is_lopsided, mixed
from weigh.apps.mail.change import changes_of
from weigh.apps.mail.learners import LEARNERS
from weigh.apps.mail.memory import learn
from weigh.apps.mail.settings import Settings
from weigh.apps.mail.snapshot import Note, load, save
from weigh.apps.mail.words import kept_words
from weigh.journal import Journal, Position


def fold(folder: str, settings: Settings, journal: Journal, ledger: MailLedger, position: Position) -> None:
    """Write a snapshot of a ledger that knows all of a journal, which ends at a position.

    A learner that goes by the order of messages takes a long run of one kind for all mail there is. After one
    it learns all messages anew, mixed.
    """
    before, note = load(folder, settings.learner)
    archive, words = note.archive, note.words
    is_ordered = LEARNERS[settings.learner].is_ordered
    changes = changes_of(journal.records(note.position), folder) if is_ordered or settings.words else []
    if is_ordered and is_lopsided(Counter(change.new for change in changes)):
        records, archive = mixed(folder, archive, changes)
        ledger = MailLedger(settings.learner)
        learn(ledger, records)
    elif is_ordered:
        archive = archived(folder, archive, changes)
    if settings.words:
        words = kept_words(folder, words, changes, before, ledger)
    save(folder, ledger, Note(position, archive, words))
