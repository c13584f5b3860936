"""The models that are served, by name: loaded, reloaded when their files change, and with their feedback."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from weigh import errors
from weigh.atomic_files import error_reason
from weigh.features.kind_registry import Derived
from weigh.model.base import BaseModel
from weigh.model.file.loading import load
from weigh.serve.answers import Predictor
from weigh.serve.http.problems import Problem, to_problem

SUFFIX = ".weigh"
REPORT_SUFFIX = ".html"
MAX_LOAD_ATTEMPTS = 3
NO_FEEDBACK = "This server was started without a folder for feedback, so it does not learn."
STALE = (
    "The model file was replaced after the feedback began, so the server does not learn until it is started "
    "with --rebase."
)

# What identifies the content of a file without reading it.
Signature: TypeAlias = tuple[int, int, int]
Log: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class ServedModel:
    """A model with its name, its file, the digest of the file's bytes, and its feedback if it has any."""

    name: str
    path: Path | None
    digest: str
    model: BaseModel
    loaded_at: float
    signature: Signature | None = None
    feedback: Any = None  # a ModelFeedback or CannotLearn, which import the journal

    @cached_property
    def base_predictor(self) -> Predictor:
        """What answers for the model of the file."""
        return Predictor(self.model)

    @property
    def predictor(self) -> Predictor:
        """What answers for the model with all its feedback."""
        base = self.base_predictor
        if self.feedback is None:
            return base
        model = self.feedback.model()
        if model is base.model:
            return base
        latest: Predictor | None = self.__dict__.get("_latest_predictor")
        if latest is None or latest.model is not model:
            latest = self.__dict__["_latest_predictor"] = Predictor(model)
        return latest

    def require_feedback(self) -> Any:
        """Return the feedback, or raise the problem 409 if there is none."""
        if self.feedback is None:
            raise Problem(409, NO_FEEDBACK)
        return self.feedback

    @property
    def reason_not_to_learn(self) -> str | None:
        """The sentence that says why the model cannot be taught here; None if it can."""
        if self.feedback is None:
            return NO_FEEDBACK
        error = getattr(self.feedback, "error", None)
        if error is not None:
            return to_problem(error).detail
        return STALE if self.feedback.is_stale else None

    @property
    def report_path(self) -> Path | None:
        """The report that was written beside the model, if there is one."""
        path = None if self.path is None else self.path.with_suffix(REPORT_SUFFIX)
        return path if path is not None and path.is_file() else None

    def describe(self) -> dict[str, Any]:
        """Return what clients need to know, as plain values."""
        facts = self.predictor.description
        reason = self.reason_not_to_learn
        state = None
        if self.feedback is not None and not hasattr(self.feedback, "error"):
            state = "stale" if self.feedback.is_stale else "current"
        return {
            "name": self.name,
            **facts,
            "digest": f"sha256:{self.digest}",
            "loaded_at": self.loaded_at,
            "can_learn": reason is None,
            "cannot_learn": reason,
            "feedback": state,
            "report": None if self.report_path is None else f"/v1/models/{self.name}/report",
        }


class ModelCatalog:
    """Models by name; `refresh` loads the files that have changed since.

    `open_feedback(name, model, digest)` returns the feedback on a model, or None.
    """

    def __init__(
        self,
        models: Any,
        open_feedback: Callable[[str, BaseModel, str], Any] | None = None,
        log: Log | None = None,
    ) -> None:
        self._open_feedback = open_feedback or (lambda name, model, digest: None)
        self.log: Log = log or (lambda line: None)
        self._lock = threading.Lock()
        self._failed: dict[str, Signature] = {}
        self._sources, self._folders = _list_sources(models)
        self._models = {name: self._load(name, source) for name, source in self._sources.items()}
        for folder in self._folders:
            self._add_files(folder, strict=True)
        if not self._models:
            raise errors.ParameterError(
                "There is no model to serve. Give a model file, or a folder with files that end in .weigh."
            )

    def __iter__(self) -> Iterator[ServedModel]:
        return iter(list(self._models.values()))

    def get(self, name: str) -> ServedModel:
        """Return the model with this name, or raise the problem 404."""
        served = self._models.get(name)
        if served is None:
            listed = errors.quote_names(self._models)
            raise Problem(404, f"There is no model {errors.one_line_repr(name)}; there are {listed}.")
        return served

    def refresh(self, *, retry: bool = False) -> None:
        """Load the files that have changed; a damaged or missing one leaves its model as it is.

        Files that could not be loaded are tried again when they change, and with `retry` in any case.
        """
        with self._lock:
            if retry:
                self._failed.clear()
            for served in self:
                if served.path is not None:
                    self._refresh_model(served, served.path)
            for folder in self._folders:
                self._add_files(folder, strict=False)

    def prepare(self) -> None:
        """Import and compute what the first requests would otherwise wait for."""
        for served in self:
            served.base_predictor.prepare()

    async def close(self) -> None:
        """Write the feedback that waits, and take no more."""
        for served in self:
            if served.feedback is not None:
                await served.feedback.close()

    def _refresh_model(self, served: ServedModel, path: Path) -> None:
        try:
            signature = _read_signature(path)
        except OSError as error:
            self._note_failure(served.name, (0, 0, 0), f"its file cannot be read: {error_reason(error)}")
            return
        if signature in (served.signature, self._failed.get(served.name)):
            return
        try:
            self._replace(self._load(served.name, path))
        except errors.WeighError as error:
            self._note_failure(served.name, signature, str(error).rstrip("."))
        else:
            self._failed.pop(served.name, None)
            self.log(f"reloaded the model {served.name!r} from {path}")

    def _note_failure(self, name: str, signature: Signature, reason: str) -> None:
        if self._failed.get(name) != signature:
            self._failed[name] = signature
            self.log(f"the model {name!r} stays as it was, because {reason}")

    def _add_files(self, folder: Path, strict: bool) -> None:
        """Load the model files of a folder that are not served yet."""
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            if path.stem in self._models:
                continue
            if strict:
                self._replace(self._load(path.stem, path))
                continue
            try:
                signature = _read_signature(path)
                if self._failed.get(path.stem) != signature:
                    self._replace(self._load(path.stem, path))
                    self.log(f"loaded the model {path.stem!r} from {path}")
            except (OSError, errors.WeighError) as error:
                if not isinstance(error, OSError):
                    self._note_failure(path.stem, signature, str(error).rstrip("."))

    def _replace(self, served: ServedModel) -> None:
        served.base_predictor.prepare()
        # Requests keep the model that they began with. Readers see the old mapping or the new one.
        self._models = {**self._models, served.name: served}

    def _load(self, name: str, source: BaseModel | Path) -> ServedModel:
        served = _wrap_model(name, source) if isinstance(source, BaseModel) else _load_file(name, source)
        return replace(served, feedback=self._open_feedback(name, served.model, served.digest))


def _list_sources(models: Any) -> tuple[dict[str, BaseModel | Path], list[Path]]:
    """Return models and files by name, and folders."""
    models = getattr(models, "model_", models)
    if isinstance(models, str | os.PathLike | BaseModel):
        models = [models]
    if isinstance(models, Mapping):
        models = models.items()
    pairs = [model if isinstance(model, tuple) else ("", model) for model in models]
    sources: dict[str, BaseModel | Path] = {}
    folders = []
    for name, given in pairs:
        model = getattr(given, "model_", given)
        if not isinstance(model, BaseModel | str | os.PathLike):
            raise errors.parameter_error("create_app", "models", "models, or paths of model files", model)
        source = model if isinstance(model, BaseModel) else Path(model)
        if isinstance(source, Path) and source.is_dir() and not name:
            folders.append(source)
            continue
        name = name or (source.stem if isinstance(source, Path) else source.type_name)
        if name in (".", "..") or "/" in name or "\0" in name:
            raise errors.ParameterError(f"A model cannot be called {name!r}. Give it a name without '/'.")
        if name in sources:
            raise errors.ParameterError(f"Two models are called {name!r}. Give one of them another name.")
        sources[name] = source
    return sources, folders


def _wrap_model(name: str, model: BaseModel) -> ServedModel:
    return ServedModel(name, None, hashlib.sha256(model.to_bytes()).hexdigest(), model, time.time())


def _load_file(name: str, path: Path) -> ServedModel:
    """Load a model and the digest of the same bytes, although its file may be replaced meanwhile."""
    for _ in range(MAX_LOAD_ATTEMPTS):
        try:
            before = _read_signature(path)
        except OSError:
            load(path)  # raises the error that says why
            continue
        model = load(path)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if _read_signature(path) == before:
            _check_functions(model, path)
            return ServedModel(name, path, digest, model, time.time(), before)
    raise errors.ModelFileError(f"{path} is being replaced again and again. Write it once, then serve it.")


def _check_functions(model: BaseModel, path: Path) -> None:
    """Raise Unsupported for a model with derived columns, because files do not hold their functions."""
    names = [name for name, kind in model.schema.made.items() if isinstance(kind, Derived)]
    if names:
        raise errors.Unsupported(
            f"{path}: the functions of its derived columns, {errors.quote_names(names)}, are not in the "
            "file. Serve it from Python: weigh.serve.create_app({name: weigh.load(path, derived=functions)})."
        )


def _read_signature(path: Path) -> Signature:
    status = os.stat(path)
    return status.st_mtime_ns, status.st_size, status.st_ino
