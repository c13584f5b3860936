#!/bin/bash
# attack: a LIBSVM file with index 2000000 and --kind number takes 5 GB and does not end
# now: refused at once with a message that names the 2,000,000 columns, for every kind with separate statistics and every such learner
# test: tests/features/test_width.py::test_columns_with_their_own_statistics_are_refused_with_their_number
ulimit -v 4000000
printf '1 1:1 2000000:1\n-1 2:1\n' > h.svm
refused() {
    timeout 5 weigh fit h.svm -o h.weigh "$@" > out.txt 2> err.txt
    code=$?
    cat err.txt
    [ $code -eq 1 ] && grep -q '2,000,000 columns' err.txt && [ ! -e h.weigh ] || { echo "NOT REFUSED ($code): $*"; exit 1; }
}
refused --kind number
refused --kind category
refused --learner joint --kind flag
refused --learner perceptron --set scale=unit
echo "All refused."
