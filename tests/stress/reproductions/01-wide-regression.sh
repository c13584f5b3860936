#!/bin/bash
# attack: regressions of 2,000,000 columns build dense rows or lists of all columns
# now: they solve for the columns that occur and print the largest weights
# test: tests/learn/linear/test_problem_setup.py::test_columns_that_do_not_occur_change_no_weight
ulimit -v 4000000
python - <<'P' || exit 1
import resource, time, warnings
import numpy as np, scipy.sparse as sp, weigh
warnings.simplefilter("ignore")
start = time.process_time()
X = sp.csr_matrix((np.ones(36), (np.repeat(np.arange(12), 3), np.ravel([[i % 2, 2 + i % 3, 1_999_999 - i % 4] for i in range(12)]))), (12, 2_000_000))
y = np.arange(12) % 2
for learner in (
    weigh.LogisticRegression(), weigh.LogisticRegression(method="online"), weigh.LinearRegression(noise="laplace"),
    weigh.LinearRegression(prior=weigh.Laplace("cv")), weigh.LinearRegression(prior=weigh.Normal("cv")),
):
    learner.fit(X, y)
    summary = str(learner.summary()).splitlines()[0]
    print(summary, "|", np.rint(learner.predict(X)).astype(int).tolist() == y.tolist())
seconds, kilobytes = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(f"{seconds:.1f} s, {kilobytes / 1024:.0f} MB")
assert seconds < 15 and kilobytes < 1_500_000
P
