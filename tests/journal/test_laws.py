"""A journal behaves like a dict of marks and a list of the records that changed it (stateful test)."""

from __future__ import annotations

import os
import tempfile
from unittest import mock

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.journal.ledger import Entries, Ledger, key, plain
from weigh.journal.storage import JournalRecord, Position

KEYS = [key(number) for number in range(6)]
BATCHES = st.lists(
    st.builds(JournalRecord, st.sampled_from(KEYS), st.integers(0, 2), st.binary(max_size=9)), max_size=6
)


class Reference(RuleBasedStateMachine):
    """The journal next to a plain-Python reference implementation."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.flushing = mock.patch("os.fsync")
        self.flushing.start()
        self.ledger = Ledger(self.folder.name)
        self.marks: dict[bytes, int] = {}
        self.history: Entries = []
        self.current: tuple[Entries, Position] | None = None

    def teardown(self) -> None:
        self.flushing.stop()
        self.folder.cleanup()

    def expected(self, batch: list[JournalRecord]) -> list[bool]:
        are_new = []
        for record in batch:
            are_new.append(self.marks.get(record.key, 0) != record.mark)
            if are_new[-1]:
                self.marks[record.key] = record.mark
                self.history += plain(record)
        return are_new

    @rule(batch=BATCHES)
    def append(self, batch: list[JournalRecord]) -> None:
        assert self.ledger.append(*batch) == self.expected(batch)

    @rule(batch=BATCHES)
    def append_from_another_process(self, batch: list[JournalRecord]) -> None:
        assert Ledger(self.folder.name).append(*batch) == self.expected(batch)

    @rule(batch=BATCHES)
    def fail(self, batch: list[JournalRecord]) -> None:
        try:
            with self.ledger.journal.transaction() as transaction:
                transaction.append(batch)
                raise ZeroDivisionError
        except ZeroDivisionError:
            pass

    @rule(keep=st.booleans(), reopened=st.booleans())
    def compact(self, keep: bool, reopened: bool) -> None:
        (Ledger(self.folder.name) if reopened else self.ledger).compact(keep=keep)

    @rule()
    def reopen(self) -> None:
        self.ledger = Ledger(self.folder.name)

    @rule(length=st.integers(1, 40))
    def leave_a_torn_group(self, length: int) -> None:
        if os.path.exists(self.ledger.path):
            with open(self.ledger.path, "ab") as file:
                file.write(b"\xabgr\x1a".ljust(length, b"\x00")[:length])

    @rule()
    def update_current(self) -> None:
        self.current = self.ledger.state(self.current)

    @invariant()
    def the_state_equals_the_history(self) -> None:
        assert self.ledger.state(self.current)[0] == self.history

    @invariant()
    def the_marks_equal_the_dict(self) -> None:
        with self.ledger.journal.transaction() as transaction:
            assert [transaction.mark(record) for record in KEYS] == [
                self.marks.get(record, 0) for record in KEYS
            ]


TestReference = pytest.mark.filterwarnings("ignore::weigh.errors.CutJournal")(Reference.TestCase)
TestReference.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
