"""Ten, hundreds and 21,000 classes in bounded memory.

A model of C classes takes 8 bytes per class and value (levels, flags, words) and some hundred bytes per
class and number. Prediction computes the scores of 4 million (row, class) pairs at a time per thread, 32 MB
with a few copies: a few hundred MB at most for any number of rows.
"""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

import weigh

PROGRAM = """
import json
import numpy as np
import pytest
from weigh.engines import run
from weigh.learn import BayesTask
from weigh.source import rows

def peak():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024

n_classes = 21_000
rng = np.random.default_rng(0)
n = 2 * n_classes
table = {
    "colour": rng.choice(["red", "green", "blue"], n).astype(object),
    "size": np.tile(np.arange(n_classes), 2) + rng.normal(size=n),
    "known": rng.random(n) < 0.5,
    "class": np.tile(np.arange(n_classes), 2),
}
start = peak()
source = rows(table, "class")
model = run(BayesTask.for_source(source), source)
fitted = peak()
asked = {name: column[:600] for name, column in table.items() if name != "class"}
verdicts = model.predict(asked)
print(json.dumps({
    "classes": len(model.classes), "rows": len(verdicts), "file": len(model.to_bytes()) / 2**20,
    "fit": fitted - start, "predict": peak() - start,
    "near": float(np.mean(np.abs(verdicts - table["class"][:600]) < 50)),
}))
"""


def test_twenty_one_thousand_classes_fit_in_bounded_memory() -> None:
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=120
    )
    facts = json.loads(result.stdout)
    assert facts["classes"] == 21_000
    assert facts["rows"] == 600
    assert facts["near"] > 0.9
    assert facts["file"] < 16
    assert facts["fit"] < 150
    assert facts["predict"] < 600


@pytest.mark.filterwarnings("ignore::weigh.errors.OddClasses")
def test_scores_of_many_classes_are_computed_in_chunks() -> None:
    n_classes = 21_000
    values, labels = np.arange(n_classes, dtype=np.float64)[:, None], np.arange(n_classes)
    model = weigh.NaiveBayes(columns=weigh.Number(spread=0.1)).fit(values, labels).model_
    assert max(chunk.n_rows for chunk in model.chunks(values[:1000])) * n_classes <= 4_000_000
    np.testing.assert_array_equal(model.predict(values[:300]), labels[:300])


def test_ten_digits_are_classified() -> None:
    X, y = load_digits(return_X_y=True)
    learner = weigh.NaiveBayes(columns="count").fit(X[::2], y[::2])
    assert learner.classes_.tolist() == list(range(10))
    assert learner.score(X[1::2], y[1::2]) > 0.85


def test_models_of_hundreds_of_classes_merge() -> None:
    rng = np.random.default_rng(2)
    values, labels = rng.poisson(1.0, (2000, 5)), rng.integers(0, 700, 2000)
    first, second, whole = (
        weigh.NaiveBayes(columns="count").fit(values[part], labels[part]).model_
        for part in (slice(0, 900), slice(900, None), slice(None))
    )
    assert first.merge(second).to_bytes() == whole.to_bytes()
