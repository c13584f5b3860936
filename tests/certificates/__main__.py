"""Check the certificates of many random problems: python -m tests.certificates --problems 10000."""

from __future__ import annotations

import argparse
from collections import Counter

from tests.certificates.checking import check_problem
from tests.certificates.random_problems import random_problem


def main() -> None:
    """Print every fault, and how many fits reach their tolerance."""
    parser = argparse.ArgumentParser(prog="tests.certificates", description=__doc__)
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first problem")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    fits: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for seed in range(arguments.first, arguments.first + arguments.problems):
        case = random_problem(seed)
        outcome = check_problem(case.problem)
        counts["beaten"] += bool(outcome.fault)
        counts["without a finite optimum"] += outcome.is_refused
        counts["NotOptimal"] += not outcome.is_optimal
        for group in (case.difficulty, f"{case.problem.loss}, {case.penalty}"):
            fits[group] += 1
            missed[group] += not outcome.is_optimal
        if outcome.fault:
            print(seed, case.problem.loss, case.penalty, case.difficulty, outcome.fault)
    print(f"{arguments.problems} problems:", dict(counts))
    for group, number in fits.items():
        print(f"{group}: {missed[group]} of {number} NotOptimal")


if __name__ == "__main__":
    main()
