"""A process that applies groups of changes from its standard input to a store, and answers each group."""

from __future__ import annotations

import json
import sys

import weigh
from weigh.serve.feedback import Change, FeedbackStore
from weigh.serve.feedback import store as store_module


def main(folder: str, model: str, max_journal_tail: int) -> None:
    """Read a JSON list of changes per line, and print a list of [rows, repeated, error]."""
    store_module.MAX_JOURNAL_TAIL = max_journal_tail
    store = FeedbackStore.open(folder, weigh.load(model), "5f1a")
    print("ready", flush=True)
    for line in sys.stdin:
        outcomes = store.apply([Change(*fields) for fields in json.loads(line)])
        answers = [[each.rows, each.repeated, each.error and str(each.error)] for each in outcomes]
        print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
