"""The mail filter, side by side with bogofilter, on the SpamAssassin public corpus.

    python -m benchmarks.mail                      all rows
    python -m benchmarks.mail --rows q --seeds 1,2,3
    python -m benchmarks.mail --write              also into benchmarks/RESULTS.md

Rows: q how good verdicts are, every mail judged before it is learned; t many mails at once, learned and
judged; s one mail, from the start of the process; l one mail, asked of a running server.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import mail_quality, mail_speed
from benchmarks.asked import RowParser
from benchmarks.harness import machine, write_between
from benchmarks.mail_corpus import Corpus
from benchmarks.text import RESULTS
from benchmarks.text_contenders import packages

JOBS: dict[str, Callable[[argparse.Namespace, Corpus], str]] = {
    "q": lambda given, corpus: mail_quality.job(corpus, given.seeds),
    "t": lambda given, corpus: mail_speed.bulk_job(corpus, given.repeats),
    "s": lambda given, corpus: mail_speed.start_job(corpus, given.repeats),
    "l": lambda given, corpus: mail_speed.server_job(corpus),
}


def read_arguments() -> argparse.Namespace:
    """Return what was asked; a row that is not there is refused."""
    parser = RowParser("mail", __doc__, JOBS, repeats=5, data="real data")
    parser.add_argument(
        "--seeds", type=lambda seeds: [int(seed) for seed in seeds.split(",")], default=[1, 2, 3, 4, 5]
    )
    return parser.asked()


def main() -> None:
    given = read_arguments()
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus.unpacked(given.data, Path(folder))
        for row in given.rows:
            found = JOBS[row](given, corpus)
            how = f"--seeds {','.join(map(str, given.seeds))}" if row == "q" else f"--repeats {given.repeats}"
            said = f"`python -m benchmarks.mail --rows {row} {how}`"
            about = f"{machine(packages(['weigh'])).rstrip('.')}, {mail_quality.bogofilter_version()}."
            page = f"{found}\n\n{said}; {about}"
            print(f"\n## {row}\n\n{page}", flush=True)
            if given.write:
                write_between(RESULTS, f"mail {row}", page)


if __name__ == "__main__":
    main()
