"""The model files in a folder of feedback: the state up to a position of the journal, and the base model."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, NamedTuple

from weigh import errors
from weigh.atomic_files import atomic_write, error_reason
from weigh.journal.storage import Position
from weigh.model.count_model import CountModel
from weigh.model.file import store
from weigh.model.file.loading import build_model

STATE_FILE = "model.weigh"
_BASE_PREFIX = "base-"
_KEY = "feedback"
RESTORE_ADVICE = "Restore the whole folder from a copy, or move it away to begin without its feedback."


class Snapshot(NamedTuple):
    """A model with the changes up to a position, and the digest of the model file that it began from."""

    model: CountModel
    base_digest: str
    position: Position


class FileSignature(NamedTuple):
    """What changes whenever a file is replaced or grows."""

    device: int
    inode: int
    size: int
    modified: int


def read_signature(path: str) -> FileSignature:
    """Return the signature of a file of a folder of feedback, by one os.stat."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise errors.ModelFileError(f"{path} is missing.", hint=RESTORE_ADVICE) from None
    except OSError as error:
        raise errors.ModelFileError(f"{path} cannot be read: {error_reason(error)}.") from error
    return FileSignature(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


@contextlib.contextmanager
def advise_restoring() -> Iterator[None]:
    """Say what to do if the journal of a folder of feedback is damaged or lost."""
    try:
        yield
    except (errors.DamagedJournal, errors.LostPlace) as error:
        error.hint = RESTORE_ADVICE
        raise


def create_folder(folder: str) -> None:
    """Create a folder that only its owner may enter, unless it exists."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise errors.FileError(
            f"{folder}: the folder for feedback cannot be created: {error_reason(error)}."
        ) from error


def write_state(folder: str, snapshot: Snapshot) -> None:
    """Replace the state of a folder."""
    facts = {"base": snapshot.base_digest, "position": list(snapshot.position)}
    _write_model(os.path.join(folder, STATE_FILE), snapshot.model, facts)


def read_state(folder: str) -> Snapshot:
    """Read the state of a folder."""
    stored = _read_file(os.path.join(folder, STATE_FILE))
    with store.report_damage(stored.path):
        facts = stored.meta[_KEY]
        digest, (offset, checksum) = facts["base"], facts["position"]
        if not isinstance(digest, str) or not isinstance(offset, int) or not isinstance(checksum, int):
            raise ValueError("the position in the journal")
    return Snapshot(_build_counted(stored), digest, Position(offset, checksum))


def write_base(folder: str, model: CountModel, digest: str) -> None:
    """Keep a copy of the base model, from which the feedback's own counts follow."""
    _write_model(_base_path(folder, digest), model, {"base": digest})


def read_base(folder: str, digest: str) -> CountModel:
    """Read the copy of the base model with this digest."""
    return _build_counted(_read_file(_base_path(folder, digest)))


def remove_other_bases(folder: str, digest: str) -> None:
    """Remove the copies of base models that the state no longer needs."""
    current = os.path.basename(_base_path(folder, digest))
    for name in os.listdir(folder):
        if name.startswith(_BASE_PREFIX) and name != current:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name))


def _base_path(folder: str, digest: str) -> str:
    name = blake2b(digest.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return os.path.join(folder, f"{_BASE_PREFIX}{name}.weigh")


def _write_model(path: str, model: CountModel, facts: dict[str, Any]) -> None:
    meta, arrays = model.to_store()
    data = store.to_bytes({"model": model.type_name, **meta, _KEY: facts}, arrays)
    write_private_file(path, data)


def write_private_file(path: str, data: bytes) -> None:
    """Replace a file atomically and durably by one that only its owner may read."""
    try:
        with atomic_write(path) as file:
            os.chmod(file.fileno(), 0o600)
            file.write(data)
    except OSError as error:
        raise errors.ModelFileError(
            f"{path} cannot be written: {error_reason(error)}. "
            "Check that its folder may be written to, and that the disk has room."
        ) from error


def _read_file(path: str) -> store.FileContent:
    try:
        return store.read(path)
    except errors.ModelFileError as error:
        error.hint = RESTORE_ADVICE
        raise


def _build_counted(stored: store.FileContent) -> CountModel:
    model = build_model(stored)
    if not isinstance(model, CountModel):
        raise store.damaged_file_error(stored.path, "it holds another kind of model")
    return model
