"""The files, models and processes of one run of the benchmarks of text."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import corpus, text_contenders
from benchmarks.processes import Run, measured
from benchmarks.text_contenders import Contender

SLICE = 3  # megabytes for the warm-up, and for river


@dataclass
class Bench:
    """What was asked, the files, and which models this run has made."""

    given: argparse.Namespace
    made: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.folder: Path = self.given.work
        self.size: int = self.given.size
        self.contenders = text_contenders.present(self.given.peers)
        self.models: Path = self.folder / f"models-{self.size}"

    def files(self) -> tuple[corpus.Files, corpus.Files]:
        return corpus.ready(self.folder, self.size)

    def small(self) -> corpus.Files:
        return corpus.ready(self.folder, SLICE)[0]

    def model(self, contender: Contender) -> Path:
        self.models.mkdir(exist_ok=True)
        return self.models / f"{contender.key}{'.weigh' if contender.is_ours else ''}"

    def fit(self, contender: Contender, files: corpus.Files, model: Path | None = None) -> Run:
        model = model or self.model(contender)
        return measured(contender.fit(files, model), Path(f"{model}.out"))

    def have_model(self, contender: Contender) -> None:
        """Fit unless this run has; a peer's model of an earlier run will do."""
        kept = not contender.is_ours and self._done(contender).exists()
        if contender.key not in self.made and not kept:
            self.fit(contender, self.files()[0])
            self.note_model(contender)

    def note_model(self, contender: Contender) -> None:
        """Remember that this run has fitted the model."""
        self.made.add(contender.key)
        self._done(contender).touch()

    def warm_up(self, contender: Contender) -> Run:
        """Fit the first megabytes, into a model that nobody uses."""
        return self.fit(contender, self.small(), self.folder / f"warm-{contender.key}.weigh")

    def predict(self, contender: Contender, files: corpus.Files | None = None) -> tuple[Run, list[str]]:
        """Run the prediction of documents, the held-out ones by default; the labels come in their order."""
        assert contender.predict is not None
        output = Path(f"{self.model(contender)}.predictions")
        printed = Path(f"{output}.out")
        files = files or self.files()[1]
        run = measured(contender.predict(files, self.model(contender), output), printed)
        lines = (printed if contender.prints else output).read_text().splitlines()
        # ours begins with a header
        return run, [contender.label(line) for line in (lines[1:] if contender.is_ours else lines)]

    def _done(self, contender: Contender) -> Path:
        return Path(f"{self.model(contender)}.done")


def read_once(path: Path) -> None:
    """Bring a file into the page cache."""
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 24):
            pass
