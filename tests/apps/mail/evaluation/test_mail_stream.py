"""Orders: by time, by seed, as given."""

from __future__ import annotations

import pytest

from tests.apps.mail.evaluation.scripted_filter import scored
from weigh import errors
from weigh.apps.mail.evaluation.mail_stream import Mail, count_missing_dates, order_mails

MAILS = [Mail(f"{at} words".encode(), f"m{at}", "ham" if at % 3 else "spam", at=9.0 - at) for at in range(9)]


def test_time_goes_from_the_earliest_to_the_latest() -> None:
    assert order_mails(MAILS, "time", 0) == [8, 7, 6, 5, 4, 3, 2, 1, 0]


def test_mails_of_one_time_stay_as_given() -> None:
    mails = [Mail(b"", place, "ham", at=5.0) for place in "cab"]
    assert order_mails(mails, "time", 0) == [0, 1, 2]


def test_given_changes_nothing() -> None:
    assert order_mails(MAILS, "given", 0) == list(range(9))


def test_a_shuffled_order_hangs_on_the_seed_and_not_on_the_listing() -> None:
    order = [MAILS[at].place for at in order_mails(MAILS, "shuffled", 1)]
    backwards = MAILS[::-1]
    assert [backwards[at].place for at in order_mails(backwards, "shuffled", 1)] == order
    assert [MAILS[at].place for at in order_mails(MAILS, "shuffled", 2)] != order
    assert sorted(order) == sorted(mail.place for mail in MAILS)


def test_a_shuffled_order_is_the_same_on_every_machine() -> None:
    assert order_mails(MAILS, "shuffled", 0) == [7, 8, 4, 2, 3, 5, 6, 0, 1]


def test_a_mail_without_a_time_comes_after_the_one_of_its_label_that_was_given_before() -> None:
    times = [("spam", 5.0), ("spam", None), ("spam", 1.0)]
    times += [("ham", None), ("ham", 3.0), ("ham", None), ("ham", 4.0)]
    mails = [Mail(b"", str(at), label, at=time) for at, (label, time) in enumerate(times)]
    assert order_mails(mails, "time", 0) == [2, 3, 4, 5, 6, 0, 1]
    assert [count_missing_dates(mails, order) for order in ("time", "given", "shuffled")] == [3, 0, 0]


def test_labels_without_any_time_are_refused_by_place() -> None:
    mails = [*scored(("ham", 1.0)), Mail(b"secret", "junk.mbox, message 12", "spam")]
    with pytest.raises(errors.DataError, match="No spam says when it came, the first of them is") as caught:
        order_mails(mails, "time", 0)
    assert "junk.mbox, message 12" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(
        errors.ParameterError, match="order must be one of 'time', 'shuffled', 'given', got 'size'"
    ):
        order_mails(MAILS, "size", 0)
