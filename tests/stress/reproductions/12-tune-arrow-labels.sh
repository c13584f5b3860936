#!/usr/bin/env bash
# attack: tune(..., y=ArrowStringArray) with pandas 3 ends in scikit-learn's TypeError
# now: labels may come in any container that fit takes
# test: tests/trials/test_tuning.py::test_labels_may_come_in_any_container
ulimit -v 4000000
python - <<'PY'
import sys, numpy as np, pandas as pd, weigh
x = np.arange(60) % 9; y = pd.Series(np.where(x > 4, "a", "b"), dtype="string[pyarrow]").array
try: print(type(y).__name__, weigh.tune(weigh.NaiveBayes(), {"prior": [1, 2]}, x[:, None] * 1.0, y).best)
except Exception as e: print("BAD", type(e).__name__, e); sys.exit(1)
PY
