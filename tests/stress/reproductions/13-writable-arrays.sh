#!/usr/bin/env bash
# attack: coef_ of exact fits and posterior_.covariance are writable caches
# now: arrays of estimators, models and results are read-only, also after copying and unpickling
# test: tests/contract/test_read_only.py::test_weights_and_covariances_cannot_be_overwritten
ulimit -v 4000000
timeout 19 python -W ignore - <<'PY'
import copy, pickle, sys
import numpy as np
import weigh

x = np.arange(20.0)
table = {"x": x, "z": np.cos(x), "y": 2 * x + np.sin(x)}
flags = {"x": x, "z": np.cos(x), "y": x + 3 * np.cos(x) > 9}
n_changed = 0
for learner, rows in ((weigh.LinearRegression(), table), (weigh.LogisticRegression(), flags)):
    fitted = learner.fit(rows, "y")
    for how, m in {"fitted": fitted, "copied": copy.deepcopy(fitted), "pickled": pickle.loads(pickle.dumps(fitted))}.items():
        for name in ("coef_", "posterior_.covariance", "posterior_.mean", "model_.base", "feature_names_in_"):
            owner, _, last = name.rpartition(".")
            array = lambda: getattr(getattr(m, owner) if owner else m, last)
            before = array().copy()
            try:
                array()[:] = 0
            except ValueError as error:
                continue
            n_changed += not np.array_equal(array(), before)
            print(f"{type(learner).__name__} ({how}): {name} was overwritten")
print(f"{n_changed} arrays overwritten; predictions: {fitted.predict(flags)[:3]}")
sys.exit(1 if n_changed else 0)
PY
