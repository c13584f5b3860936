#!/bin/bash
# attack: a changed digit of the key in settings.json, or an overwritten end of the journal, changes verdicts without any message
# now: both are refused with a message
# test: tests/apps/mail/test_check.py::test_overwritten_bytes_of_any_file_are_reported_or_change_no_answer
ulimit -v 4000000
python - <<'PY'
import json, shutil, sys
from weigh.apps.mail.store import MailStore
store = MailStore.open("store", create=True)
store.learn([f"Subject: lunch {n}\n\nnoon".encode() for n in range(20)], "ham")
store.learn([f"Subject: sale {n}\n\npills".encode() for n in range(20)], "spam")
failed = 0
def damage_settings(folder):
    text = open(f"{folder}/settings.json").read()
    salt = json.loads(text)["features"]["salt"]
    changed = ("0" if salt[0] != "0" else "1") + salt[1:]
    open(f"{folder}/settings.json", "w").write(text.replace(salt, changed))
def damage_journal(folder):
    data = bytearray(open(f"{folder}/journal", "rb").read())
    data[-1000:] = bytes(1000)
    open(f"{folder}/journal", "wb").write(data)
for damage in (damage_settings, damage_journal):
    folder = shutil.copytree("store", damage.__name__)
    damage(folder)
    try:
        print(damage.__name__, MailStore.open(folder).judge([b"Subject: sale 9\n\npills"])[0])
        failed = 1
    except Exception as error:
        print(f"{damage.__name__}: {type(error).__name__}: {error}")
sys.exit(failed)
PY
