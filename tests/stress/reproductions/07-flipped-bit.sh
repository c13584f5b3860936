#!/usr/bin/env bash
# attack: a flipped bit in a model above 16 MiB changes predictions silently
# now: the digest of every file is verified when it is loaded
# test: tests/model/file/test_store.py::test_every_flipped_bit_of_the_data_is_detected_however_the_file_is_read
ulimit -v 4000000
cat > make.py <<'PY'
import sys
import numpy as np
from weigh.features.schema import Schema
from weigh.features.text_kinds import Text
from weigh.model.distributions.word_weights import WordWeights
from weigh.model.linear import LinearModel

# 19 MiB are read, 78 MiB are mapped
for name, classes in (("read", 24), ("mapped", 100)):
    words = [f"w{i}" for i in range(100_000)]
    weights = np.zeros((len(words), classes))
    term = WordWeights("text", words, weights, False, None)
    model = LinearModel(Schema(["text"], [Text()], True, "y"), [f"c{i}" for i in range(classes)], np.zeros(classes), [term])
    model.save(f"{name}.weigh")
    content = bytearray(open(f"{name}.weigh", "rb").read())
    content[-802 if name == "mapped" else -194] ^= 0x40  # the weight of the last word
    open(f"{name}.weigh", "wb").write(content)
PY
timeout 19 python -W ignore make.py || exit 2
echo text > rows.csv; echo w99999 >> rows.csv
failed=0
for name in read mapped; do
    if timeout 19 weigh predict $name.weigh rows.csv 2>&1 | tail -3 | cut -c1-150 | tee out.txt | grep -q "do not match their digest"; then
        cat out.txt
    else
        failed=1; echo "$name.weigh, $(stat -c %s $name.weigh) bytes with a flipped bit: $(cat out.txt)"
    fi
done
exit $failed
