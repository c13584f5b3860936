"""Run the reproductions and the attacks, and print their counts; `--case SEED` repeats one case."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.stress import reproductions
from tests.stress.attack import ATTACKS
from tests.stress.runner import START_SECONDS, AttackResult, CaseProcess, run_attack

PROCESSES = 2


def main() -> int:
    """Run what the command line asks for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__)
    parser.add_argument(
        "--seconds", type=float, default=570.0, help="time for the reproductions and all attacks together"
    )
    parser.add_argument("--seed", type=int, default=int(time.time()), help="seed of the cases")
    parser.add_argument("--attacks", default=",".join(ATTACKS), help="comma-separated names")
    parser.add_argument("--case", help="run one case, named in an earlier report")
    parser.add_argument("--table", action="store_true", help="print the table of docs/robustness.md")
    options = parser.parse_args()
    if options.table:
        print(reproductions.format_table())
        return 0
    with tempfile.TemporaryDirectory(prefix="weigh-stress-") as folder:
        if options.case:
            case = CaseProcess(options.case.split("-")[0], Path(folder)).run(options.case, START_SECONDS)
            print(case["outcome"], case.get("detail", ""))
            return int("detail" in case)
        start = time.monotonic()
        failed = reproductions.run_all(Path(folder))
        seconds = max(0.1 * options.seconds, options.seconds - (time.monotonic() - start))
        results = run_attacks(options.attacks.split(","), Path(folder), seconds, options.seed)
    for result in results:
        for fault in result.faults.values():
            print(f"\n{fault}")
    cases = sum(sum(result.outcomes.values()) for result in results)
    faults = sum(len(result.faults) for result in results)
    print(f"\n{cases:,} cases with seed {options.seed}, {faults} faults; {failed} reproductions failed")
    return int(faults + failed > 0)


def run_attacks(names: list[str], folder: Path, seconds: float, seed: int) -> list[AttackResult]:
    """Run attacks in two processes at a time, with equal shares of the time, and print each result."""

    def run(name: str) -> AttackResult:
        result = run_attack(name, folder / name, seconds * PROCESSES / len(names), seed)
        print(result, flush=True)
        return result

    with ThreadPoolExecutor(PROCESSES) as pool:
        return list(pool.map(run, names))


if __name__ == "__main__":
    sys.exit(main())
