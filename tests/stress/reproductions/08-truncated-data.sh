#!/usr/bin/env bash
# attack: the process ends with SIGBUS when a data file is truncated while it is mapped
# now: data files are read, not mapped; a file that shrinks or grows is refused with a SourceError
# test: tests/source/files/test_changed_files.py::test_truncating_a_file_whose_rows_are_being_parsed_does_not_end_the_process
ulimit -v 4000000
cat > attack.py <<'P'
import os, sys, weigh
files = {
    "d.csv": ("x,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(100_000)), {"label": "y"}),
    "d.ft": ("__label__a some words\n__label__b others\n" * 100_000, {"format": "fasttext"}),
}
def attack(path, text, options, new_size):
    open(path, "w").write(text)
    try:
        for number, reader in enumerate(weigh.open(path, **options).chunk_readers()):
            if number == 1:
                os.truncate(path, new_size)
            reader.read()
    except weigh.errors.SourceError as error:
        print(error)
        return "changed while it was read" in str(error)
    print(path, "read without an error")
    return False
results = [attack(path, *case, size) for path, case in files.items() for size in (4096, len(case[0]) + 100)]
sys.exit(not all(results))
P
python attack.py
