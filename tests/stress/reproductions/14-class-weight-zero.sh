#!/usr/bin/env bash
# attack: class_weight of 0 is refused while sample_weight 0 is allowed
# now: it is accepted and equals a sample_weight of 0 for the rows of the class, which is not learned; all zero is an error
# test: tests/estimators/test_weights.py::test_a_class_weight_of_zero_equals_sample_weights_of_zero
ulimit -v 4000000
printf 'x,y\n1.5,a\n2.5,b\n0.5,c\n1.0,a\n3.5,b\n' > d.csv
weigh fit d.csv --label y --learner logistic --set 'class_weight={"c": 0}' -o m.weigh || exit 1
python - <<'PY' || exit 1
import numpy as np, weigh
X, y = np.random.default_rng(0).normal(size=(30, 2)), np.array(list("abc") * 10)
for make in (weigh.Perceptron, weigh.LogisticRegression, lambda **s: weigh.LogisticRegression(method="online", **s)):
    zero = make(class_weight={"c": 0}).fit(X, y)
    rows = make().fit(X, y, sample_weight=np.where(y == "c", 0.0, 1.0))
    assert zero.model_.to_bytes() == rows.model_.to_bytes()
    try:
        make(class_weight=dict.fromkeys("abc", 0)).fit(X, y)
        raise SystemExit(1)
    except weigh.errors.DataError as error:
        print(zero.classes_, error)
PY
