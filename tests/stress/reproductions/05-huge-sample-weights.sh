#!/usr/bin/env bash
# attack: NaiveBayes accepts sample_weight=[1e308]*4, and predict_proba then fails
# now: every learner refuses weights that are not 0 or from 1e-50 to 1e50, with the row; weights of 1e50 predict, save and load
# test: tests/estimators/test_weights.py::test_every_learner_refuses_weights_out_of_range
ulimit -v 4000000
python - <<'PY'
import sys, warnings
import weigh
warnings.simplefilter("ignore")
table = {"a": ["x", "y", "x", "y"], "n": [1.0, 2.5, 3.5, 4.25]}
bad = 0
for learner in (weigh.NaiveBayes(), weigh.JointBayes(), weigh.Threshold(), weigh.Perceptron(), weigh.LogisticRegression()):
    for weight in (1e308, 1e51, 1e-308):
        try:
            learner.fit(table, list("pqpq"), sample_weight=[weight] * 4)
            print(type(learner).__name__, weight, "was accepted")
            bad = 1
        except weigh.errors.DataError as error:
            print(type(learner).__name__, error)
nb = weigh.NaiveBayes().fit(table, list("pqpq"), sample_weight=[1e50] * 4)
nb.model_.save("m.weigh")
try:
    assert (weigh.load("m.weigh").predict_proba(table) == nb.predict_proba(table)).all()
    print("weights of 1e50: saved and loaded")
except weigh.errors.ModelFileError as error:
    print(error)
    bad = 1
sys.exit(bad)
PY
