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


def _by_time(mails: Sequence[Mail], _seed: int) -> list[int]:
    times = [mail.at for mail in mails]
    known = [at for at in times if at is not None]
    if len(known) < len(times):
        first = times.index(None)
        raise errors.DataError(
            f"{len(times) - len(known):,} of {len(times):,} mails do not say when they came, the first is "
            f"{cut(mails[first].place, 60)}. Take them in another order: 'given' or 'shuffled'."
        )
    return sorted(range(len(known)), key=known.__getitem__)


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
