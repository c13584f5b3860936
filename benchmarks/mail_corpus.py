"""The SpamAssassin public corpus as folders of ham and of spam, and as lists of files."""

from __future__ import annotations

import tarfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Corpus:
    """Where the mails lie, by label, and a folder for what is made of them."""

    ham: tuple[Path, ...]
    spam: tuple[Path, ...]
    scratch: Path

    @classmethod
    def unpacked(cls, data: Path, folder: Path) -> Corpus:
        """Unpack the corpus into a folder."""
        with tarfile.open(data / "spamassassin.tar.xz") as packed:
            packed.extractall(folder / "mails", filter="data")
        below = sorted(path for path in (folder / "mails").iterdir() if path.is_dir())
        spam = tuple(path for path in below if path.name.startswith("spam"))
        return cls(tuple(path for path in below if path not in spam), spam, folder)

    def options(self) -> list[str]:
        """Return the folders as `weigh mail` takes them."""
        ham = [word for path in self.ham for word in ("--ham", str(path))]
        return ham + [word for path in self.spam for word in ("--spam", str(path))]

    def files(self, label: str) -> list[str]:
        """Return the files of one label, in order."""
        return sorted(str(file) for folder in getattr(self, label) for file in folder.iterdir())

    def listed(self, *labels: str) -> Path:
        """Return a file that names the mails of some labels, a line each."""
        path = self.scratch / f"{'-'.join(labels)}.list"
        path.write_text("".join(f"{file}\n" for label in labels for file in self.files(label)))
        return path
