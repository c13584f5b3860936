"""A writer to be killed: learns batches for ever, folds now and then, and says what is done."""

from __future__ import annotations

import random
import sys

from tests.journal.ledger import Ledger, record


def main(folder: str, name: str, seed: int) -> None:
    ledger = Ledger(folder)
    chance = random.Random(seed)
    for batch in range(10**9):
        with ledger.journal.transaction() as turn:
            own = [
                record((name, batch, part), 1, chance.randbytes(chance.choice([0, 9, 2000])))
                for part in range(3)
            ]
            turn.append([*own, record(("both", chance.randrange(1000)))])
            if chance.random() < 0.1:
                turn.compact(ledger.write, keep=chance.random() < 0.3)
        print(batch, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
