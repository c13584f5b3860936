"""The mail filter, beside bogofilter, on the SpamAssassin public corpus."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.data import MAILS, Mails, read_mails
from benchmarks.job import WORK, Check, Contender, Job, Quality, Role, Row
from benchmarks.results import format_duration, format_markdown_table

MAIL_COMMAND = (sys.executable, "-m", "weigh.cli.main", "mail")
LEARNERS: dict[str, Role] = {"naive-bayes": "ours", "logistic": "variant"}
BOGOFILTER = ("bin/bogofilter",)
PACKAGES = ("weigh",)
VERDICT_CODES = (0, 1, 2, 3)  # an exit code may be the verdict
N_MAILS = 6_046
SIZE, QUICK = {"mails": N_MAILS}, {"mails": 600}
MEASURE_HEADINGS = {
    "hm": "hm %",
    "sm": "sm %",
    "lam": "lam %",
    "1-roca": "1−ROCA %",
    "sm_at_hm": "sm % at hm 0.1 %",
}


def store(mails: Mails, name: str) -> Path:
    return mails.folder.with_name(f"{mails.folder.name}-{name}")


def clear_store(name: str) -> Callable[[Mails], None]:
    """Return a call that empties a store and flushes the disks."""

    def clear(mails: Mails) -> None:
        shutil.rmtree(store(mails, name), ignore_errors=True)
        store(mails, name).mkdir()
        os.sync()

    return clear


def learn_command(learner: str, mails: Mails) -> list[str | Path]:
    return [*MAIL_COMMAND, "learn", "--store", store(mails, learner), "--learner", learner, *mails.options]


def bogofilter_command(mails: Mails) -> list[str | Path]:
    """Return a shell command that learns ham, then spam, from lists of files."""
    learn = f"bogofilter -d {store(mails, 'bogofilter')} -b"
    ham, spam = mails.list_file("ham"), mails.list_file("spam")
    return ["sh", "-c", f"{learn} -n < {ham} && {learn} -s < {spam}"]


def learned(name: str, command: Callable[[Mails], list[str | Path]]) -> Callable[[Mails], Mails]:
    """Return a call that learns all mails into an empty store."""

    def learn(mails: Mails) -> Mails:
        clear_store(name)(mails)
        subprocess.run([str(part) for part in command(mails)], check=True, capture_output=True)
        return mails

    return learn


def learning_contenders() -> tuple[Contender, ...]:
    ours = [
        Contender(f"weigh mail learn, {name}", command=partial(learn_command, name), role=role,
                  before=clear_store(name))
        for name, role in LEARNERS.items()
    ]  # fmt: skip
    theirs = Contender("bogofilter -b -n, then -s", command=bogofilter_command, needs=BOGOFILTER,
                       before=clear_store("bogofilter"))  # fmt: skip
    return (*ours, theirs)


def judging_contenders(
    ours: Callable[[Mails], str], theirs: Callable[[Mails], str], names: tuple[str, str], parse: Any = None
) -> tuple[Contender, ...]:
    """Return contenders that judge mails with a store of all of them; the arguments end their commands."""

    def filter_command(name: str, mails: Mails) -> list[str]:
        base = " ".join([*MAIL_COMMAND, "filter", "--store", str(store(mails, name))])
        return ["sh", "-c", f"{base} {ours(mails)}"]

    def bogofilter(mails: Mails) -> list[str]:
        return ["sh", "-c", f"bogofilter -d {store(mails, 'bogofilter')} {theirs(mails)}"]

    shared: dict[str, Any] = {"exit_codes": VERDICT_CODES, "answer": parse}
    contenders = [
        Contender(f"{names[0]}, {name}", command=partial(filter_command, name), role=role,
                  prepare=learned(name, partial(learn_command, name)), **shared)
        for name, role in LEARNERS.items()
    ]  # fmt: skip
    prepare = learned("bogofilter", bogofilter_command)
    peer = Contender(names[1], command=bogofilter, needs=BOGOFILTER, prepare=prepare, **shared)
    return (*contenders, peer)


def list_folders(mails: Mails) -> str:
    return f"--list {mails.folder / 'ham'} {mails.folder / 'spam'}"


def count_lines(mails: Mails, output: Path) -> int:
    return len(output.read_text(errors="replace").splitlines())


def line_facts(mails: Mails, lines: int) -> Mapping[str, float]:
    return {"lines of output": float(lines)}


def evaluation_tables(quick: bool) -> str:
    """Evaluate all learners and bogofilter on every shuffled order, and on the mails in order of time."""
    mails = read_mails(**(QUICK if quick else SIZE))
    seeds = (1,) if quick else (1, 2, 3, 4, 5)
    orders = {f"Shuffled, seed {seed}": ["shuffled", "--seed", str(seed)] for seed in seeds}
    orders["In the order in which they came, by their headers"] = ["time"]
    return "\n\n".join(f"{title}:\n\n{_evaluation_table(mails, order)}" for title, order in orders.items())


def _evaluation_table(mails: Mails, order: list[str]) -> str:
    command = [*MAIL_COMMAND, "evaluate", *mails.options, "--json", "--order", *order]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    rows = [
        [row["filter"], *(_format_measure(row, name) for name in MEASURE_HEADINGS)]
        for row in result["filters"]
    ]
    return format_markdown_table(["", *MEASURE_HEADINGS.values()], rows)


def _format_measure(result: dict[str, Any], name: str) -> str:
    measure = next(measure for measure in result["measures"] if measure["name"] == name)
    return f"{measure['value']:.3f} ({measure['low']:.3f} to {measure['high']:.3f})"


def server_table(quick: bool) -> str:
    """Time a running server on every mail, one after the other."""
    from weigh.apps.mail.serving.client import Client

    mails = read_mails(**(QUICK if quick else SIZE))
    learned("naive-bayes", partial(learn_command, "naive-bayes"))(mails)
    path = WORK / "filter.sock"
    path.unlink(missing_ok=True)
    command = [*MAIL_COMMAND, "serve", "--store", str(store(mails, "naive-bayes")), "--socket", str(path)]
    server = subprocess.Popen(command)
    try:
        while not path.exists():
            time.sleep(0.05)
        seconds = []
        with Client(path) as client:
            for file in mails.files("ham") + mails.files("spam"):
                content = Path(file).read_bytes()
                start = time.perf_counter()
                client.filter(content)
                seconds.append(time.perf_counter() - start)
    finally:
        server.terminate()
        server.wait()
    figures = (statistics.median(seconds), statistics.quantiles(seconds, n=100)[98], max(seconds))
    table = format_markdown_table(["median", "99 %", "most"], [[format_duration(value) for value in figures]])
    return f"{len(seconds):,} mails\n\n{table}"


FILES = (MAILS,)
JOBS: list[Row] = [
    Quality("mail.q", "Mails in turn, verdict before label, every label told at once; 95 % intervals",
            evaluation_tables, FILES, BOGOFILTER, packages=PACKAGES),
    Job(
        "mail.t.learn", "Learning mails, each a file; whole processes", read_mails, SIZE, QUICK,
        learning_contenders(), grow={"mails": 600}, files=FILES, packages=PACKAGES,
    ),
    Job(
        "mail.t.judge", "Judging mails, each a file; whole processes", read_mails, SIZE, QUICK,
        judging_contenders(list_folders, lambda mails: f"-b -T < {mails.list_file('ham', 'spam')}",
                           ("weigh mail filter --list", "bogofilter -b -T"), count_lines),
        line_facts, Check("lines of output", 0.0), {"mails": 600}, FILES, packages=PACKAGES,
    ),
    Job(
        "mail.s", "One mail through standard input, from process start; a store of all mails", read_mails,
        SIZE, QUICK, judging_contenders(lambda mails: f"< {mails.files('ham')[0]}",
                                  lambda mails: f"-p -e < {mails.files('ham')[0]}",
                                  ("weigh mail filter", "bogofilter -p -e")),
        grow={"mails": 600}, files=FILES, repeats=15, packages=PACKAGES,
    ),
    Quality("mail.l", "Mails through `weigh mail serve`", server_table, FILES, packages=PACKAGES),
]  # fmt: skip
