#!/usr/bin/env bash
# attack: continuous, complex or sparse y for classifiers raise scikit-learn's errors or are accepted
# now: LabelError (also a ValueError); continuous labels name the choice; 1.0 and 2.0 stay classes
# test: tests/estimators/test_labels.py
ulimit -v 4000000
python - <<'PY'
import warnings; warnings.simplefilter("ignore")
import sys, numpy as np, pyarrow as pa, scipy.sparse as sp, weigh
X, bad = np.arange(24.0).reshape(12, 2) % 5, 0
c = np.arange(12) * 0.7
cases = {"continuous": (X, c), "Arrow": (X, pa.array(c)), "column": ({"x": X[:, 0], "y": c}, "y"), "complex": (X, c * 1j), "sparse": (X, sp.csr_matrix(c[:, None]))}
for learner in (weigh.NaiveBayes, weigh.LogisticRegression, weigh.Perceptron):
    for name, (data, y) in cases.items():
        try: learner().fit(data, y); print(name, "ACCEPTED"); bad = 1
        except weigh.errors.WeighError as e: print(name, "->", e); bad |= not isinstance(e, ValueError)
        except Exception as e: print(name, "-> BAD", type(e).__name__, str(e)[:80]); bad = 1
    learner().fit(X, [1.0, 2.0] * 6)
sys.exit(bad)
PY
