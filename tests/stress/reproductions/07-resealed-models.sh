#!/usr/bin/env bash
# attack: model files with a recomputed digest but inconsistent contents fail later with KeyError, ValueError or NaN
# now: load refuses each of them with a ModelFileError that names the file and the reason
# test: tests/model/file/test_resealed_files.py::test_a_contradiction_is_refused_with_its_reason
ulimit -v 4000000
timeout 19 python -W ignore - <<'PY'
import sys
import numpy as np
import weigh
from weigh.model.file import store

table = {"sky": ["sun", "rain"] * 6, "warm": [float(i) for i in range(12)], "windy": [True, False, False] * 4,
         "note": ["fine dry day", "cold rain", "strong wind and rain"] * 4, "play": ["yes", "no"] * 6}
kinds = {"sky": "category", "warm": weigh.Number(bins=(4.0, 8.0)), "windy": "flag", "note": "text"}
naive_bayes = weigh.NaiveBayes(columns=kinds).fit(table, "play").model_
joint = weigh.JointBayes(columns={"windy": "flag"}).fit({k: table[k] for k in ("sky", "windy", "play")}, "play").model_
logistic = weigh.LogisticRegression(columns={**kinds, "warm": "number"}).fit(table, "play").model_
linear = weigh.LinearRegression().fit({"a": table["warm"], "y": [x * x for x in table["warm"]]}, "y").model_


def number_as_word(meta, arrays): meta["part3.names"][0] = 0.5
def other_bins(meta, arrays): meta["schema"]["columns"][1][1]["bins"] = [4.0]
def more_flags_than_rows(meta, arrays): arrays["part2.present.table"] = arrays["part2.present.table"] + 99
def level_of_a_flag(meta, arrays): meta["part0.levels1"][1] = "rain"
def other_term(meta, arrays): meta["part0.type"] = "WordWeights"
def negative_covariance(meta, arrays): arrays["posterior.covariance"] = arrays["posterior.covariance"] - 1e9
def nan_weights(meta, arrays): arrays["part0.table"] = np.full_like(arrays["part0.table"], np.nan)


failed = 0
for model, change in [(logistic, number_as_word), (naive_bayes, other_bins), (naive_bayes, more_flags_than_rows),
                      (joint, level_of_a_flag), (logistic, other_term), (linear, negative_covariance),
                      (logistic, nan_weights)]:
    meta, arrays = model.to_store()
    meta = {"model": model.type_name, **meta}
    change(meta, arrays)
    store.write("changed.weigh", meta, arrays)
    try:
        changed = weigh.load("changed.weigh")
    except weigh.errors.ModelFileError as error:
        print(f"{change.__name__}: {error}")
        continue
    failed += 1
    try:
        rows = {"a": 1.0} if model is linear else {k: v[:1] for k, v in table.items() if k in changed.schema.names}
        print(f"{change.__name__}: loaded, {changed.predict(rows)}, {changed.sample(2) if model is joint else ''}")
    except Exception as error:
        print(f"{change.__name__}: loaded, then {type(error).__name__}: {error}")
sys.exit(failed > 0)
PY
