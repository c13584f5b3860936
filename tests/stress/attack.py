"""What an attack is, and the process in which its cases run.

A case is a seed. `python -m tests.stress.attack NAME FOLDER` reads seeds from standard input, one per line,
and answers each with a line of JSON. A crash, too much memory or an endless loop ends only this process; the
parent (`runner.py`) knows which seed it was.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import resource
import sys
import traceback
import warnings
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from weigh.errors import WeighError

ATTACKS = {
    "files": "FileAttack",
    "arrays": "ArrayAttack",
    "models": "ModelAttack",
    "names": "NameAttack",
    "threads": "ThreadAttack",
    "kills": "KillAttack",
}


class Attack(ABC):
    """A kind of attack: `run_case` makes one hostile input from a random generator and checks the outcome."""

    max_address_space: ClassVar[int] = 4_000_000 * 1024

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def run_case(self, rng: random.Random) -> str:
        """Run one case and return the name under which it is counted.

        A WeighError counts as refused. Every other exception is a fault.
        """


def load_attack(name: str, folder: Path) -> Attack:
    """Return the attack of this name, prepared in a folder of its own."""
    module = importlib.import_module(f"tests.stress.{name}")
    attack: Attack = getattr(module, ATTACKS[name])(folder)
    return attack


def run_case(attack: Attack, seed: str) -> dict[str, str]:
    """Run one case; return its outcome, and the traceback if it is a fault."""
    try:
        return {"seed": seed, "outcome": attack.run_case(random.Random(seed))}
    except WeighError:
        return {"seed": seed, "outcome": "refused"}
    except BaseException:
        return {"seed": seed, "outcome": "fault", "detail": traceback.format_exc()}


def main(name: str, folder: str) -> None:
    """Answer seeds from standard input until it ends."""
    # The answers keep standard output; whatever else is printed goes to standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    os.chdir(folder)
    attack = load_attack(name, Path(folder))
    resource.setrlimit(resource.RLIMIT_AS, (attack.max_address_space, attack.max_address_space))
    for line in sys.stdin:
        answers.write(json.dumps(run_case(attack, line.strip())) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
