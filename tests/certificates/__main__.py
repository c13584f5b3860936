"""Check the certificates of many random problems: python -m tests.certificates --problems 10000."""

from __future__ import annotations

import argparse

from tests.certificates.survey import survey_problems


def main() -> None:
    """Print every fault, and how many fits miss their tolerance."""
    parser = argparse.ArgumentParser(prog="tests.certificates", description=__doc__)
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first problem")
    arguments = parser.parse_args()
    survey = survey_problems(range(arguments.first, arguments.first + arguments.problems))
    for seed, fault in survey.faults.items():
        print(seed, fault)
    print(f"{len(survey.faults)} certificates beaten")
    for group, n in survey.problems.items():
        print(f"{group}: {survey.missed[group]} of {n} NotOptimal, {survey.refused[group]} refused")


if __name__ == "__main__":
    main()
