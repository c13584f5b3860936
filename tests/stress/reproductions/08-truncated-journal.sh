#!/usr/bin/env bash
# attack: the process ends with SIGBUS when a journal is truncated while its table of keys is mapped
# now: the table is read; later reads report the damage
# test: tests/journal/test_damage.py::test_truncating_a_journal_whose_keys_are_in_use_does_not_end_the_process
ulimit -v 4000000
cat > attack.py <<'P'
import os, zlib
from weigh.errors import JournalError
from weigh.journal.generation import open_generation, write_generation
from weigh.journal.storage import JournalHeader
path, n = os.path.abspath("journal"), 100_000
keys = [i.to_bytes(16, "big") for i in range(n)]
table = b"".join(keys) + b"\1" * n
write_generation(path, JournalHeader(n_keys=n, checksum=zlib.crc32(table)), table)
file = open_generation(path, os.O_RDONLY)
marks = file.read_marks()
os.truncate(path, 4096)
assert all(marks[key] == 1 for key in keys[::100])
print("the marks in use stay valid")
try:
    file.read_marks()
except JournalError as error:
    print(error)
P
python attack.py
