#!/usr/bin/env bash
# attack: a header of 90 MB with correct digests takes 39 s and 1.5 GB before it is refused
# now: headers above 80 MB or 8 million values are refused before they are parsed, within a second and 300 MB
# test: tests/model/file/test_store.py::test_a_header_above_the_limits_is_refused_before_it_is_parsed
ulimit -v 4000000
cat > make.py <<'PY'
import hashlib, sys

item, n = sys.argv[1].encode(), int(sys.argv[2])
empty = hashlib.sha256(b"").hexdigest().encode()
before = b'{"__metadata__":{"content":"{\\"x\\":[' + item * n + b'1]}","format":"weigh","sha256":"' + empty + b'"'
after = b',"version":"1"}}'
digest = hashlib.sha256(before + after).hexdigest().encode()
header = before + b',"sha256_header":"' + digest + b'"' + after
header += b" " * (-(8 + len(header)) % 64)
open("large.weigh", "wb").write(len(header).to_bytes(8, "little") + header)
PY
cat > load.py <<'PY'
import os, resource, sys, time
import weigh

start = time.process_time()
try:
    weigh.load("large.weigh")
except (weigh.errors.ModelFileError, MemoryError) as error:
    message = str(error)[:100] or type(error).__name__
taken, peak = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(f"{os.path.getsize('large.weigh'):,} bytes: {taken:.1f} s of processor time, {peak} MB at the peak: {message}")
sys.exit(taken > 2 or peak > 300)
PY
failed=0
for case in "[], 30000000" "[], 20000000" "1, 35000000"; do
    timeout 19 python -W ignore make.py $case || exit 2
    timeout 19 python -W ignore load.py || failed=1
done
exit $failed
