#!/usr/bin/env bash
# attack: the error for class_prior=[.5,.5] does not say how to name the classes
# now: it shows the mapping with the classes of the rows, and 'uniform'
# test: tests/test_bad_input.py
ulimit -v 4000000
python - <<'PY'
import sys, weigh
for learner in (weigh.NaiveBayes, weigh.JointBayes):
    try:
        learner(class_prior=[0.5, 0.5]).fit({"x": ["u", "v"]}, ["ham", "spam"])
        sys.exit(1)
    except weigh.errors.ParameterError as error:
        print(error)
        if "{'ham': 0.5, 'spam': 0.5}" not in str(error) or "'uniform'" not in str(error):
            sys.exit(1)
PY
