#!/usr/bin/env bash
# attack: a Vowpal Wabbit importance of 1e308 is accepted, and predictions fail
# now: the line is refused with exit code 1 and the allowed range
# test: tests/estimators/test_weights.py::test_an_importance_out_of_range_is_an_error_of_its_line
ulimit -v 4000000
printf '1 1e308 |a x\n-1 1e308 |a y\n' > w.vw
weigh fit w.vw -o m.weigh > out.txt 2>&1
code=$?
cat out.txt
[ "$code" = 1 ] && grep -q "0, or from 1e-50 to 1e+50" out.txt
