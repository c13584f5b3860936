#!/usr/bin/env bash
# attack: concurrent partial_fit and merge calls on one estimator silently lose rows
# now: the calls take turns; all 161,000 rows are counted, and mutual merges do not deadlock
# test: tests/estimators/test_threads.py::test_concurrent_partial_fits_lose_no_rows
ulimit -v 4000000
timeout 19 python -W ignore - <<'PY'
import sys, threading
import numpy as np
import weigh

X = np.random.default_rng(0).normal(size=(1000, 3)).round(1)
y = np.arange(1000) % 2


def in_threads(works):
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    [thread.start() for thread in threads]
    [thread.join(8) for thread in threads]
    if any(thread.is_alive() for thread in threads):
        print("deadlock")
        sys.exit(1)


nb = weigh.NaiveBayes().partial_fit(X, y)
in_threads([lambda: [nb.partial_fit(X, y) for _ in range(20)]] * 8)
learned = int(nb.model_.counts.rows.sum())
print(f"partial_fit: {learned:,} of 161,000 rows counted")

part, sums = weigh.NaiveBayes().fit(X, y), weigh.NaiveBayes().fit(X, y)
in_threads([lambda: [sums.merge(part) for _ in range(20)]] * 8)
merged = int(sums.model_.counts.rows.sum())
print(f"merge: {merged:,} of 161,000 rows counted")

a, b = weigh.NaiveBayes().fit(X, y), weigh.NaiveBayes().fit(X, y)
in_threads([lambda: [a.merge(b) for _ in range(10)], lambda: [b.merge(a) for _ in range(10)]])
print("two learners merged each other")
sys.exit(0 if learned == merged == 161_000 else 1)
PY
