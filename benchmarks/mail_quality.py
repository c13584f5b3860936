"""How good the verdicts of mail filters are when every mail is judged before it is learned."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from benchmarks.harness import markdown
from benchmarks.mail_corpus import Corpus

FIGURES = {"hm": "hm %", "sm": "sm %", "lam": "lam %", "1-roca": "1−ROCA %", "sm_at_hm": "sm % at hm 0.1 %"}


def job(corpus: Corpus, seeds: list[int]) -> str:
    """Hold one trial per shuffled order and one by time, all learners and bogofilter in each."""
    orders = {f"Shuffled, seed {seed}": ["shuffled", "--seed", str(seed)] for seed in seeds}
    orders["In the order in which they came, by their headers"] = ["time"]
    tables = [f"{title}:\n\n{_trial_table(corpus, order)}" for title, order in orders.items()]
    title = "6,046 mails one after the other, verdict before label, every label told at once; 95 % intervals"
    return "\n\n".join([title, *tables])


def _trial_table(corpus: Corpus, order: list[str]) -> str:
    asked = [*corpus.options(), "--json", "--order", *order]
    command = [sys.executable, "-m", "weigh.cli.main", "mail", "evaluate", *asked]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    rows = [[each["filter"], *(_told(each, name) for name in FIGURES)] for each in found["filters"]]
    return markdown(["", *FIGURES.values()], rows)


def _told(result: dict[str, Any], name: str) -> str:
    measure = next(each for each in result["measures"] if each["name"] == name)
    return f"{measure['value']:.3f} ({measure['low']:.3f} to {measure['high']:.3f})"


def bogofilter_version() -> str:
    """Return name and version as bogofilter tells them."""
    said = subprocess.run(["bogofilter", "-V"], check=True, capture_output=True, text=True)
    return (said.stdout or said.stderr).splitlines()[0].replace(" version", "")
