#!/usr/bin/env bash
# attack: class labels with escape sequences reach the terminal in explain, trace and predict
# now: control and invisible characters of names are written as escapes such as \x1b, in every command, on a terminal and in a pipe
# test: tests/cli/test_hostile_names.py::test_no_name_controls_the_terminal_or_adds_a_line
ulimit -v 4000000
printf 'size,label\n1.5,\033[31mspam\033[0m\n2.5,ham\a\n1.4,\033[31mspam\033[0m\n2.6,ham\a\n1.6,\033[31mspam\033[0m\n2.7,ham\a\n' > rows.csv
weigh fit rows.csv --label label -o m.weigh > /dev/null || exit 1
# Run a command on a terminal of its own, and print what the terminal gets.
cat > terminal.py <<'P'
import os, pty, sys
shown = []
def read(descriptor):
    piece = os.read(descriptor, 65536)
    shown.append(piece)
    return b""
def run(command):
    shown.clear()
    pid, leader = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
    try:
        while read(leader) is not None and shown[-1]:
            pass
    except OSError:
        pass
    os.waitpid(pid, 0)
    return b"".join(shown).replace(b"\r\n", b"\n").decode()
row = ["m.weigh", "rows.csv", "--row", "0"]
commands = [["explain", *row, *more] for more in ([], ["--worked"], ["--flip"], ["--latex"])]
commands += [["predict", "m.weigh", "rows.csv", *more] for more in ([], ["--proba"], ["--raw"], ["--json"])]
commands += [["trace", "rows.csv", "--label", "label", "--passes", "1", *more] for more in ([], ["--latex"])]
failed = 0
for command in commands:
    text = run(["weigh", *command])
    bad = sorted({ascii(char) for char in text if not char.isprintable() and char != "\n"})
    escaped = "x1b[31mspam" in text or "u001b[31mspam" in text
    failed += bool(bad) or not escaped
    print("FAILED" if bad or not escaped else "ok    ", " ".join(command), *bad)
sys.exit(failed > 0)
P
python terminal.py
