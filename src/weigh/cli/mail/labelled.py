"""Mail of both kinds with labels, for trials."""

from __future__ import annotations

from weigh.apps.mail.trial.contestant import Mail
from weigh.cli.mail.noted import tell_both
from weigh.cli.mail.sides import HAM, SPAM, look_for_some
from weigh.cli.stages import stages
from weigh.source.mail import arrived


def mails_of(spam: tuple[str, ...], ham: tuple[str, ...]) -> list[Mail]:
    """All mails that paths lead to, in the order of time if they say when they came."""
    sides = {SPAM: look_for_some(spam), HAM: look_for_some(ham)}
    mails = []
    with stages() as say:
        for label, found in sides.items():
            for each in found():
                mails.append(Mail(each.content, each.place, label, arrived(each.content, each)))
                say(f"{len(mails):,} mails read")
    kinds = {label: {mail.content for mail in mails if mail.label == label} for label in sides}
    tell_both(kinds, "No filter can be right about both.")
    return mails
