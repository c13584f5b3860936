"""Orders: by time, by seed, as given."""

from __future__ import annotations

import pytest

from tests.apps.mail.trial.scripted import scored
from weigh import errors
from weigh.apps.mail.trial.contestant import Mail
from weigh.apps.mail.trial.order import ordered

MAILS = [Mail(f"{at} words".encode(), f"m{at}", "ham" if at % 3 else "spam", at=9.0 - at) for at in range(9)]


def test_time_goes_from_the_earliest_to_the_latest() -> None:
    assert ordered(MAILS, "time", 0) == [8, 7, 6, 5, 4, 3, 2, 1, 0]


def test_mails_of_one_time_stay_as_given() -> None:
    mails = [Mail(b"", place, "ham", at=5.0) for place in "cab"]
    assert ordered(mails, "time", 0) == [0, 1, 2]


def test_given_changes_nothing() -> None:
    assert ordered(MAILS, "given", 0) == list(range(9))


def test_a_shuffled_order_hangs_on_the_seed_and_not_on_the_listing() -> None:
    order = [MAILS[at].place for at in ordered(MAILS, "shuffled", 1)]
    backwards = MAILS[::-1]
    assert [backwards[at].place for at in ordered(backwards, "shuffled", 1)] == order
    assert [MAILS[at].place for at in ordered(MAILS, "shuffled", 2)] != order
    assert sorted(order) == sorted(mail.place for mail in MAILS)


def test_a_shuffled_order_is_the_same_on_every_machine() -> None:
    assert ordered(MAILS, "shuffled", 0) == [7, 8, 4, 2, 3, 5, 6, 0, 1]


def test_mails_without_a_time_are_refused_by_place() -> None:
    mails = [*scored(("ham", 1.0)), Mail(b"secret", "inbox.mbox, message 12", "ham")]
    with pytest.raises(errors.DataError, match="1 of 2 mails do not say when they came") as caught:
        ordered(mails, "time", 0)
    assert "inbox.mbox, message 12" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(
        errors.ParameterError, match="order must be one of 'time', 'shuffled', 'given', got 'size'"
    ):
        ordered(MAILS, "size", 0)
