#!/usr/bin/env bash
# attack: the positive_only tag is missing for columns="count"
# now: it is set for counts, and scikit-learn's check of the tag passes
# test: tests/contract/test_sklearn_checks.py::test_learners_of_counts_declare_that_numbers_are_not_negative
ulimit -v 4000000
python - <<'PY'
import sys, weigh
from sklearn.utils.estimator_checks import check_positive_only_tag_during_fit
for columns in ("count", weigh.Count()):
    nb = weigh.NaiveBayes(columns=columns)
    tag = nb.__sklearn_tags__().input_tags.positive_only
    print(columns, tag)
    if not tag:
        sys.exit(1)
    check_positive_only_tag_during_fit("NaiveBayes", nb)
PY
