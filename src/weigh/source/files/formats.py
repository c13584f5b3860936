"""The supported file formats, and detecting the format of a file."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from weigh.advice import Step
from weigh.errors import SourceError
from weigh.source.files.text_files import UTF8_BOM, compression_codec, open_text
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
LABEL_PREFIX = b"__label__"
_FORMATS = Step("formats", "format='csv', 'tsv', 'parquet', 'json', 'fasttext', 'vw', 'libsvm' or 'mail'")
_FORMAT_HINT = ("Give ", _FORMATS, ".")


def detect_format(path: Path, encoding: str) -> str:
    """Return the format of a file by its suffix or, for .txt, by its first word."""
    if isinstance(path, SpooledStdin):
        raise SourceError("Standard input has no ending that tells its format.", path, hint=_FORMAT_HINT)
    if path.is_dir():
        # Imported here because a table in a file needs no reader of mail.
        from weigh.source.mail.mailboxes import is_maildir

        return "mail" if is_maildir(path) else "folder"
    suffix = _uncompressed_suffix(path)
    file_format = _FORMAT_BY_SUFFIX.get(suffix)
    if file_format is None and suffix == ".txt" and _starts_with_label(path, encoding):
        return "fasttext"
    if file_format is None:
        raise SourceError(f"The ending of {path} does not tell its format.", path, hint=_FORMAT_HINT)
    return file_format


def find_data_suffix(folder: Path) -> str | None:
    """Return the suffix of a data file in a folder, None if there is no data file."""
    suffixes = sorted(
        "".join(file.suffixes[-2:] if compression_codec(file) else file.suffixes[-1:])
        for file in folder.iterdir()
        if file.is_file() and _uncompressed_suffix(file) in _FORMAT_BY_SUFFIX
    )
    return suffixes[0] if suffixes else None


def _uncompressed_suffix(path: Path) -> str:
    uncompressed = path.with_suffix("") if compression_codec(path) else path
    return uncompressed.suffix.lower()


def _starts_with_label(path: Path, encoding: str) -> bool:
    if path.stat().st_size == 0:
        return False
    try:
        with closing(open_text(path, encoding)) as text:
            start = text.window(0, len(UTF8_BOM) + len(LABEL_PREFIX))[0].tobytes()
    except (*READ_ERRORS, LookupError):
        return False
    return start.removeprefix(UTF8_BOM).startswith(LABEL_PREFIX)
