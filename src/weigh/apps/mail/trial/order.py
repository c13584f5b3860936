"""The order in which mails come."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weigh import errors
from weigh.apps.mail.trial.contestant import Mail
from weigh.apps.mail.trial.feedback import drawn
from weigh.text import cut


def ordered(mails: Sequence[Mail], order: str, seed: int) -> list[int]:
    """The places of mails in the order asked for.

    "shuffled" goes by each mail's content and the seed: the same mails come in the same order however
    they were listed.
    """
    if order not in ORDERS:
        raise errors.parameter("hold_trial", "order", f"one of {errors.listing(ORDERS)}", order)
    return ORDERS[order](mails, seed)


def undated(mails: Sequence[Mail], order: str) -> int:
    """How many mails have a place in the order of time although they do not say when they came."""
    return sum(mail.at is None for mail in mails) if order == "time" else 0


def _by_time(mails: Sequence[Mail], _seed: int) -> list[int]:
    """Go by time; a mail without one comes right after the one of its label that was given before it."""
    last: dict[str, float] = {}
    for mail in reversed(mails):
        if mail.at is not None:
            last[mail.label] = mail.at
    times = []
    for mail in mails:
        at = last.get(mail.label) if mail.at is None else mail.at
        if at is None:
            raise errors.DataError(
                f"No {mail.label} says when it came, the first of them is {cut(mail.place, 60)}. "
                "Take the mails in another order: 'given' or 'shuffled'."
            )
        last[mail.label] = at
        times.append(at)
    return sorted(range(len(times)), key=times.__getitem__)


def _shuffled(mails: Sequence[Mail], seed: int) -> list[int]:
    keys = [(drawn(mail.content, seed, b"order"), mail.label, mail.place) for mail in mails]
    return sorted(range(len(keys)), key=keys.__getitem__)


def _as_given(mails: Sequence[Mail], _seed: int) -> list[int]:
    return list(range(len(mails)))


ORDERS: dict[str, Callable[[Sequence[Mail], int], list[int]]] = {
    "time": _by_time,
    "shuffled": _shuffled,
    "given": _as_given,
}
