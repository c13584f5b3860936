#!/usr/bin/env bash
# attack: numbers 1e9 + k*1e-6 put the posterior off by 0.014 against exact fractions
# now: the posterior, its linear form and leave-one-out scores agree with exact fractions to 1e-12
# test: tests/model/distributions/test_gaussian_precision.py::test_the_posterior_is_that_of_exact_fractions
ulimit -v 4000000
python - <<'PY'
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
import numpy as np
import weigh

def exact(x, y, rows, shared):
    groups = [[Fraction(v) for v, c in zip(x, y) if c == label] for label in "ab"]
    means = [sum(g) / len(g) for g in groups]
    variances = [sum((v - m) ** 2 for v in g) / len(g) for g, m in zip(groups, means)]
    if shared:
        variances = [sum(v * len(g) for v, g in zip(variances, groups)) / len(x)] * 2
    dec = lambda f: Decimal(f.numerator) / Decimal(f.denominator)
    result = []
    with localcontext() as context:
        context.prec = 60
        for row in rows:
            s = [dec(Fraction(len(g), len(x))).ln() - dec(v).ln() / 2 - dec((Fraction(row) - m) ** 2 / v) / 2
                 for g, m, v in zip(groups, means, variances)]
            e = [(a - max(s)).exp() for a in s]
            result.append([float(p / sum(e)) for p in e])
    return np.array(result)

k = np.random.default_rng(0).normal(size=60)
y = np.array(list("ab") * 30)
k[y == "b"] += 1
worst = 0.0
for offset in (0.0, 1e3, 1e9, 1e15):
    for spread in ("own", "shared"):
        x = offset + k * (1e-6 if offset < 1e12 else 1.0)
        model = weigh.NaiveBayes(weigh.Number(spread=spread)).fit(x[:, None], y).model_
        found = [model, model.linear()] if spread == "shared" else [model]
        errors = [abs(m.predict_proba(x[:, None]) - exact(x, y, x, spread == "shared")).max() for m in found]
        print(f"offset {offset:g}, {spread} spread: error", *(f"{e:.1e}" for e in errors))
        worst = max(worst, *errors)
sys.exit(int(worst > 1e-12))
PY
