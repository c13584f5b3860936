#!/usr/bin/env bash
# attack: COO with an index out of range (segfault in scipy's tocsr), CSC with negative indptr
# now: refused with a DataError (also a ValueError) before scipy converts them
# test: tests/source/memory/test_sparse_layout.py::test_a_damaged_matrix_is_refused_before_scipy_converts_it
ulimit -v 4000000
python - <<'PY'
import sys, numpy as np, scipy.sparse as sp, weigh
y, bad = ["a", "b", "a", "b"], 0
csc = sp.csc_matrix(np.ones((4, 2))); csc.indptr[-1] = -5
lil = sp.lil_matrix(np.eye(4)); lil.rows[0][0] = 100
coo = sp.coo_matrix(np.eye(4)); coo.coords = (np.array([0, 1, 2, 10**6], np.int32), coo.coords[1])
for name, X in {"csc": csc, "lil": lil, "coo": coo}.items():
    try: weigh.NaiveBayes().fit(X, y); print(name, "ACCEPTED"); bad = 1
    except weigh.errors.WeighError as e: print(name, "->", e); bad |= not isinstance(e, ValueError)
    except Exception as e: print(name, "-> BAD", type(e).__name__, e); bad = 1
sys.exit(bad)
PY
