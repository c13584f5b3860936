#!/usr/bin/env bash
# attack: a header of 90 MB with correct digests takes 39 s and 1.5 GB before it is refused
# now: headers above 80 MB or 8 million values are refused before they are parsed, within a second and 300 MB
# test: tests/model/file/test_store.py::test_a_header_above_the_limits_is_refused_before_it_is_parsed
ulimit -v 4000000
timeout 19 python -W ignore - <<'PY'
import hashlib, resource, sys, time


def seal(before, after):
    """Write a file whose header is the canonical JSON before + digest + after; its content is an object."""
    bare = before + after
    digest = hashlib.sha256(bare).hexdigest().encode()
    header = before + b',"sha256_header":"' + digest + b'"' + after
    header += b" " * (-(8 + len(header)) % 64)
    open("large.weigh", "wb").write(len(header).to_bytes(8, "little") + header)
    return len(header)


empty = hashlib.sha256(b"").hexdigest().encode()
import weigh
weigh.load
failed = 0
for item, n in ((b"[],", 30_000_000), (b"[],", 20_000_000), (b"1,", 35_000_000)):
    before = b'{"__metadata__":{"content":"{\\"x\\":[' + item * n + b'1]}","format":"weigh","sha256":"' + empty + b'"'
    size = seal(before, b',"version":"1"}}')
    del before
    pid_memory = lambda: int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() // 2**20
    start, old = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        weigh.load("large.weigh")
    except (weigh.errors.ModelFileError, MemoryError) as error:
        message = str(error)[:90] or type(error).__name__
    taken = time.process_time() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - old) // 1024
    print(f"{size:,} bytes of {item.decode()}…: {taken:.1f} s of processor time, {grown} MB more at the peak: {message}")
    failed += taken > 2 or grown > 300
sys.exit(failed > 0)
PY
