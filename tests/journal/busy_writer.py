"""A writer to be killed: appends batches forever, compacts now and then, and prints each finished batch."""

from __future__ import annotations

import random
import sys

from tests.journal.ledger import Ledger, record


def main(folder: str, name: str, seed: int) -> None:
    ledger = Ledger(folder)
    rng = random.Random(seed)
    for batch in range(10**9):
        with ledger.journal.transaction() as transaction:
            records = [
                record((name, batch, part), 1, rng.randbytes(rng.choice([0, 9, 2000]))) for part in range(3)
            ]
            transaction.append([*records, record(("both", rng.randrange(1000)))])
            if rng.random() < 0.1:
                transaction.compact(ledger.write, keep_records=rng.random() < 0.3)
        print(batch, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
