#!/bin/bash
# attack: the mail commands use a ledger with 1,000 overwritten bytes without any message
# now: status, explain, learn and unlearn refuse and name the file, the bytes and the way out; filter passes the message on as 'unsure, error' (-q: 3); check exits 1; rebuild repairs
# test: tests/cli/commands/mail/test_check.py::test_commands_refuse_a_damaged_ledger_and_say_what_to_do
ulimit -v 4000000
mkdir junk kept
python - <<'PY'
import random
r = random.Random(1)
word = lambda: "".join(r.choice("abcdefghij") for _ in range(6))
for n in range(300):
    for folder, text in (("junk", "cheap pills"), ("kept", "lunch at noon")):
        with open(f"{folder}/{n}", "w") as file:
            file.write(f"Subject: {text} {n}\n\n{text} {' '.join(word() for _ in range(60))}\n")
PY
export WEIGH_MAIL=$PWD/store
weigh mail learn --spam junk --ham kept >/dev/null
python - <<'PY'
import os
from weigh.apps.mail.store import MailStore
MailStore.open("store").fold()
path = "store/ledger"
size = os.path.getsize(path)
with open(path, "r+b") as file:
    for start in range(20_000, size - 1_000, 1_000_000):
        file.seek(start)
        file.write(os.urandom(1_000))
PY
failed=0
for command in status unlearn 'learn --ham'; do
    weigh mail $command < kept/1; code=$?
    echo "weigh mail $command: exit code $code"
    [ $code = 1 ] || failed=1
done
# Judging verifies what it reads, so judge all mail: errors, never other verdicts than before.
wrong=0 errors=0
for n in 1 2 3 4 5; do
    weigh mail filter -q < kept/$n 2>/dev/null; code=$?
    [ $code = 3 ] && errors=$((errors + 1))
    [ $code = 0 ] && wrong=1
done
echo "filter -q: $errors of 5 messages not judged, wrong verdicts: $wrong"
weigh mail check; [ $? = 1 ] || failed=1
weigh mail rebuild --spam junk --ham kept || failed=1
weigh mail check || failed=1
weigh mail filter -q < kept/1; [ $? = 1 ] || failed=1
exit $((failed || wrong))
