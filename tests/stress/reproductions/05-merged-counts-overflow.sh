#!/usr/bin/env bash
# attack: the sum of weights of models that are merged again and again overflows 64-bit integers, and predict_proba fails
# now: totals beyond 2^53 become floats, which predict, save and load; totals beyond 1e100 are refused
# test: tests/estimators/test_weights.py::test_counts_become_floats_before_they_overflow
ulimit -v 4000000
python - <<'PY'
import sys
import weigh
nb = weigh.NaiveBayes(prior=None).fit({"a": ["x", "y", "y"]}, ["p", "q", "p"])
before = nb.predict_proba({"a": ["x", "y"]})
try:
    for _ in range(70):
        nb.merge(nb)
    print(nb.model_.counts.rows, nb.predict_proba({"a": ["x", "y"]}).tolist())
    nb.model_.save("m.weigh")
    weigh.load("m.weigh")
    sys.exit(int(abs(nb.predict_proba({"a": ["x", "y"]}) - before).max() > 1e-12))
except weigh.errors.WeighError as error:
    print(type(error).__name__, error)
    sys.exit(1)
PY
