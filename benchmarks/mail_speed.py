"""How long mail filters take: many mails at once, one from process start, one of a running server."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness import Contestant, Timing, duration, markdown, race, ratio_table
from benchmarks.mail_corpus import Corpus

MAIL = [sys.executable, "-m", "weigh.cli.main", "mail"]
LEARNERS = ("naive-bayes", "logistic")


class Learning(NamedTuple):
    """A call that learns all mails into a folder of its own, which is empty before."""

    folder: Path
    run: Callable[[], object]


def bulk_job(corpus: Corpus, repeats: int) -> str:
    """Learn all mails into a new store, then judge them all, as whole processes."""
    n = len(corpus.files("ham")) + len(corpus.files("spam"))
    learning = {f"weigh mail learn, {name}": _learning(corpus, name) for name in LEARNERS}
    learning["bogofilter -b -n, then -s"] = _bogofilter_learning(corpus)
    learned = _race_into_new_folders(learning, repeats)
    judging = {f"weigh mail filter --list, {name}": _judging(corpus, name) for name in LEARNERS}
    judging["bogofilter -b -T"] = _bogofilter_judging(corpus)
    judged = race([Contestant(name, call) for name, call in judging.items()], repeats)
    return "\n\n".join(
        f"{title} {n:,} mails, each a file; whole processes\n\n{_with_mails(timings, n)}"
        for title, timings in (("Learning", learned), ("Judging", judged))
    )


def start_job(corpus: Corpus, repeats: int) -> str:
    """Filter one mail, from the start of the process to its end."""
    mail = Path(corpus.files("ham")[0]).read_bytes()
    calls: dict[str, Callable[[], object]] = {
        f"weigh mail filter, {name}": _fed([*MAIL, "filter", "--store", str(_store(corpus, name))], mail)
        for name in LEARNERS
    }
    calls["bogofilter -p -e"] = _fed(
        ["bogofilter", "-d", str(corpus.scratch / "bogofilter"), "-p", "-e"], mail
    )
    timings = race([Contestant(name, call) for name, call in calls.items()], 3 * repeats)
    return (
        f"One mail through standard input, from process start; a store of all mails\n\n{ratio_table(timings)}"
    )


def server_job(corpus: Corpus) -> str:
    """Ask a running server about every mail, one after the other."""
    from weigh.apps.mail.serving.client import Client

    store = _store(corpus, "naive-bayes")
    path = corpus.scratch / "filter.sock"
    server = subprocess.Popen([*MAIL, "serve", "--store", str(store), "--socket", str(path)])
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
    cuts = statistics.quantiles(seconds, n=100)
    row = [duration(statistics.median(seconds)), duration(cuts[98]), duration(max(seconds))]
    return (
        f"{len(seconds):,} mails through `weigh mail serve`\n\n{markdown(['median', '99 %', 'most'], [row])}"
    )


def _with_mails(timings: list[Timing], n: int) -> str:
    return ratio_table(timings, {"per mail": [f"{1e3 * each.best / n:.3f} ms" for each in timings]})


def _store(corpus: Corpus, learner: str) -> Path:
    path = corpus.scratch / learner
    if not path.exists():
        _learning(corpus, learner).run()
    return path


def _word_list(corpus: Corpus) -> Path:
    """Return the folder of a bogofilter that has learned all mails."""
    learning = _bogofilter_learning(corpus)
    if not learning.folder.exists():
        learning.folder.mkdir()
        learning.run()
    return learning.folder


def _race_into_new_folders(learning: dict[str, Learning], repeats: int) -> list[Timing]:
    """Take turns; what is removed and flushed before each is not timed. The first round only warms up."""
    seconds: dict[str, list[float]] = {name: [] for name in learning}
    for number in range(repeats + 1):
        for name, each in learning.items():
            shutil.rmtree(each.folder, ignore_errors=True)
            each.folder.mkdir()
            os.sync()
            start = time.perf_counter()
            each.run()
            if number:
                seconds[name].append(time.perf_counter() - start)
    return [Timing(name, tuple(found)) for name, found in seconds.items()]


def _learning(corpus: Corpus, learner: str) -> Learning:
    path = corpus.scratch / learner
    command = [*MAIL, "learn", "--store", str(path), "--learner", learner, *corpus.options()]
    return Learning(path, lambda: subprocess.run(command, check=True, capture_output=True))


def _judging(corpus: Corpus, learner: str) -> Callable[[], object]:
    folders = [str(path) for path in (*corpus.ham, *corpus.spam)]
    return _fed([*MAIL, "filter", "--store", str(_store(corpus, learner)), "--list", *folders], b"")


def _bogofilter_learning(corpus: Corpus) -> Learning:
    path = corpus.scratch / "bogofilter"
    ham, spam = corpus.listed("ham").read_bytes(), corpus.listed("spam").read_bytes()

    def learn() -> None:
        for flag, names in (("-n", ham), ("-s", spam)):
            subprocess.run(["bogofilter", "-d", str(path), "-b", flag], input=names, check=True)

    return Learning(path, learn)


def _bogofilter_judging(corpus: Corpus) -> Callable[[], object]:
    names = corpus.listed("ham", "spam").read_bytes()
    return _fed(["bogofilter", "-d", str(_word_list(corpus)), "-b", "-T"], names)


def _fed(command: list[str], given: bytes) -> Callable[[], object]:
    """A call of a process with something on its standard input; its exit code tells the verdict, if any."""
    return lambda: subprocess.run(command, input=given, capture_output=True, check=False)
