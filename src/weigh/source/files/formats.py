"""The formats that files are read in, and how a file tells which is its own."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from weigh.errors import SourceError
from weigh.source.files.fasttext import LABEL_PREFIX
from weigh.source.files.text_files import UTF8_BOM, compression_codec, open_text
from weigh.source.mail.mailboxes import is_maildir
from weigh.source.paths import READ_ERRORS, SpooledStdin

FORMATS = ("csv", "tsv", "parquet", "json", "fasttext", "vw", "libsvm", "folder", "mail")
_FORMAT_BY_SUFFIX = {
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
_FORMAT_ADVICE = "Give format='csv', 'tsv', 'parquet', 'json', 'fasttext', 'vw', 'libsvm' or 'mail'."


def detect_format(path: Path, encoding: str) -> str:
    """The format a file's name stands for, or a text's first word."""
    if isinstance(path, SpooledStdin):
        raise SourceError(f"Standard input has no ending that tells its format. {_FORMAT_ADVICE}", path)
    if path.is_dir():
        return "mail" if is_maildir(path) else "folder"
    ending = _uncompressed_suffix(path)
    kind = _FORMAT_BY_SUFFIX.get(ending)
    if kind is None and ending == ".txt" and _starts_with_label(path, encoding):
        return "fasttext"
    if kind is None:
        raise SourceError(f"The ending of {path} does not tell its format. {_FORMAT_ADVICE}", path)
    return kind


def find_data_suffix(folder: Path) -> str | None:
    """The ending of a data file in a folder, if there is one."""
    endings = sorted(
        "".join(file.suffixes[-2:] if compression_codec(file) else file.suffixes[-1:])
        for file in folder.iterdir()
        if file.is_file() and _uncompressed_suffix(file) in _FORMAT_BY_SUFFIX
    )
    return endings[0] if endings else None


def _uncompressed_suffix(path: Path) -> str:
    inner = path.with_suffix("") if compression_codec(path) else path
    return inner.suffix.lower()


def _starts_with_label(path: Path, encoding: str) -> bool:
    if path.stat().st_size == 0:
        return False
    try:
        with closing(open_text(path, encoding)) as text:
            start = text.window(0, len(UTF8_BOM) + len(LABEL_PREFIX))[0].tobytes()
    except (*READ_ERRORS, LookupError):
        return False
    return start.removeprefix(UTF8_BOM).startswith(LABEL_PREFIX)
