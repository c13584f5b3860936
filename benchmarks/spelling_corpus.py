"""Sixty English novels: fifty to learn from, the last ten, by name, held out."""

from __future__ import annotations

import tarfile
from dataclasses import dataclass
from pathlib import Path

HELD = 10
SMALL = 12  # novels of which two are held out, where people only look whether it works


@dataclass(frozen=True)
class Novels:
    """Where the novels lie, one after the other by name, and a folder for what is made of them."""

    learned: tuple[Path, ...]
    held: tuple[Path, ...]
    scratch: Path

    @classmethod
    def unpacked(cls, data: Path, folder: Path, size: str) -> Novels:
        """Unpack the novels into folders of those to learn from and those held out."""
        with tarfile.open(data / "novels60.tar.xz") as packed:
            packed.extractall(folder / "novels", filter="data")
        files = sorted(path for path in (folder / "novels").rglob("*.txt") if path.is_file())
        if size == "small":
            files = files[: SMALL - 2] + files[-2:]
        held = HELD if size == "full" else 2
        return cls(_moved(files[:-held], folder / "learned"), _moved(files[-held:], folder / "held"), folder)

    @property
    def speller(self) -> Path:
        """The file of the speller that knows the novels to learn from."""
        return self.scratch / "en.weigh"

    def earlier(self) -> Novels:
        """The novels to learn from alone: as many of them held out, by which nothing of the rest is known."""
        folder, held = self.scratch / "earlier", len(self.held)
        folder.mkdir(exist_ok=True)
        return Novels(self.learned[:-held], self.learned[-held:], folder)

    def bytes(self) -> int:
        """The size of all novels."""
        return sum(path.stat().st_size for path in (*self.learned, *self.held))


def _moved(files: list[Path], folder: Path) -> tuple[Path, ...]:
    folder.mkdir()
    return tuple(file.rename(folder / file.name) for file in files)
