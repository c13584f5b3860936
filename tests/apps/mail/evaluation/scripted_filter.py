"""Filters whose words are known beforehand, and mails that carry them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weigh.apps.mail.evaluation.filter_run import FilterRun
from weigh.apps.mail.evaluation.mail_stream import Judgement, Mail


class Scripted:
    """A filter that reads its score from the mail, calls spam what is above 0, and records every call."""

    def __init__(self, name: str = "scripted", unsure_above: float = 0.0) -> None:
        self.name = name
        self.calls: list[tuple[str, str]] = []
        self._unsure_above = unsure_above

    def judge(self, mail: Mail) -> Judgement:
        self.calls.append(("judge", mail.place))
        score = float(mail.content.split(b" ")[0])
        verdict = "spam" if score > 0 else "unsure" if score > self._unsure_above else "ham"
        return Judgement(score, verdict)

    def learn(self, mail: Mail, label: str) -> None:
        assert label == mail.label
        self.calls.append(("learn", mail.place))


def scored(*pairs: tuple[str, float]) -> list[Mail]:
    """Mails of these labels and scores, in places "m0", "m1" and so on."""
    return [
        Mail(f"{score} mail {at}".encode(), f"m{at}", label, float(at))
        for at, (label, score) in enumerate(pairs)
    ]


def course(is_spam: Sequence[bool], scores: Sequence[float], name: str = "scripted") -> FilterRun:
    """A course of these labels and scores, spam above 0."""
    n, found = len(scores), np.array(scores, dtype=np.float64)
    places = tuple(f"m{at}" for at in range(n))
    nothing = np.zeros(n, bool)
    return FilterRun(
        name, 0, np.array(is_spam, bool), found, found > 0, nothing, np.full(n, np.nan), places, 0.0, 0.0, n
    )
