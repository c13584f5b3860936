#!/usr/bin/env bash
# attack: `b"\xff"` in object arrays, lists that contain themselves, dictionary codes out of range, undecodable Arrow text
# now: each is refused with a WeighError that is also a ValueError and names the column
# test: tests/source/memory/test_columns.py::test_values_without_a_reading_are_errors_of_weigh
ulimit -v 4000000
python - <<'PY'
import warnings; warnings.simplefilter("ignore")
import sys, numpy as np, pandas as pd, pyarrow as pa, weigh
y, bad = ["a", "b", "a", "b"], 0
loop = []; loop.append(loop)
wide = []; wide.extend([wide] * 4)
cat = pd.Categorical.from_codes([0, 1, 0, 1], categories=["p", "q"]); cat._ndarray[1] = 9
cases = {
    "bytes": {"c": np.array([b"\xff", "x", "y", "z"], object)},
    "list in itself": {"c": [loop, ["a"], ["b"], ["c"]]},
    "rows in themselves": [loop] * 4,
    "dictionary": {"c": pa.DictionaryArray.from_arrays(pa.array([0, 9, 0, 1]), pa.array(["p", "q"]), safe=False)},
    "category": pd.DataFrame({"c": cat, "x": [1.0, 2, 3, 4]}),
    "offsets": {"c": pa.Array.from_buffers(pa.string(), 4, [None, pa.py_buffer(np.array([0, 1, 10**9, 3, 4], np.int32)), pa.py_buffer(b"wxyz")])},
}
for name, X in cases.items():
    try: weigh.NaiveBayes().fit(X, y); print(name, "ACCEPTED"); bad = 1
    except weigh.errors.WeighError as e: print(name, "->", type(e).__name__, e); bad |= not isinstance(e, ValueError)
    except Exception as e: print(name, "-> BAD", type(e).__name__, str(e)[:80]); bad = 1
sys.exit(bad)
PY
