#!/usr/bin/env bash
# attack: the native exact sums take negative weights without complaint and give a wrong sum
# now: they are refused; carries are propagated within a call, so that no number of rows overflows
# test: tests/core/test_validation.py
ulimit -v 4000000
python - <<'PY'
import sys
import numpy as np
from weigh import _core
try:
    print(_core.class_sums(np.zeros(1, dtype=np.int32), 1, np.ones(1), -np.ones(1)))
    sys.exit(1)
except ValueError as error:
    print(error)
PY
