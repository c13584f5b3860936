"""A filter with scripted scores, and mails and runs that contain them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weigh.apps.mail.evaluation.filter_run import FilterRun
from weigh.apps.mail.evaluation.mail_stream import Judgement, Mail


class Scripted:
    """A filter that reads its score from the mail, spam above 0, and records every call."""

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


def scored_mails(*pairs: tuple[str, float]) -> list[Mail]:
    """Return mails with these labels and scores, called "m0", "m1" and so on."""
    return [
        Mail(f"{score} mail {i}".encode(), f"m{i}", label, float(i)) for i, (label, score) in enumerate(pairs)
    ]


def filter_run(is_spam: Sequence[bool], scores: Sequence[float], name: str = "scripted") -> FilterRun:
    """Return a run with these labels and scores, spam above 0."""
    n, values = len(scores), np.array(scores, dtype=np.float64)
    places = tuple(f"m{i}" for i in range(n))
    is_unsure = np.zeros(n, bool)
    return FilterRun(
        name,
        0,
        np.array(is_spam, bool),
        values,
        values > 0,
        is_unsure,
        np.full(n, np.nan),
        places,
        0.0,
        0.0,
        n,
    )
