"""A journal is a dict of marks and a list of the records that changed it, whatever happens in between."""

from __future__ import annotations

import os
import tempfile
from unittest import mock

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.journal.ledger import Entries, Ledger, key, plain
from weigh.journal import JournalRecord, Position

KEYS = [key(number) for number in range(6)]
BATCHES = st.lists(
    st.builds(JournalRecord, st.sampled_from(KEYS), st.integers(0, 2), st.binary(max_size=9)), max_size=6
)


class Reference(RuleBasedStateMachine):
    """The journal beside its twin in plain Python."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.flushing = mock.patch("os.fsync")
        self.flushing.start()
        self.ledger = Ledger(self.folder.name)
        self.marks: dict[bytes, int] = {}
        self.history: Entries = []
        self.held: tuple[Entries, Position] | None = None

    def teardown(self) -> None:
        self.flushing.stop()
        self.folder.cleanup()

    def expected(self, batch: list[JournalRecord]) -> list[bool]:
        new = []
        for each in batch:
            new.append(self.marks.get(each.key, 0) != each.mark)
            if new[-1]:
                self.marks[each.key] = each.mark
                self.history += plain(each)
        return new

    @rule(batch=BATCHES)
    def append(self, batch: list[JournalRecord]) -> None:
        assert self.ledger.learn(*batch) == self.expected(batch)

    @rule(batch=BATCHES)
    def append_by_somebody_else(self, batch: list[JournalRecord]) -> None:
        assert Ledger(self.folder.name).learn(*batch) == self.expected(batch)

    @rule(batch=BATCHES)
    def fail(self, batch: list[JournalRecord]) -> None:
        try:
            with self.ledger.journal.transaction() as turn:
                turn.append(batch)
                raise ZeroDivisionError
        except ZeroDivisionError:
            pass

    @rule(keep=st.booleans(), reopened=st.booleans())
    def fold(self, keep: bool, reopened: bool) -> None:
        (Ledger(self.folder.name) if reopened else self.ledger).fold(keep=keep)

    @rule()
    def reopen(self) -> None:
        self.ledger = Ledger(self.folder.name)

    @rule(length=st.integers(1, 40))
    def leave_a_torn_end(self, length: int) -> None:
        if os.path.exists(self.ledger.path):
            with open(self.ledger.path, "ab") as file:
                file.write(b"\xabgr\x1a".ljust(length, b"\x00")[:length])

    @rule()
    def hold(self) -> None:
        self.held = self.ledger.state(self.held)

    @invariant()
    def the_state_is_the_history(self) -> None:
        assert self.ledger.state(self.held)[0] == self.history

    @invariant()
    def the_marks_are_those_of_the_dict(self) -> None:
        with self.ledger.journal.transaction() as turn:
            assert [turn.mark(each) for each in KEYS] == [self.marks.get(each, 0) for each in KEYS]


TestReference = pytest.mark.filterwarnings("ignore::weigh.errors.CutJournal")(Reference.TestCase)
TestReference.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
