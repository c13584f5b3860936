#!/usr/bin/env bash
# attack: damaged Parquet files give StopIteration / UnicodeDecodeError tracebacks
# now: every single-bit change of a small Parquet file is read or refused with a WeighError
# test: tests/source/files/test_open_files.py::test_a_parquet_file_with_any_bit_flipped_is_read_or_refused
ulimit -v 4000000
python - <<'PY'
import warnings; warnings.simplefilter("ignore")
import collections, sys, pyarrow as pa, pyarrow.parquet as pq, weigh
t = pa.table({"s": pa.array(["red", "green", "red"]).dictionary_encode(), "y": ["a", "b", "a"]})
pq.write_table(t, "f.parquet", compression="none", store_schema=False)
raw, seen = open("f.parquet", "rb").read(), collections.Counter()
for i in range(4, len(raw) - 8):
    for bit in (0, 7):
        b = bytearray(raw); b[i] ^= 1 << bit; open("g.parquet", "wb").write(b)
        try: s = weigh.open("g.parquet", label="y"); list(s.chunks()); s.prefix(); seen["read"] += 1
        except weigh.errors.WeighError as e: seen[type(e).__name__] += 1
        except Exception as e: seen["BAD " + type(e).__name__] += 1
print(dict(seen)); sys.exit(any(k.startswith("BAD") for k in seen))
PY
