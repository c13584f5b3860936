"""A writer to be killed: it learns, moves and unlearns, one call at a time, and prints what is done."""

from __future__ import annotations

import random
import sys

from tests.apps.mail.sample_mails import ham
from weigh.apps.mail import store as module
from weigh.apps.mail.store import MailStore

MESSAGES_PER_CALL = 3


def calls(seed: int, first: int) -> list[tuple[str, list[int]]]:
    """Return a writer's actions in order, each with the numbers of messages that no other writer uses."""
    rng = random.Random(seed)
    return [
        (
            rng.choice(["ham", "spam", "spam", "unlearn"]),
            [first + rng.randrange(40) for _ in range(MESSAGES_PER_CALL)],
        )
        for _ in range(200)
    ]


def do(store: MailStore, action: str, numbers: list[int]) -> None:
    contents = [ham(number) for number in numbers]
    if action == "unlearn":
        store.unlearn(contents)
    else:
        store.learn(contents, action)


def main(folder: str, seed: int, first: int, learner: str) -> None:
    # Fold often, because most can go wrong there.
    module._MAX_JOURNAL_TAIL = 2_000
    store = MailStore.open(folder, create=True, learner=learner, words=learner == "logistic")
    for number, (action, numbers) in enumerate(calls(seed, first)):
        do(store, action, numbers)
        print(number, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *(sys.argv[4:] or ["naive-bayes"]))
