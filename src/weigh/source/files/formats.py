"""The supported file formats, and detecting the format of a file."""

from __future__ import annotations

from pathlib import Path

from weigh.advice import Step
from weigh.errors import SourceError
from weigh.source.files.dialect_detection import TableSample, TextSample, detect_encoding, is_table
from weigh.source.files.text_files import compression_codec, is_utf8
from weigh.source.paths import SpooledStdin

FORMATS = ("csv", "tsv", "excel", "parquet", "json", "fasttext", "vw", "libsvm", "folder", "mail")
_FORMAT_BY_SUFFIX = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
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
_UNSPECIFIC_SUFFIXES = {".txt", ".dat"}
LABEL_PREFIX = b"__label__"
_FORMATS = Step(
    "formats", "format='csv', 'tsv', 'excel', 'parquet', 'json', 'fasttext', 'vw', 'libsvm' or 'mail'"
)
_FORMAT_HINT = ("Give ", _FORMATS, ".")


def detect_format(path: Path, encoding: str | None, *, is_delimited: bool = False) -> str:
    """Return the format of a file by its suffix or, for .txt and .dat, by its first lines.

    Such a file is fastText if it begins with a label, and CSV if a delimiter splits it into equal records or
    if the user gave one (`is_delimited`).
    """
    if isinstance(path, SpooledStdin):
        raise SourceError("Standard input has no ending that tells its format.", path, hint=_FORMAT_HINT)
    if path.is_dir():
        # Imported here because a table in a file needs no reader of mail.
        from weigh.source.mail.mailboxes import is_maildir

        return "mail" if is_maildir(path) else "folder"
    suffix = _uncompressed_suffix(path)
    file_format = _FORMAT_BY_SUFFIX.get(suffix)
    if file_format is None and suffix in _UNSPECIFIC_SUFFIXES:
        file_format = _format_of_text(path, encoding, is_delimited)
    if file_format is None:
        raise SourceError(f"The ending of {path} does not tell its format.", path, hint=_FORMAT_HINT)
    return file_format


def usual_delimiter(path: Path) -> str:
    """Return the delimiter that the suffix of a file suggests."""
    has_suffix = not isinstance(path, SpooledStdin)
    return "\t" if has_suffix and _FORMAT_BY_SUFFIX.get(_uncompressed_suffix(path)) == "tsv" else ","


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


def _format_of_text(path: Path, encoding: str | None, is_delimited: bool) -> str | None:
    sample = TextSample.read(path)
    encoding = encoding or detect_encoding(sample)
    try:
        is_utf8(encoding)
    except LookupError:
        return "csv" if is_delimited else None
    text = sample.decode(encoding)
    if text.startswith(LABEL_PREFIX.decode()):
        return "fasttext"
    return "csv" if is_delimited or is_table(TableSample(text, sample.is_whole)) else None
