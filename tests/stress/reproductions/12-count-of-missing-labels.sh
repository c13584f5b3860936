#!/usr/bin/env bash
# attack: the message that counts NaN labels says '1 of 1,000 rows' for a table of 32,561 rows
# now: it states which rows were counted ('the first 32,561 rows')
# test: tests/estimators/test_labels.py::test_missing_labels_are_counted_over_stated_rows
ulimit -v 4000000
python - <<'PY'
import re, sys, numpy as np, weigh
n = 32_561; y = np.ones(n); y[17] = np.nan
try: weigh.LinearRegression().fit({"x": np.arange(n) % 7 * 1.0, "y": y}, "y")
except weigh.errors.LabelError as e: print(e); sys.exit(not re.search(r"1 of (the first [\d,]+ rows|rows [\d,]+ to)", str(e)))
sys.exit(1)
PY
