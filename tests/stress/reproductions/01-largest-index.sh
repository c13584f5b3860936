#!/bin/bash
# attack: index 2147483647 in a LIBSVM file or a sparse matrix, with every learner and kind
# now: refused before anything is allocated, with a message that names the 2,147,483,647 columns
# test: tests/features/test_width.py::test_the_largest_index_is_refused_by_every_learner
ulimit -v 4000000
printf '1 1:1 2147483647:1\n-1 2:1\n' > h.svm
timeout 5 weigh fit h.svm --kind count > out.txt 2> err.txt
code=$?
cat err.txt
[ $code -eq 1 ] && grep -q '2,147,483,647 columns' err.txt || exit 1
timeout 10 python - <<'P' || exit 1
import sys, weigh
from itertools import product
source = weigh.open("h.svm")
makers = [weigh.NaiveBayes, weigh.JointBayes, weigh.Threshold, weigh.Perceptron, weigh.LogisticRegression, weigh.LinearRegression]
makers += [lambda columns, s=s: weigh.Perceptron(keep=s, columns=columns) for s in ("last", "voted", "lazy")]
makers += [lambda columns: weigh.LogisticRegression(method="online", columns=columns), lambda columns: weigh.LinearRegression(noise="laplace", columns=columns)]
kinds = ["auto", "number", weigh.Number(bins=4), weigh.Number(spread="shared"), weigh.Number(scale="unit"), "count", "flag", "category", {"x1": "count"}]
n = 0
for make, kind in product(makers, kinds):
    try:
        make(columns=kind).fit(source)
        sys.exit(f"accepted: {make} {kind}")
    except weigh.errors.DataError as error:
        if "2,147,483,647 columns" not in str(error):
            sys.exit(f"{make} {kind}: {error}")
        n += 1
print(n, "combinations refused by name")
P
