#!/usr/bin/env bash
# attack: predict and audit write class labels that a spreadsheet runs as formulas into CSV
# now: such cells get a single quote in front; numbers do not; --raw writes every name exactly
# test: tests/cli/test_csv_output.py::test_raw_output_has_the_names_themselves
ulimit -v 4000000
cat > formulas.py <<'P'
import csv, subprocess, sys
names = ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1+1", "a;=1+1", '"=1', "-3.5", "+1e5", "ham"]
with open("rows.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows([["x", "label"], *([f"level {k}", name] for k, name in enumerate(names))])
run = lambda *arguments: subprocess.run(["weigh", *arguments], check=True, stdout=subprocess.DEVNULL)
run("fit", "rows.csv", "--label", "label", "--strings", "label", "--kind", "x=category", "-o", "m.weigh")
def column(path, key):
    with open(path, newline="", encoding="utf-8") as file:
        return [row[key] for row in csv.DictReader(file)]
def check(command, key, *more):
    run(command, "m.weigh", "rows.csv", "-o", "safe.csv", *more)
    run(command, "m.weigh", "rows.csv", "-o", "exact.csv", "--raw", *more)
    safe, exact = column("safe.csv", key), column("exact.csv", key)
    print(command, safe)
    formulas = [cell for cell in safe if cell.lstrip()[:1] in tuple("=+-@＝") and cell not in ("-3.5", "+1e5")]
    unquoted = "a;=1+1" in open("safe.csv", encoding="utf-8").read().replace('"a;=1+1"', "")
    numbers_stay = {"-3.5", "+1e5", "ham"} <= set(safe)
    return not formulas and not unquoted and numbers_stay and exact == names
results = [check("predict", "prediction"), check("audit", "label", "--unseen")]
sys.exit(not all(results))
P
python formulas.py
