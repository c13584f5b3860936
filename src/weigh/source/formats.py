"""The formats that files are read in, and how a file tells which is its own."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from weigh.errors import SourceError
from weigh.source.bytes import MARK, compression, open_text
from weigh.source.damage import DAMAGE
from weigh.source.fasttext import PREFIX
from weigh.source.mail.maildir import is_maildir
from weigh.source.standard_input import Spooled

FORMATS = ("csv", "tsv", "parquet", "json", "fasttext", "vw", "libsvm", "folder", "mail")
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".ft": "fasttext",
    ".fasttext": "fasttext",
    ".vw": "vw",
    ".svm": "libsvm",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".mbox": "mail",
    ".eml": "mail",
}
_CHOICE = "Give format='csv', 'tsv', 'parquet', 'json', 'fasttext', 'vw', 'libsvm' or 'mail'."


def format_of(path: Path, encoding: str) -> str:
    """The format a file's name stands for, or a text's first word."""
    if isinstance(path, Spooled):
        raise SourceError(f"Standard input has no ending that tells its format. {_CHOICE}", path)
    if path.is_dir():
        return "mail" if is_maildir(path) else "folder"
    ending = _ending(path)
    kind = _ENDINGS.get(ending)
    if kind is None and ending == ".txt" and _begins_with_a_label(path, encoding):
        return "fasttext"
    if kind is None:
        raise SourceError(f"The ending of {path} does not tell its format. {_CHOICE}", path)
    return kind


def data_ending(folder: Path) -> str | None:
    """The ending of a data file in a folder, if there is one."""
    endings = sorted(
        "".join(file.suffixes[-2:] if compression(file) else file.suffixes[-1:])
        for file in folder.iterdir()
        if file.is_file() and _ending(file) in _ENDINGS
    )
    return endings[0] if endings else None


def _ending(path: Path) -> str:
    inner = path.with_suffix("") if compression(path) else path
    return inner.suffix.lower()


def _begins_with_a_label(path: Path, encoding: str) -> bool:
    if path.stat().st_size == 0:
        return False
    try:
        with closing(open_text(path, encoding)) as text:
            start = text.window(0, len(MARK) + len(PREFIX))[0].tobytes()
    except (*DAMAGE, LookupError):
        return False
    return start.removeprefix(MARK).startswith(PREFIX)
