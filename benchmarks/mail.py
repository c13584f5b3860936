"""The mail filter, side by side with bogofilter, on the SpamAssassin public corpus.

    python -m benchmarks.mail                      all rows
    python -m benchmarks.mail --rows q --seeds 1,2,3
    python -m benchmarks.mail --write              also into benchmarks/RESULTS.md

Rows: q quality of the verdicts, every mail classified before it is learned; t learning and filtering many
mails at once; s one mail, including the start of the process; l one mail, sent to a running server.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.harness import (
    TimedCall,
    Timing,
    describe_machine,
    format_duration,
    format_markdown_table,
    format_ratio_table,
    replace_between_markers,
    time_in_turns,
)
from benchmarks.row_arguments import RowParser
from benchmarks.text import RESULTS
from benchmarks.text_contenders import installed_distributions

JOBS: dict[str, Callable[[argparse.Namespace, MailCorpus], str]] = {
    "q": lambda args, corpus: verdict_quality_tables(corpus, args.seeds),
    "t": lambda args, corpus: bulk_tables(corpus, args.repeats),
    "s": lambda args, corpus: startup_table(corpus, args.repeats),
    "l": lambda args, corpus: server_table(corpus),
}


def parse_arguments() -> argparse.Namespace:
    """Parse the command line; an unknown row is an error."""
    parser = RowParser("mail", __doc__, JOBS, repeats=5, data="real data")
    parser.add_argument(
        "--seeds", type=lambda seeds: [int(seed) for seed in seeds.split(",")], default=[1, 2, 3, 4, 5]
    )
    return parser.parse()


def main() -> None:
    args = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        corpus = MailCorpus.unpack(args.data, Path(folder))
        for row in args.rows:
            tables = JOBS[row](args, corpus)
            options = (
                f"--seeds {','.join(map(str, args.seeds))}" if row == "q" else f"--repeats {args.repeats}"
            )
            command = f"`python -m benchmarks.mail --rows {row} {options}`"
            machine = (
                f"{describe_machine(installed_distributions(['weigh'])).rstrip('.')}, {bogofilter_version()}."
            )
            page = f"{tables}\n\n{command}; {machine}"
            print(f"\n## {row}\n\n{page}", flush=True)
            if args.write:
                replace_between_markers(RESULTS, f"mail {row}", page)


MEASURE_HEADINGS = {
    "hm": "hm %",
    "sm": "sm %",
    "lam": "lam %",
    "1-roca": "1−ROCA %",
    "sm_at_hm": "sm % at hm 0.1 %",
}


def verdict_quality_tables(corpus: MailCorpus, seeds: list[int]) -> str:
    """Evaluate all learners and bogofilter on every shuffled order, and on the mails in order of time."""
    orders = {f"Shuffled, seed {seed}": ["shuffled", "--seed", str(seed)] for seed in seeds}
    orders["In the order in which they came, by their headers"] = ["time"]
    tables = [f"{title}:\n\n{_evaluation_table(corpus, order)}" for title, order in orders.items()]
    title = "6,046 mails one after the other, verdict before label, every label told at once; 95 % intervals"
    return "\n\n".join([title, *tables])


def _evaluation_table(corpus: MailCorpus, order: list[str]) -> str:
    options = [*corpus.options(), "--json", "--order", *order]
    command = [sys.executable, "-m", "weigh.cli.main", "mail", "evaluate", *options]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    rows = [
        [row["filter"], *(_format_measure(row, name) for name in MEASURE_HEADINGS)]
        for row in result["filters"]
    ]
    return format_markdown_table(["", *MEASURE_HEADINGS.values()], rows)


def _format_measure(result: dict[str, Any], name: str) -> str:
    measure = next(measure for measure in result["measures"] if measure["name"] == name)
    return f"{measure['value']:.3f} ({measure['low']:.3f} to {measure['high']:.3f})"


def bogofilter_version() -> str:
    """Return bogofilter's name and version."""
    result = subprocess.run(["bogofilter", "-V"], check=True, capture_output=True, text=True)
    return (result.stdout or result.stderr).splitlines()[0].replace(" version", "")


MAIL_COMMAND = [sys.executable, "-m", "weigh.cli.main", "mail"]
LEARNERS = ("naive-bayes", "logistic")


class LearningRun(NamedTuple):
    """A call that learns all mails into an empty folder."""

    folder: Path
    run: Callable[[], object]


def bulk_tables(corpus: MailCorpus, repeats: int) -> str:
    """Time learning all mails into a new store and filtering them all, as whole processes."""
    n = len(corpus.files("ham")) + len(corpus.files("spam"))
    learning = {f"weigh mail learn, {name}": _weigh_learning(corpus, name) for name in LEARNERS}
    learning["bogofilter -b -n, then -s"] = _bogofilter_learning(corpus)
    learned = _time_into_new_folders(learning, repeats)
    judging = {f"weigh mail filter --list, {name}": _weigh_filtering(corpus, name) for name in LEARNERS}
    judging["bogofilter -b -T"] = _bogofilter_filtering(corpus)
    judged = time_in_turns([TimedCall(name, call) for name, call in judging.items()], repeats)
    return "\n\n".join(
        f"{title} {n:,} mails, each a file; whole processes\n\n{_table_per_mail(timings, n)}"
        for title, timings in (("Learning", learned), ("Judging", judged))
    )


def startup_table(corpus: MailCorpus, repeats: int) -> str:
    """Time filtering one mail, from the start of the process to its end."""
    mail = Path(corpus.files("ham")[0]).read_bytes()
    calls: dict[str, Callable[[], object]] = {
        f"weigh mail filter, {name}": _with_standard_input(
            [*MAIL_COMMAND, "filter", "--store", str(_learned_store(corpus, name))], mail
        )
        for name in LEARNERS
    }
    calls["bogofilter -p -e"] = _with_standard_input(
        ["bogofilter", "-d", str(corpus.scratch / "bogofilter"), "-p", "-e"], mail
    )
    timings = time_in_turns([TimedCall(name, call) for name, call in calls.items()], 3 * repeats)
    title = "One mail through standard input, from process start; a store of all mails"
    return f"{title}\n\n{format_ratio_table(timings)}"


def server_table(corpus: MailCorpus) -> str:
    """Time a running server on every mail, one after the other."""
    from weigh.apps.mail.serving.client import Client

    store = _learned_store(corpus, "naive-bayes")
    path = corpus.scratch / "filter.sock"
    server = subprocess.Popen([*MAIL_COMMAND, "serve", "--store", str(store), "--socket", str(path)])
    try:
        while not path.exists():
            time.sleep(0.05)
        seconds = []
        with Client(path) as client:
            for file in corpus.files("ham") + corpus.files("spam"):
                content = Path(file).read_bytes()
                start = time.perf_counter()
                client.filter(content)
                seconds.append(time.perf_counter() - start)
    finally:
        server.terminate()
        server.wait()
    percentiles = statistics.quantiles(seconds, n=100)
    row = [
        format_duration(statistics.median(seconds)),
        format_duration(percentiles[98]),
        format_duration(max(seconds)),
    ]
    table = format_markdown_table(["median", "99 %", "most"], [row])
    return f"{len(seconds):,} mails through `weigh mail serve`\n\n{table}"


def _table_per_mail(timings: list[Timing], n: int) -> str:
    return format_ratio_table(
        timings, {"per mail": [f"{1e3 * timing.best / n:.3f} ms" for timing in timings]}
    )


def _learned_store(corpus: MailCorpus, learner: str) -> Path:
    path = corpus.scratch / learner
    if not path.exists():
        _weigh_learning(corpus, learner).run()
    return path


def _learned_word_list(corpus: MailCorpus) -> Path:
    """Return the folder of a bogofilter word list trained on all mails."""
    run = _bogofilter_learning(corpus)
    if not run.folder.exists():
        run.folder.mkdir()
        run.run()
    return run.folder


def _time_into_new_folders(runs: dict[str, LearningRun], repeats: int) -> list[Timing]:
    """Time the runs in turns after a warm-up round; clearing folders and flushing disks is not timed."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for round_number in range(repeats + 1):
        for name, run in runs.items():
            shutil.rmtree(run.folder, ignore_errors=True)
            run.folder.mkdir()
            os.sync()
            start = time.perf_counter()
            run.run()
            if round_number:
                seconds[name].append(time.perf_counter() - start)
    return [Timing(name, tuple(times)) for name, times in seconds.items()]


def _weigh_learning(corpus: MailCorpus, learner: str) -> LearningRun:
    path = corpus.scratch / learner
    command = [*MAIL_COMMAND, "learn", "--store", str(path), "--learner", learner, *corpus.options()]
    return LearningRun(path, lambda: subprocess.run(command, check=True, capture_output=True))


def _weigh_filtering(corpus: MailCorpus, learner: str) -> Callable[[], object]:
    folders = [str(path) for path in (*corpus.ham, *corpus.spam)]
    return _with_standard_input(
        [*MAIL_COMMAND, "filter", "--store", str(_learned_store(corpus, learner)), "--list", *folders], b""
    )


def _bogofilter_learning(corpus: MailCorpus) -> LearningRun:
    path = corpus.scratch / "bogofilter"
    ham, spam = corpus.write_list("ham").read_bytes(), corpus.write_list("spam").read_bytes()

    def learn() -> None:
        for flag, names in (("-n", ham), ("-s", spam)):
            subprocess.run(["bogofilter", "-d", str(path), "-b", flag], input=names, check=True)

    return LearningRun(path, learn)


def _bogofilter_filtering(corpus: MailCorpus) -> Callable[[], object]:
    names = corpus.write_list("ham", "spam").read_bytes()
    return _with_standard_input(["bogofilter", "-d", str(_learned_word_list(corpus)), "-b", "-T"], names)


def _with_standard_input(command: list[str], content: bytes) -> Callable[[], object]:
    """Return a call that runs a process on the given standard input; the exit code may be the verdict."""
    return lambda: subprocess.run(command, input=content, capture_output=True, check=False)


@dataclass(frozen=True)
class MailCorpus:
    """The folders of mails by label, and a scratch folder for stores and lists."""

    ham: tuple[Path, ...]
    spam: tuple[Path, ...]
    scratch: Path

    @classmethod
    def unpack(cls, data: Path, folder: Path) -> MailCorpus:
        """Unpack the SpamAssassin corpus into a folder."""
        with tarfile.open(data / "spamassassin.tar.xz") as archive:
            archive.extractall(folder / "mails", filter="data")
        folders = sorted(path for path in (folder / "mails").iterdir() if path.is_dir())
        spam = tuple(path for path in folders if path.name.startswith("spam"))
        return cls(tuple(path for path in folders if path not in spam), spam, folder)

    def options(self) -> list[str]:
        """Return the folders as options of `weigh mail`."""
        ham = [argument for path in self.ham for argument in ("--ham", str(path))]
        return ham + [argument for path in self.spam for argument in ("--spam", str(path))]

    def files(self, label: str) -> list[str]:
        """Return the files of one label in sorted order."""
        return sorted(str(file) for folder in getattr(self, label) for file in folder.iterdir())

    def write_list(self, *labels: str) -> Path:
        """Write the paths of the mails with these labels to a file, one per line; return its path."""
        path = self.scratch / f"{'-'.join(labels)}.list"
        path.write_text("".join(f"{file}\n" for label in labels for file in self.files(label)))
        return path


if __name__ == "__main__":
    main()
