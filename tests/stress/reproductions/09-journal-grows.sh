#!/usr/bin/env bash
# attack: with a damaged ledger the journal grows past its limit of 1 MB, because folding fails without a message
# now: learn refuses before it writes anything, so the journal keeps its size
# test: tests/apps/mail/test_store_folder.py::test_nothing_is_learned_into_a_store_with_a_damaged_ledger
ulimit -v 4000000
python - <<'PY'
import random, sys, os
from weigh.apps.mail.store import MailStore
from weigh.errors import WeighError
r = random.Random(2)
mail = lambda n: f"Subject: {n}\n\n{' '.join(str(r.random()) for _ in range(100))}\n".encode()
store = MailStore.open("store", create=True)
store.learn([mail(n) for n in range(300)], "ham")
store.learn([mail(n) for n in range(300)], "spam")
store.fold()
with open("store/ledger", "r+b") as file:
    file.seek(20_000)
    file.write(os.urandom(1_000))
before = os.path.getsize("store/journal")
try:
    for _ in range(4):
        MailStore.open("store").learn([mail(n) for n in range(300)], "ham")
    print("nothing was refused")
except WeighError as error:
    print(f"{type(error).__name__}: {error}")
grown = os.path.getsize("store/journal") - before
print(f"the journal grew by {grown:,} bytes")
sys.exit(grown != 0)
PY
