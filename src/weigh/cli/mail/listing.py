"""Verdicts for many messages, a line each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from weigh.apps.mail.groups import ahead
from weigh.cli.stages import stages
from weigh.source.mail import batches, messages
from weigh.text import chance

if TYPE_CHECKING:
    from weigh.apps.mail.store import MailStore
    from weigh.apps.mail.verdict import Verdict


def listed(store: MailStore, paths: Sequence[str], as_json: bool) -> Iterator[str]:
    """Verdict, probability and place of every message that paths lead to."""
    row, done = _json if as_json else _text, 0
    with stages() as say:
        judged = ahead(
            lambda batch: (batch, store.judge([each.content for each in batch])), batches(messages(paths))
        )
        for batch, verdicts in judged:
            yield from (row(verdict, each.place) for verdict, each in zip(verdicts, batch, strict=True))
            done += len(batch)
            say(f"{done:,} messages")


def _text(verdict: Verdict, place: str) -> str:
    return f"{verdict.label:<6}  {chance(verdict.probability)}  {place}"


def _json(verdict: Verdict, place: str) -> str:
    return json.dumps({**verdict.to_dict(), "place": place}, ensure_ascii=False)
