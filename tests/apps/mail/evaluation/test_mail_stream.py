"""Tests of the orders of a mail stream: by time, shuffled and as given."""

from __future__ import annotations

import pytest

from tests.apps.mail.evaluation.scripted_filter import scored_mails
from weigh import errors
from weigh.apps.mail.evaluation.mail_stream import Mail, count_missing_dates, order_mails

MAILS = [Mail(f"{i} words".encode(), f"m{i}", "ham" if i % 3 else "spam", at=9.0 - i) for i in range(9)]


def test_order_by_time_goes_from_the_earliest_to_the_latest() -> None:
    assert order_mails(MAILS, "time", 0) == [8, 7, 6, 5, 4, 3, 2, 1, 0]


def test_mails_of_the_same_time_stay_in_the_given_order() -> None:
    mails = [Mail(b"", place, "ham", at=5.0) for place in "cab"]
    assert order_mails(mails, "time", 0) == [0, 1, 2]


def test_the_given_order_is_kept() -> None:
    assert order_mails(MAILS, "given", 0) == list(range(9))


def test_a_shuffled_order_depends_on_the_seed_but_not_on_the_given_order() -> None:
    order = [MAILS[i].place for i in order_mails(MAILS, "shuffled", 1)]
    reversed_mails = MAILS[::-1]
    assert [reversed_mails[i].place for i in order_mails(reversed_mails, "shuffled", 1)] == order
    assert [MAILS[i].place for i in order_mails(MAILS, "shuffled", 2)] != order
    assert sorted(order) == sorted(mail.place for mail in MAILS)


def test_a_shuffled_order_is_the_same_on_every_machine() -> None:
    assert order_mails(MAILS, "shuffled", 0) == [7, 8, 4, 2, 3, 5, 6, 0, 1]


def test_a_mail_without_a_date_follows_the_preceding_mail_of_its_label() -> None:
    times = [("spam", 5.0), ("spam", None), ("spam", 1.0)]
    times += [("ham", None), ("ham", 3.0), ("ham", None), ("ham", 4.0)]
    mails = [Mail(b"", str(i), label, at=time) for i, (label, time) in enumerate(times)]
    assert order_mails(mails, "time", 0) == [2, 3, 4, 5, 6, 0, 1]
    assert [count_missing_dates(mails, order) for order in ("time", "given", "shuffled")] == [3, 0, 0]


def test_a_label_without_any_date_is_rejected_and_names_a_mail() -> None:
    mails = [*scored_mails(("ham", 1.0)), Mail(b"secret", "junk.mbox, message 12", "spam")]
    with pytest.raises(errors.DataError, match="No spam has a date; the first is") as caught:
        order_mails(mails, "time", 0)
    assert "junk.mbox, message 12" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_an_unknown_order_is_rejected() -> None:
    with pytest.raises(
        errors.ParameterError, match="order must be one of 'time', 'shuffled', 'given', got 'size'"
    ):
        order_mails(MAILS, "size", 0)
