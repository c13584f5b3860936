#!/usr/bin/env bash
# attack: the process ends with SIGBUS when a model is truncated to 4 kB after it was loaded
# now: files of up to 64 MiB are read into memory; they outlive any change of the file
# test: tests/model/file/test_store.py::test_arrays_of_small_files_outlive_truncation_in_place
ulimit -v 4000000
cat > run.py <<'PY'
import os
import weigh

texts = [" ".join(f"word{i}" for i in range(k, k + 40)) for k in range(0, 40_000, 40)]
weigh.NaiveBayes(columns="text").fit(texts, ["a", "b"] * 500).model_.save("model.weigh")
model = weigh.load("model.weigh")
before = os.path.getsize("model.weigh")
os.truncate("model.weigh", 4096)
print(f"truncated from {before:,} to 4,096 bytes; predicts", model.predict(["word1 word2 word30000"]))
try:
    weigh.load("model.weigh")
except weigh.errors.ModelFileError as error:
    print(error)
PY
timeout 19 python -W ignore run.py
code=$?
echo "exit code $code"
exit $((code != 0))
