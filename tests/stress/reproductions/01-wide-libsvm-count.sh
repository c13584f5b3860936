#!/bin/bash
# attack: counts, perceptrons and regressions of 2,000,000 columns visit every column in Python
# now: fit, predict, explain, verify and diff of 2,000,000 columns end within seconds
# test: tests/features/test_width.py::test_two_million_columns_give_the_predictions_of_the_columns_that_occur
ulimit -v 4000000
printf '1 1:1 2000000:1\n-1 2:1\n1 1:1\n-1 2:2 3:1\n' > h.svm
run() { timeout 6 weigh "$@" | tail -2; [ "${PIPESTATUS[0]}" -eq 0 ] || { echo "FAILED: weigh $*"; exit 1; }; }
run fit h.svm --kind count -o nb.weigh
run predict nb.weigh h.svm
run explain nb.weigh h.svm --row 0
run diff nb.weigh nb.weigh
run fit h.svm --learner perceptron -o perceptron.weigh
run verify perceptron.weigh h.svm
